//! Options from a JavaScript object, by the table of their task.

use js_sys::{Array, Object};
use wasm_bindgen::{JsCast, JsValue};

use super::show;
use meromorph::error::{Error, Result};
use meromorph::options::{Naming, Table, Value};

/// Stores the fields of an options object in `options` by their table. `absent` has a message for an option, in snake case, that only other faces have.
pub fn apply<T>(
    table: &Table<T>,
    options: &mut T,
    object: &JsValue,
    absent: fn(&str) -> Option<&'static str>,
) -> Result<()> {
    let mut given = Vec::new();
    for (name, value) in fields(object)? {
        let entry = table.find(&name, Naming::JavaScript);
        let entry = match absent(&snake(&name)) {
            Some(message) if entry.is_err() => Err(Error::new(format!("{name}: {message}"))),
            _ => entry,
        };
        given.push((entry?, value));
    }
    table.apply(options, &given, Naming::JavaScript)
}

/// A name of JavaScript in snake case.
fn snake(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_uppercase() { format!("_{}", c.to_ascii_lowercase()) } else { c.to_string() };
    name.chars().map(letter).collect()
}

/// The fields of an options object; undefined and null count as unset.
fn fields(object: &JsValue) -> Result<Vec<(String, Value)>> {
    if object.is_undefined() || object.is_null() {
        return Ok(Vec::new());
    }
    if !object.is_object() || Array::is_array(object) {
        return Err(Error::new(format!("options: got {}, expected an object", show(object))));
    }
    let is_given =
        |(_, value): &(String, Value)| !matches!(value, Value::Other(words) if words == "null" || words == "undefined");
    Ok(entries(object).into_iter().filter(is_given).collect())
}

fn entries(object: &JsValue) -> Vec<(String, Value)> {
    let pair = |entry: JsValue| {
        let [name, value] = [0, 1].map(|at| Array::from(&entry).get(at));
        (name.as_string().unwrap_or_default(), value_of(&value))
    };
    Object::entries(object.unchecked_ref()).into_iter().map(pair).collect()
}

fn value_of(value: &JsValue) -> Value {
    if let Some(flag) = value.as_bool() {
        return Value::Flag(flag);
    }
    if let Some(number) = value.as_f64() {
        return Value::Number(number);
    }
    if let Some(text) = value.as_string() {
        return Value::Text(text);
    }
    if Array::is_array(value) {
        return Value::List(Array::from(value).iter().map(|item| value_of(&item)).collect());
    }
    match show(value) {
        // Other objects, such as a Map or a Date, have no named fields.
        words if words == "of type Object" || words == "an object" => Value::Fields(entries(value)),
        words => Value::Other(words.replacen("of type", "an object of type", 1)),
    }
}
