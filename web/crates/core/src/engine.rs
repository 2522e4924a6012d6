//! An open device: its description, its training runs and models, and the description of tables.

use js_sys::{Array, Object};
use meromorph::model;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::READING;
use super::options::{self, format_of};
use super::training::Training;
use meromorph::Device;
use meromorph::device::{Request, choices};
use meromorph::error::{Error, ErrorKind, Result, listed};
use meromorph::files::{Cells, Format, Table, read_plain};
use meromorph::run::TrainOptions;
use meromorph::train::Checkpoint;
use meromorph_web_model::Model;
use meromorph_web_values::rows::{TABLE, bytes, matrix};
use meromorph_web_values::{Answer, get, numbers_of, object, show, strings, thrown};

/// An open device.
#[wasm_bindgen]
pub struct Engine {
    pub(super) device: Device,
}

/// Opens a device: `auto`, `webgpu` or `cpu`. A `cpu` device is one of `threads` instances that can share a training run.
#[wasm_bindgen]
pub async fn open(device: JsValue, threads: usize) -> Answer<Engine> {
    let request = request(&device, threads).map_err(thrown)?;
    Ok(Engine { device: Device::open(&request).await.map_err(thrown)? })
}

fn request(device: &JsValue, threads: usize) -> Result<Request> {
    match device.as_string().as_deref() {
        Some(name) if choices().contains(&name) => Ok(Request { device: name.into(), threads, ..Request::default() }),
        _ => Err(Error::usage(format!("open: device is {}, expected one of {}", show(device), listed(&choices())))),
    }
}

#[wasm_bindgen]
impl Engine {
    /// The device in use, as an object.
    pub fn info(&self) -> JsValue {
        let info = self.device.info();
        object([
            ("device", info.device.into()),
            ("name", info.name.as_str().into()),
            ("driver", info.driver.as_str().into()),
            ("isSoftware", info.is_software.into()),
            ("subgroup", info.subgroup.into()),
            ("features", strings(info.features.iter().map(String::as_str))),
        ])
    }

    /// Sets up a run on table bytes (CSV, TSV, NPY) named `source` and written as `reading` says, on `{ names, values }`, or on `{ x, y }`.
    pub fn train(&self, data: &JsValue, source: &str, options: &JsValue, reading: &JsValue) -> Answer<Training> {
        self.start(data, source, options, reading).map_err(thrown)
    }

    /// Resumes the run of a checkpoint on the same data.
    pub fn resume(&self, data: &JsValue, source: &str, checkpoint: &JsValue) -> Answer<Training> {
        let resume = || {
            let bytes = bytes(checkpoint).filter(|_| !checkpoint.is_string());
            let expected = || Error::usage(format!("resume: checkpoint is {}, expected its bytes", show(checkpoint)));
            let (checkpoint, _) = Checkpoint::load(&bytes.ok_or_else(expected)?, "checkpoint")?;
            let format = checkpoint.origin("checkpoint")?.format;
            Training::resume(&self.device, &table("resume", data, source, &format)?.0, source, checkpoint)
        };
        resume().map_err(thrown)
    }

    /// The model in the bytes of a file named `source`.
    pub fn load(&self, data: &JsValue, source: &str) -> Answer<Model> {
        let load = || {
            let data = bytes(data).filter(|_| !data.is_string());
            let data = data.ok_or_else(|| Error::usage("load: expected the bytes of a model file as a Uint8Array"))?;
            Ok(Model::new(&self.device, model::Model::load(&data, source)?, READING))
        };
        load().map_err(thrown)
    }

    fn start(&self, data: &JsValue, source: &str, options: &JsValue, reading: &JsValue) -> Result<Training> {
        let (table, options, format) = read(data, source, options, reading)?;
        Training::start(&self.device, &table, source, options, format)
    }
}

/// The table of a run, its options, and how the table is written.
pub(super) fn read(
    data: &JsValue,
    source: &str,
    options: &JsValue,
    reading: &JsValue,
) -> Result<(Table, TrainOptions, Format)> {
    let format = format_of("train", reading)?;
    let (table, target) = table("train", data, source, &format)?;
    let options = options::train_options(options, target).map_err(|error| error.with_kind(ErrorKind::Usage))?;
    Ok((table, options, format))
}

/// The table in bytes named `source`, in `{ names, values }` or in `{ x, y }`, and the target if known. `call` is the function the user called.
fn table(call: &str, data: &JsValue, source: &str, format: &Format) -> Result<(Table, Option<&'static str>)> {
    match bytes(data) {
        // Probably a file name; the caller must fetch or read its bytes.
        Some(bytes) if data.is_string() && !bytes.is_empty() && !bytes.iter().any(|byte| b"\r\n".contains(byte)) => {
            Err(Error::new(format!("{call}: data is {}, {TABLE} or {{ x, y }}", show(data))))
        }
        Some(bytes) => Ok((read_plain(&bytes, source, format)?, None)),
        None => match matrix(data, source) {
            Some(table) => Ok((table?, None)),
            None => Ok((arrays(call, data)?, Some("y"))),
        },
    }
}

/// Describes a table: `{ rows, columns: [{ name, isNumeric }] }`.
#[wasm_bindgen]
pub fn describe(data: &JsValue, source: &str, reading: &JsValue) -> Answer {
    let read = || {
        let format = format_of("describe", reading)?;
        if let Some(table) = matrix(data, source) {
            return table;
        }
        let data = bytes(data).ok_or_else(|| Error::new(format!("describe: data is {}, {TABLE}", show(data))))?;
        read_plain(&data, source, format)
    };
    let table = read().map_err(thrown)?;
    let column = |column: &meromorph::files::Column| {
        let is_numeric = matches!(column.cells, Cells::Numeric(_));
        object([("name", column.name.as_str().into()), ("isNumeric", is_numeric.into())])
    };
    let columns = table.columns().iter().map(column).collect::<Array>();
    Ok(object([("rows", (table.rows() as f64).into()), ("columns", columns.into())]))
}

/// A table of `x` [rows, columns], named x0, x1, …, and `y` [rows].
fn arrays(call: &str, data: &JsValue) -> Result<Table> {
    let keys = if data.is_object() && !Array::is_array(data) {
        Object::keys(data.unchecked_ref::<Object>())
    } else {
        Array::new()
    };
    // Objects other than plain ones, such as a Map or a Response, have no keys.
    if keys.length() == 0 {
        return Err(Error::new(format!("{call}: data is {}, {TABLE} or {{ x, y }}", show(data))));
    }
    let mut keys = keys.iter().filter_map(|key| key.as_string());
    if let Some(key) = keys.find(|key| !["x", "y", "bottom"].contains(&key.as_str())) {
        return Err(Error::new(format!("{call}: data has \"{key}\", which is unknown; there are x, y, bottom")));
    }
    let part =
        |name: &str| numbers_of(&format!("{call}: {name}"), &get(data, name), "a Float32Array or an array of numbers");
    let (x, y) = (part("x")?, part("y")?);
    if x.is_empty() || y.is_empty() || x.len() % y.len() != 0 {
        let (x, y) = (x.len(), y.len());
        return Err(Error::new(format!("{call}: {x} values in x do not fill {y} rows, one for each value in y")));
    }
    let width = x.len() / y.len();
    let names: Vec<String> = (0..width).map(|j| format!("x{j}")).chain(["y".into()]).collect();
    let rows = x.chunks_exact(width).zip(&y);
    let values: Vec<f64> = rows.flat_map(|(x, y)| x.iter().chain([y])).copied().collect();
    Table::from_matrix("data", &names, &values)
}
