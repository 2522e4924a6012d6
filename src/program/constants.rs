//! Named constants of built-in losses and optimisers that a user may set, with defaults and ranges.

use crate::error::{Error, Result, hint, listed};
use crate::host::number;
use crate::json::{Json, Record};

/// A constant that a user may set.
#[derive(Debug)]
pub struct Constant {
    /// Its name.
    pub name: &'static str,
    /// One line about it.
    pub doc: &'static str,
    /// Its default value.
    pub default: f32,
    /// Whether a value is valid.
    pub is_valid: fn(f32) -> bool,
    /// The valid values, in words.
    pub expected: &'static str,
}

impl Constant {
    /// A share: at least 0 and less than 1.
    pub const fn share(name: &'static str, default: f32, doc: &'static str) -> Self {
        let expected = "a number of at least 0 and less than 1";
        Self { name, doc, default, is_valid: |x| (0.0..1.0).contains(&x), expected }
    }

    /// A share above 0 and below 1.
    pub const fn inner_share(name: &'static str, default: f32, doc: &'static str) -> Self {
        let expected = "a number between 0 and 1";
        Self { name, doc, default, is_valid: |x| x > 0.0 && x < 1.0, expected }
    }

    /// A number above 0.
    pub const fn positive(name: &'static str, default: f32, doc: &'static str) -> Self {
        Self { name, doc, default, is_valid: |x| x.is_finite() && x > 0.0, expected: "a finite number above 0" }
    }

    /// A number of at least 0.
    pub const fn at_least_zero(name: &'static str, default: f32, doc: &'static str) -> Self {
        Self { name, doc, default, is_valid: |x| x.is_finite() && x >= 0.0, expected: "a finite number of at least 0" }
    }

    /// 1 for yes, 0 for no.
    pub const fn flag(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc, default: 0.0, is_valid: |x| x == 0.0 || x == 1.0, expected: "0 or 1" }
    }
}

/// Values of some constants.
#[derive(Clone, Debug)]
pub struct Values {
    constants: &'static [Constant],
    values: Vec<f32>,
}

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Values {
    /// The defaults.
    pub fn new(constants: &'static [Constant]) -> Self {
        Self { constants, values: constants.iter().map(|constant| constant.default).collect() }
    }

    /// The value called `name`, which the formula has.
    #[track_caller]
    pub fn get(&self, name: &str) -> f64 {
        f64::from(self.values[self.place(name).unwrap_or_else(|| panic!("constants: unknown name \"{name}\""))])
    }

    /// Whether there is a constant of this name.
    pub fn has(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// Sets a value. Errors name the constant and its valid values.
    pub fn set(&mut self, name: &str, value: f32) -> Result<()> {
        let Some(at) = self.place(name) else {
            let names: Vec<&str> = self.constants.iter().map(|constant| constant.name).collect();
            let near = hint(name, names.iter().copied());
            return Err(Error::new(format!("unknown constant \"{name}\"{near}")));
        };
        let constant = &self.constants[at];
        if !(constant.is_valid)(value) {
            return Err(Error::new(format!(
                "{}: got {}, expected {}",
                constant.name,
                number(value),
                constant.expected
            )));
        }
        self.values[at] = value;
        Ok(())
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.constants.iter().position(|constant| constant.name == name)
    }

    /// As a JSON object.
    pub fn to_json(&self) -> Json {
        let fields = self.constants.iter().zip(&self.values);
        Json::Fields(fields.map(|(constant, value)| (constant.name.to_owned(), value.to_json())).collect())
    }

    /// From a JSON object, which must have every constant.
    pub fn read(&mut self, json: &Json) -> Result<()> {
        for constant in self.constants {
            let value = match json.field(constant.name)? {
                Json::Bool(flag) => f32::from(u8::from(*flag)),
                other => f32::from_json(other).map_err(|error| error.within(constant.name))?,
            };
            self.set(constant.name, value)?;
        }
        Ok(())
    }
}

/// The error for a constant that only others of a kind have: `name applies only to loss "huber"`.
pub fn not_for<'a>(name: &str, kind: &str, having: impl Iterator<Item = &'a str>) -> Error {
    let having: Vec<&str> = having.collect();
    Error::new(match having[..] {
        [] => format!("no {kind} has a constant called \"{name}\""),
        _ => format!("{name} applies only to {kind} {}", listed(&having)),
    })
}

/// Declares the modules of built-in formulas, one file each, and the list of their definitions: `built_ins!(LOSS: BuiltIn; mse, huber)`
/// declares modules `mse` and `huber`, and `ALL` with the `LOSS` of each.
#[macro_export]
macro_rules! built_ins {
    ($id:ident: $type:ty; $($name:ident),+ $(,)?) => {
        $(mod $name;)+

        /// All of them, in the order in which they are shown.
        pub static ALL: &[&$type] = &[$(&$name::$id),+];
    };
}
