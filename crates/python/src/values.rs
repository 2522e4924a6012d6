//! Options from a Python dictionary, by the table of their task.

use meromorph::Error;
use meromorph::options::{Naming, Table, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyMapping, PySequence, PyString};

use crate::errors::raised;

/// Stores the items of `given` in `options` by their table; `None` counts as unset. An unknown option is a `TypeError`, like an unknown keyword.
pub(crate) fn apply<T>(table: &Table<T>, options: &mut T, given: &Bound<'_, PyDict>, call: &str) -> PyResult<()> {
    let mut values = Vec::new();
    for (name, value) in given {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        let unknown = |error: Error| PyTypeError::new_err(error.within(call).to_string());
        values.push((table.find(&name, Naming::Python).map_err(unknown)?, value_of(&value)?));
    }
    table.apply(options, &values, Naming::Python).map_err(|error| raised(error.within(call)))
}

/// No option has values within values within values; a list may hold itself.
const DEEPEST: usize = 4;

/// A value as Python gave it. Scalars of NumPy are numbers and flags as well.
fn value_of(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_at(value, 0)
}

fn value_at(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Ok(Value::Other("values within values".into()));
    }
    let depth = depth + 1;
    if value.is_none() {
        return Ok(Value::Other("None".into()));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Flag(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        // A whole number beyond all doubles is infinite, which no option takes.
        return Ok(Value::Number(value.extract().unwrap_or(f64::INFINITY)));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::Text(text.extract()?));
    }
    if let Ok(fields) = value.cast::<PyMapping>() {
        let fields = fields.items()?.iter().map(|item| {
            let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            Ok((name.str()?.extract()?, value_at(&value, depth)?))
        });
        return Ok(Value::Fields(fields.collect::<PyResult<_>>()?));
    }
    // Arrays and scalars of NumPy, and of whatever else has its protocol.
    if let Ok(list) = value.call_method0("tolist") {
        return value_at(&list, depth);
    }
    if let Ok(items) = value.cast::<PySequence>() {
        return Ok(Value::List(items.try_iter()?.map(|item| value_at(&item?, depth)).collect::<PyResult<_>>()?));
    }
    Ok(Value::Other(format!("a value of type {}", value.get_type().name()?)))
}
