//! The JavaScript interface of exported pages and packages: one model that only predicts, on the cpu.
#![cfg(target_arch = "wasm32")]

mod columns;

use js_sys::Array;
use meromorph::model;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use meromorph_web_model::Model;
pub use meromorph_web_values::on_panic;

use columns::rows_or_columns;
use meromorph::Device;
use meromorph::error::{Error, Result};
use meromorph::files::{Format, read_plain};
use meromorph::run::Predicting;
use meromorph::table::Unknown;
use meromorph_web_model::Reading;
use meromorph_web_values::rows::{TABLE, bytes};
use meromorph_web_values::{Answer, get, object, show, strings, thrown};

const READING: Reading =
    Reading { own: own_format, format: format_over, rows: rows_or_columns, predicting, intervals: None };

/// Pages and packages say what happens to unknown categories; `refuse` unless it is `other`.
fn predicting(how: &JsValue) -> Result<Predicting> {
    let unknown = match get(how, "unknown").as_string().as_deref() {
        Some("other") => Unknown::Other,
        None | Some("refuse") => Unknown::Refuse,
        Some(got) => return Err(Error::usage(format!("unknown: got \"{got}\", expected \"other\" or \"refuse\""))),
    };
    Ok(Predicting { unknown, ..Predicting::default() })
}

/// How the table was written that a model learnt from, which a bundled model holds beside its columns.
fn own_format(model: &model::Model) -> Format {
    model.preparation.as_ref().and_then(|preparation| preparation.format.clone()).unwrap_or_default()
}

/// Pages may say how the numbers of a table are written: `{ decimal, thousands }`; the rest is as in another table.
fn format_over(call: &str, reading: &JsValue, own: &Format) -> Result<Format> {
    let mut format = own.clone();
    if let Some(decimal) = get(reading, "decimal").as_string() {
        format.decimal = decimal;
        format.thousands = get(reading, "thousands").as_string();
    }
    format.check().map_err(|error| error.within(call))?;
    Ok(format)
}

/// The model in the bytes of a file named `source`.
#[wasm_bindgen]
pub fn load(data: &JsValue, source: &str) -> Answer<Model> {
    let load = || {
        let data = bytes(data).filter(|_| !data.is_string());
        let data = data.ok_or_else(|| Error::usage("load: expected the bytes of a model file as a Uint8Array"))?;
        Ok(Model::new(&Device::cpu(1), model::Model::load(&data, source)?, READING))
    };
    load().map_err(thrown)
}

/// The first rows of a table as text: `{ rows, columns, cells: [[text, …], …] }`, where `rows` counts all rows of the table. `reading` is that of
/// `predict`.
#[wasm_bindgen]
pub fn preview(model: &Model, data: &JsValue, source: &str, count: usize, reading: &JsValue) -> Answer {
    let read = || {
        let data = bytes(data).ok_or_else(|| Error::new(format!("preview: data is {}, {TABLE}", show(data))))?;
        read_plain(&data, source, &format_over("preview", reading, &model.own_format())?)
    };
    let table = read().map_err(thrown)?;
    let cells = (0..count.min(table.rows())).map(|row| {
        let texts: Vec<_> = table.columns().iter().map(|column| column.cells.text(row).unwrap_or_default()).collect();
        strings(texts.iter().map(AsRef::as_ref))
    });
    Ok(object([
        ("rows", (table.rows() as f64).into()),
        ("columns", strings(table.names())),
        ("cells", cells.collect::<Array>().into()),
    ]))
}
