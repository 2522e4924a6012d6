//! The fields of an options object from JavaScript, each with its type checked as it is taken.

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::values::show;
use crate::error::{Error, Result};

/// An object of named options, each checked as it is taken. `call` is the name the user called.
pub(super) struct Options<'a> {
    call: &'static str,
    object: &'a JsValue,
}

impl<'a> Options<'a> {
    /// Refuses what is no object, and names that mean nothing. Nothing at all is an object without options.
    pub(super) fn of(call: &'static str, object: &'a JsValue, known: &[&str]) -> Result<Self> {
        if object.is_undefined() || object.is_null() {
            return Ok(Self { call, object });
        }
        if !object.is_object() || Array::is_array(object) {
            return Err(Error::new(format!("{call}: the options are {}, wanted an object", show(object))));
        }
        let mut names = Object::keys(object.unchecked_ref::<Object>()).into_iter().filter_map(|name| name.as_string());
        match names.find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                Err(Error::new(format!("{call}: option \"{name}\" is unknown; there are {}", known.join(", "))))
            }
            None => Ok(Self { call, object }),
        }
    }

    fn get(&self, name: &str) -> Option<JsValue> {
        let value = Reflect::get(self.object, &name.into()).ok()?;
        (!value.is_undefined() && !value.is_null()).then_some(value)
    }

    fn taken<T>(&self, name: &str, wanted: &str, take: impl FnOnce(&JsValue) -> Option<T>) -> Result<Option<T>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let refused = || Error::new(format!("{}: {name} is {}, wanted {wanted}", self.call, show(&value)));
        take(&value).map(Some).ok_or_else(refused)
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>> {
        self.taken(name, "a finite number", |value| value.as_f64().filter(|number| number.is_finite()))
    }

    pub(super) fn whole(&self, name: &str) -> Result<Option<usize>> {
        self.taken(name, "a whole number of at least 0", |value| whole(value).map(|number| number as usize))
    }

    /// A whole number up to 2^53: wider than an address in wasm.
    pub(super) fn seed(&self, name: &str) -> Result<Option<u64>> {
        self.taken(name, "a whole number of at least 0", |value| {
            value
                .as_f64()
                .filter(|seed| *seed >= 0.0 && seed.fract() == 0.0 && *seed <= 2f64.powi(53))
                .map(|s| s as u64)
        })
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>> {
        self.taken(name, "a string", JsValue::as_string)
    }

    pub(super) fn texts(&self, name: &str) -> Result<Option<Vec<String>>> {
        self.list(name, "an array of strings", JsValue::as_string)
    }

    pub(super) fn wholes(&self, name: &str) -> Result<Option<Vec<usize>>> {
        self.list(name, "an array of whole numbers", |value| whole(value).map(|number| number as usize))
    }

    fn list<T>(&self, name: &str, wanted: &str, take: fn(&JsValue) -> Option<T>) -> Result<Option<Vec<T>>> {
        self.taken(name, wanted, |value| {
            Array::is_array(value).then(|| Array::from(value).iter().map(|item| take(&item)).collect())?
        })
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.taken(name, "true or false", JsValue::as_bool)?.unwrap_or(false))
    }

    /// The fields of an object, each by `take` from its name and value.
    pub(super) fn named<T>(&self, name: &str, wanted: &str, take: fn(String, &JsValue) -> Option<T>) -> Result<Vec<T>> {
        let fields = self.taken(name, wanted, |value| {
            let entry = |entry: JsValue| {
                let [name, value] = [0, 1].map(|at| Array::from(&entry).get(at));
                take(name.as_string()?, &value)
            };
            value
                .is_object()
                .then(|| Object::entries(value.unchecked_ref::<Object>()).into_iter().map(entry).collect())?
        })?;
        Ok(fields.unwrap_or_default())
    }

    /// One of a table's names.
    pub(super) fn one_of<T: Copy>(&self, name: &str, table: &[(&str, T)]) -> Result<Option<T>> {
        let names = table.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        self.taken(name, &format!("one of {names}"), |value| {
            let text = value.as_string()?;
            table.iter().find(|(known, _)| *known == text).map(|(_, value)| *value)
        })
    }
}

fn whole(value: &JsValue) -> Option<u32> {
    value
        .as_f64()
        .filter(|number| *number >= 0.0 && number.fract() == 0.0 && *number <= f64::from(u32::MAX))
        .map(|n| n as u32)
}
