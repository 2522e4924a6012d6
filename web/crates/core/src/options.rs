//! Reads the options of a training run from a JavaScript object to [`TrainOptions`] by the option table of `train`.

use js_sys::{Array, Object};
use wasm_bindgen::{JsCast, JsValue};

use meromorph::error::{Error, ErrorKind, Result};
use meromorph::files::Format;
use meromorph::options::{Naming, Table, Value};
use meromorph::run::{OPTIONS, READING, TrainOptions, absent};
use meromorph::table::Choice;
use meromorph_web_values::show;

/// Reads the options of `train`; `target` is the default target column.
pub(super) fn train_options(object: &JsValue, target: Option<&str>) -> Result<TrainOptions> {
    let choice = Choice { target: target.unwrap_or_default().to_owned(), ..Choice::default() };
    let mut options = TrainOptions { choice, ..TrainOptions::default() };
    let mut read = || {
        apply(&OPTIONS, &mut options, object)?;
        if options.choice.target.is_empty() {
            return Err(Error::new("target: got undefined, expected the name of a column as a string"));
        }
        Ok(())
    };
    read().map_err(|error| error.within("train"))?;
    Ok(options)
}

/// Reads the options of reading a table for `call`, over how another table was written.
pub(super) fn format_over(call: &str, object: &JsValue, own: &Format) -> Result<Format> {
    let mut format = own.clone();
    let read = apply(&READING, &mut format, object).and_then(|()| format.check());
    read.map_err(|error| error.within(call).with_kind(ErrorKind::Usage))?;
    Ok(format)
}

/// Reads the options of reading a table for `call`.
pub(super) fn format_of(call: &str, object: &JsValue) -> Result<Format> {
    format_over(call, object, &Format::default())
}

fn apply<T>(table: &Table<T>, options: &mut T, object: &JsValue) -> Result<()> {
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
    Ok(entries(object))
}

fn entries(object: &JsValue) -> Vec<(String, Value)> {
    let pair = |entry: JsValue| {
        let [name, value] = [0, 1].map(|at| Array::from(&entry).get(at));
        let is_given = !value.is_undefined() && !value.is_null();
        is_given.then(|| (name.as_string().unwrap_or_default(), value_of(&value)))
    };
    Object::entries(object.unchecked_ref()).into_iter().filter_map(pair).collect()
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
