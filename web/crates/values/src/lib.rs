//! JavaScript values for the parts of the browser build: numbers, plain objects, tables, errors and panics.
#![cfg(target_arch = "wasm32")]

pub mod options;
mod panic;
pub mod rows;

pub use panic::on_panic;

use js_sys::{Array, Float32Array, Float64Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use meromorph::error::{self, Error, ErrorKind};

/// The result of a call from JavaScript: a value, or an `Error` to throw.
pub type Answer<T = JsValue> = Result<T, JsValue>;

/// The engine's error as a JavaScript `Error` with the property `kind`. Its name is the class of `web/src/errors.ts` for that kind.
pub fn thrown(error: Error) -> JsValue {
    let thrown = js_sys::Error::new(&error.to_string());
    thrown.set_name(match error.kind() {
        ErrorKind::Usage | ErrorKind::Input => "InputError",
        ErrorKind::Device => "DeviceError",
        ErrorKind::Internal => "InternalError",
    });
    // Setting a property of a fresh error cannot fail.
    let _ = Reflect::set(&thrown, &"kind".into(), &error.kind().name().into());
    thrown.into()
}

/// A plain object.
pub fn object<const N: usize>(entries: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new().into();
    for (key, value) in entries {
        set(&object, key, &value);
    }
    object
}

/// Sets a field of a plain object.
pub fn set(object: &JsValue, key: &str, value: &JsValue) {
    // Setting a key of a plain object cannot fail.
    let _ = Reflect::set(object, &key.into(), value);
}

/// A field of an object; undefined if it has none.
pub fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED)
}

/// An array of strings.
pub fn strings<'a>(all: impl IntoIterator<Item = &'a str>) -> JsValue {
    all.into_iter().map(JsValue::from_str).collect::<Array>().into()
}

/// The numbers of a `Float32Array`, `Float64Array` or plain array of numbers; `None` for other values.
pub fn numbers(value: &JsValue) -> Option<Vec<f64>> {
    if let Some(array) = value.dyn_ref::<Float32Array>() {
        return Some(array.to_vec().into_iter().map(f64::from).collect());
    }
    if let Some(array) = value.dyn_ref::<Float64Array>() {
        return Some(array.to_vec());
    }
    Array::is_array(value).then(|| Array::from(value).iter().map(|item| item.as_f64()).collect())?
}

/// Maximum count of numbers: more of them, with their copies, do not fit the 4 GiB of wasm memory, and the engine would abort.
const MOST_NUMBERS: u32 = 100_000_000;

/// The numbers in `value`, or an error: `name` is its name in messages, `expected` describes what it should be.
pub fn numbers_of(name: &str, value: &JsValue, expected: &str) -> error::Result<Vec<f64>> {
    let singles = value.dyn_ref::<Float32Array>().map(Float32Array::length);
    let message = match singles.or_else(|| value.dyn_ref::<Float64Array>().map(Float64Array::length)) {
        Some(length) if length > MOST_NUMBERS => {
            format!("{name} has {length} numbers; at most {MOST_NUMBERS} are taken at once")
        }
        _ => match numbers(value) {
            Some(numbers) => return Ok(numbers),
            None if Array::is_array(value) => {
                let items = Array::from(value).to_vec();
                let at = items.iter().position(|item| item.as_f64().is_none()).unwrap_or(0);
                format!("{name}[{at}] is {}, expected a number", show(&items[at]))
            }
            None => format!("{name} is {}, expected {expected}", show(value)),
        },
    };
    Err(Error::new(message))
}

/// Maximum characters of a text in a message.
const LETTERS: usize = 80;

/// Describes a value for a message.
pub fn show(value: &JsValue) -> String {
    if let Some(text) = value.as_string() {
        let end = if text.chars().nth(LETTERS).is_some() { "…" } else { "" };
        return format!("\"{text:.LETTERS$}{end}\"");
    }
    if let Some(number) = value.as_f64() {
        return meromorph::internal::host::number(number).to_string();
    }
    match value {
        _ if value.is_undefined() => "undefined".into(),
        _ if value.is_null() => "null".into(),
        _ if value.is_function() => "a function".into(),
        _ if Array::is_array(value) => "an array".into(),
        _ if value.is_object() => {
            let name = Reflect::get(value, &"constructor".into()).and_then(|made| Reflect::get(&made, &"name".into()));
            name.ok()
                .and_then(|name| name.as_string())
                .map_or_else(|| "an object".into(), |name| format!("of type {name}"))
        }
        _ => value.as_bool().map_or_else(|| value.js_typeof().as_string().unwrap_or_default(), |flag| flag.to_string()),
    }
}
