//! Tables and rows to predict, from JavaScript values.

use js_sys::{Array, ArrayBuffer, Float64Array, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use super::{get, numbers_of};
use meromorph::error::Result;
use meromorph::files::{Format, Table, read_plain};
use meromorph::table::Preparation;

/// A table's bytes, or a table of numbers, or numbers in the order of the model's columns.
pub fn rows(x: &JsValue, source: &str, format: &Format, preparation: &Preparation) -> Result<Table> {
    if let Some(bytes) = bytes(x) {
        return read_plain(&bytes, source, format);
    }
    if let Some(table) = matrix(x, source) {
        return Ok(table?.with_missing(&format.missing));
    }
    let expected = format!("a Float32Array, an array of numbers or {}", TABLE.trim_start_matches("expected "));
    let values = numbers_of("predict: x", x, &expected)?;
    let names: Vec<String> = preparation.names().map(str::to_owned).collect();
    Ok(Table::from_matrix("predict", &names, &values)?.with_missing(&format.missing))
}

/// The bytes of a `Uint8Array` or `ArrayBuffer`, or of a string as UTF-8; `None` for other values.
pub fn bytes(value: &JsValue) -> Option<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return Some(text.into_bytes());
    }
    if let Some(array) = value.dyn_ref::<Uint8Array>() {
        return Some(array.to_vec());
    }
    value.dyn_ref::<ArrayBuffer>().map(|buffer| Uint8Array::new(buffer).to_vec())
}

/// A table of numbers `{ names, values }`, with values [rows, names]; `None` for other values.
pub fn matrix(data: &JsValue, source: &str) -> Option<Result<Table>> {
    let (names, values) = (get(data, "names"), get(data, "values"));
    let values = values.dyn_ref::<Float64Array>()?;
    let names: Vec<String> = Array::from(&names).iter().filter_map(|name| name.as_string()).collect();
    Some(Table::from_matrix(source, &names, &values.to_vec()))
}

/// The expected forms of a table, for messages.
pub const TABLE: &str = "expected a table (text, bytes, a file, a URL, rows or columns)";
