//! Rows to predict, from JavaScript values.

use wasm_bindgen::JsValue;

use super::values::{TABLE, bytes, matrix, wanted_numbers};
use crate::error::Result;
use crate::io::{Format, Preparation, Table, read_plain};

/// A table's bytes, or a table of numbers, or numbers in the order of the model's columns.
pub(super) fn rows(x: &JsValue, source: &str, format: &Format, preparation: &Preparation) -> Result<Table> {
    if let Some(bytes) = bytes(x) {
        return read_plain(&bytes, source, format);
    }
    if let Some(table) = matrix(x, source) {
        return table;
    }
    let wanted = format!("a Float32Array, an array of numbers or {}", &TABLE[7..]);
    let values = wanted_numbers("predict: x", x, &wanted)?;
    let names: Vec<String> = preparation.names().map(str::to_owned).collect();
    Table::from_matrix("predict", &names, &values)
}
