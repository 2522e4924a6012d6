//! Rows to predict from an exported page or package, which may also be an array of columns.

use js_sys::Array;
use wasm_bindgen::JsValue;

use meromorph::error::{Error, Result, listed};
use meromorph::files::{Column, Format, Table};
use meromorph::table::Preparation;
use meromorph_web_values::{numbers, show};

/// The rows that `rows::rows` reads, or an array of columns in the model's order.
pub(super) fn rows_or_columns(x: &JsValue, source: &str, format: &Format, preparation: &Preparation) -> Result<Table> {
    match columns(x) {
        Some(columns) => Ok(table(&columns, preparation)?.with_missing(&format.missing)),
        None => meromorph_web_values::rows::rows(x, source, format, preparation),
    }
}

/// A table of columns of numbers or strings; a column with a single cell repeats it in every row.
fn table(columns: &[JsValue], preparation: &Preparation) -> Result<Table> {
    let names: Vec<&str> = preparation.names().collect();
    if columns.len() != names.len() {
        let (got, expected) = (columns.len(), names.len());
        return Err(Error::new(format!("predict: x has {got} columns, expected {expected}: {}", listed(&names))));
    }
    let column = |(cells, name): (&JsValue, &str)| {
        let expected = || Error::new(format!("predict: column \"{name}\" is {}, expected an array", show(cells)));
        let numbers = numbers(cells).map(|values| Column::numeric(name, values));
        numbers.or_else(|| Some(Column::categorical(name, &texts(cells)?))).ok_or_else(expected)
    };
    let mut columns = columns.iter().zip(names).map(column).collect::<Result<Vec<_>>>()?;
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    columns.iter_mut().filter(|column| column.cells.len() == 1).for_each(|column| column.cells.repeat(rows));
    Table::new("predict", columns)
}

/// The columns of an array of columns; `None` for other values.
fn columns(value: &JsValue) -> Option<Vec<JsValue>> {
    let columns = Array::is_array(value).then(|| Array::from(value).to_vec())?;
    columns.first().is_some_and(JsValue::is_object).then_some(columns)
}

/// The strings of an array of strings; `None` for other values.
fn texts(value: &JsValue) -> Option<Vec<String>> {
    Array::is_array(value).then(|| Array::from(value).iter().map(|item| item.as_string()).collect())?
}
