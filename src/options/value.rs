//! Values of options as a caller gave them.

use crate::host::number;

/// A value as a caller gave it, not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// true or false.
    Flag(bool),
    /// A number; not necessarily finite.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Value>),
    /// An object.
    Fields(Vec<(String, Value)>),
    /// A value that no option accepts, in words: `a function`.
    Other(String),
}

impl Value {
    /// The value for a message.
    pub fn shown(&self) -> String {
        const LETTERS: usize = 80;
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(value) if *value == 0.0 || (1e-4..1e16).contains(&value.abs()) => number(*value).to_string(),
            Self::Number(value) => format!("{:?}", number(*value)),
            Self::Text(text) => {
                let end = if text.chars().nth(LETTERS).is_some() { "…" } else { "" };
                format!("\"{text:.LETTERS$}{end}\"")
            }
            Self::List(_) => "an array".into(),
            Self::Fields(_) => "an object".into(),
            Self::Other(words) => words.clone(),
        }
    }

    /// A number that was checked.
    pub fn number(&self) -> f64 {
        let Self::Number(value) = self else { panic!("a value was checked to be a number") };
        *value
    }

    /// A whole number that was checked.
    pub fn whole(&self) -> usize {
        self.number() as usize
    }

    /// A string that was checked.
    pub fn text(&self) -> &str {
        let Self::Text(text) = self else { panic!("a value was checked to be a string") };
        text
    }

    /// The items of an array that was checked.
    pub fn items(&self) -> &[Value] {
        let Self::List(items) = self else { panic!("a value was checked to be an array") };
        items
    }

    /// The strings of an array that was checked.
    pub fn texts(&self) -> Vec<String> {
        self.items().iter().map(|item| item.text().to_owned()).collect()
    }

    /// The fields of an object that was checked.
    pub fn fields(&self) -> &[(String, Value)] {
        let Self::Fields(fields) = self else { panic!("a value was checked to be an object") };
        fields
    }

    /// A flag that was checked.
    pub fn flag(&self) -> bool {
        *self == Self::Flag(true)
    }

    /// The choice that a name means, which was checked.
    pub fn one_of<T: Copy>(&self, all: &[(&str, T)]) -> T {
        let name = self.text();
        let found = all.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("the option was checked to have no value {name}")).1
    }

    /// Named numbers that were checked.
    pub fn numbers(&self) -> Vec<(String, f64)> {
        self.fields().iter().map(|(name, value)| (name.clone(), value.number())).collect()
    }

    /// Named ranges that were checked; an open end is infinite.
    pub fn ranges(&self) -> Vec<(String, [f64; 2])> {
        let end = |value: &Value, open: f64| if let Self::Number(x) = value { *x } else { open };
        let range = |value: &Value| [end(&value.items()[0], f64::NEG_INFINITY), end(&value.items()[1], f64::INFINITY)];
        self.fields().iter().map(|(name, value)| (name.clone(), range(value))).collect()
    }

    /// Whether it is an end of a range.
    pub(super) fn is_end(&self) -> bool {
        match self {
            Self::Number(x) => !x.is_nan(),
            Self::Other(words) => ["null", "undefined", "None"].contains(&words.as_str()),
            _ => false,
        }
    }
}
