//! The fields of an options object from JavaScript, each with its type checked as it is taken.

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::values::show;
use crate::error::{Error, Result, listed};

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

    /// What is said of a value that is none of `wanted`; `name` may be a part of an option, like `hidden[1]`.
    pub(super) fn refused(&self, name: &str, value: &JsValue, wanted: &str) -> Error {
        Error::new(format!("{}: {name} is {}, wanted {wanted}", self.call, show(value)))
    }

    fn taken<T>(&self, name: &str, wanted: &str, take: impl FnOnce(&JsValue) -> Option<T>) -> Result<Option<T>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        take(&value).map(Some).ok_or_else(|| self.refused(name, &value, wanted))
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>> {
        self.taken(name, "a finite number", |value| value.as_f64().filter(|number| number.is_finite()))
    }

    pub(super) fn whole(&self, name: &str) -> Result<Option<usize>> {
        self.taken(name, WHOLE, |value| whole(value).map(|number| number as usize))
    }

    /// A whole number up to 2^53: wider than an address in wasm.
    pub(super) fn seed(&self, name: &str) -> Result<Option<u64>> {
        self.taken(name, "a whole number from 0 to 9007199254740992", |value| {
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
        let items = self.items(name, ["an array of strings", "a string"], JsValue::is_string)?;
        Ok(items.map(|items| items.iter().filter_map(JsValue::as_string).collect()))
    }

    pub(super) fn wholes(&self, name: &str) -> Result<Option<Vec<usize>>> {
        let items = self.items(name, ["an array of whole numbers", WHOLE], |item| whole(item).is_some())?;
        Ok(items.map(|items| items.iter().filter_map(whole).map(|number| number as usize).collect()))
    }

    /// The items of an array, `wanted` like it and like each of them; one that is no such item is refused by its place.
    fn items(&self, name: &str, wanted: [&str; 2], is_item: fn(&JsValue) -> bool) -> Result<Option<Vec<JsValue>>> {
        let is_array = |value: &JsValue| Array::is_array(value).then(|| Array::from(value).to_vec());
        let items = self.taken(name, wanted[0], is_array)?;
        for (at, item) in items.iter().flatten().enumerate() {
            if !is_item(item) {
                return Err(self.refused(&format!("{name}[{at}]"), item, wanted[1]));
            }
        }
        Ok(items)
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.taken(name, "true or false", JsValue::as_bool)?.unwrap_or(false))
    }

    /// The fields of an object, each with the name it has in a message. `wanted` is an example.
    pub(super) fn named(&self, name: &str, wanted: &str) -> Result<Vec<(String, String, JsValue)>> {
        let entries = |value: &JsValue| {
            let is_object = value.is_object() && !Array::is_array(value);
            let entries = is_object.then(|| Object::entries(value.unchecked_ref()).to_vec())?;
            // What a map holds, or a date, is nothing that has a name.
            (!entries.is_empty() || show(value) == "of type Object").then_some(entries)
        };
        let field = |entry: &JsValue| {
            let [key, value] = [0, 1].map(|at| Array::from(entry).get(at));
            let key = key.as_string().unwrap_or_default();
            (key.clone(), format!("{name}.{key}"), value)
        };
        Ok(self.taken(name, wanted, entries)?.iter().flatten().map(field).collect())
    }

    /// A text that `parse` understands.
    pub(super) fn parsed<T>(&self, name: &str, parse: fn(&str) -> Result<T>) -> Result<Option<T>> {
        let text = self.text(name)?;
        text.map(|text| parse(&text)).transpose().map_err(|error| error.within(self.call))
    }

    /// One of a table's names.
    pub(super) fn one_of<T: Copy>(&self, name: &str, table: &[(&str, T)]) -> Result<Option<T>> {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        Ok(self.place(name, &names)?.map(|at| table[at].1))
    }

    fn place(&self, name: &str, names: &[&str]) -> Result<Option<usize>> {
        self.taken(name, &one_of(names), |value| {
            let text = value.as_string()?;
            names.iter().position(|known| *known == text)
        })
    }
}

/// What is wanted where there are these names.
pub(super) fn one_of(names: &[&str]) -> String {
    format!("one of {}", listed(names))
}

const WHOLE: &str = "a whole number from 0 to 4294967295";

fn whole(value: &JsValue) -> Option<u32> {
    value
        .as_f64()
        .filter(|number| *number >= 0.0 && number.fract() == 0.0 && *number <= f64::from(u32::MAX))
        .map(|n| n as u32)
}
