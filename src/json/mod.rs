//! JSON: a value with its text, and records whose fields are named once. The engine's files need little JSON, so this module is a tenth
//! of the size of derived conversions in the browser build (docs/PERFORMANCE.md).

mod bridge;
mod parse;
mod record;
mod write;

use std::fmt::Write as _;

pub use record::{Record, Slot, is_named, read_fields, variant, write_fields, write_variant};
pub use write::Writer;

use crate::error::{Error, Result};
use crate::host;

/// A JSON value. Fields keep their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as text, so that integers of 64 bits stay exact.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Fields(Vec<(String, Json)>),
}

impl Json {
    /// An object of fields.
    pub fn fields<const N: usize>(fields: [(&str, Self); N]) -> Self {
        Self::Fields(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// The field called `name`, if this is an object that has one; of several, the first.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Fields(fields) = self else { return None };
        fields.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The field called `name`, or an error.
    pub fn field(&self, name: &str) -> Result<&Self> {
        match self {
            Self::Fields(_) => self.get(name).ok_or_else(|| Error::new(format!("no field \"{name}\""))),
            other => Err(other.unlike("an object")),
        }
    }

    /// The string, if it is one.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The values of an array, if it is one.
    pub fn list(&self) -> Option<&[Self]> {
        if let Self::List(values) = self { Some(values) } else { None }
    }

    /// The integer, if it is one that fits.
    pub fn whole(&self) -> Option<u64> {
        if let Self::Number(text) = self { text.parse().ok() } else { None }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        if let Self::Number(text) = self { host::parse_number(text) } else { None }
    }

    /// The error for a value that is not `expected`.
    pub fn unlike(&self, expected: &str) -> Error {
        let mut got = self.to_string();
        if let Some((at, _)) = got.char_indices().nth(40) {
            got.truncate(at);
            got.push('…');
        }
        Error::new(format!("got {got}, expected {expected}"))
    }

    fn print(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(text) => out.push_str(text),
            Self::Text(text) => quote(text, out),
            Self::List(values) => {
                out.push('[');
                for (at, value) in values.iter().enumerate() {
                    separate(at, out);
                    value.print(out);
                }
                out.push(']');
            }
            Self::Fields(fields) => {
                out.push('{');
                for (at, (name, value)) in fields.iter().enumerate() {
                    separate(at, out);
                    quote(name, out);
                    out.push(':');
                    value.print(out);
                }
                out.push('}');
            }
        }
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        self.print(&mut out);
        f.write_str(&out)
    }
}

fn separate(at: usize, out: &mut String) {
    if at > 0 {
        out.push(',');
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a string does not fail.
            '\0'..' ' => drop(write!(out, "\\u{:04x}", letter as u32)),
            _ => out.push(letter),
        }
    }
    out.push('"');
}
