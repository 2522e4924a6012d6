//! Rows to predict, as JavaScript has them.

use wasm_bindgen::JsValue;

use super::values::{TABLE, bytes, check_length, numbers, show};
use crate::error::{Error, Result};
use crate::io::{Header, Preparation, Table, read_plain};

/// A table's bytes, or numbers in the order of the model's columns.
pub(super) fn rows(x: &JsValue, source: &str, preparation: &Preparation) -> Result<Table> {
    if let Some(bytes) = bytes(x) {
        return read_plain(&bytes, source, Header::Auto);
    }
    check_length("predict: x", x)?;
    let wanted = || Error::new(format!("predict: x is {}, wanted a Float32Array or {}", show(x), &TABLE[7..]));
    let values = numbers(x).ok_or_else(wanted)?;
    let names: Vec<String> = preparation.names().map(str::to_owned).collect();
    Table::from_matrix("predict", &names, &values)
}
