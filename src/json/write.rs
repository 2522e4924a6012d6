//! JSON as text, written value by value: for texts that are long or have many kinds of fields, and would be large as trees of values.

use super::quote;
use crate::host;

/// The text so far. A name is that of a field, or empty for an element of an array.
#[derive(Default)]
pub struct Writer(String);

impl Writer {
    /// The whole text.
    pub fn finish(self) -> String {
        self.0
    }

    /// Begins an object.
    pub fn object(&mut self, name: &str) {
        self.name(name);
        self.0.push('{');
    }

    /// Begins an array.
    pub fn list(&mut self, name: &str) {
        self.name(name);
        self.0.push('[');
    }

    /// Ends the object (`}`) or the array (`]`) that began last.
    pub fn end(&mut self, bracket: char) {
        self.0.push(bracket);
    }

    /// A string.
    pub fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        quote(value, &mut self.0);
    }

    /// A number, or null if it is not finite.
    pub fn number(&mut self, name: &str, value: f64) {
        self.name(name);
        self.0.push_str(&if value.is_finite() { host::number(value).to_string() } else { "null".to_owned() });
    }

    fn name(&mut self, name: &str) {
        if !matches!(self.0.as_bytes(), [] | [.., b'{' | b'[']) {
            self.0.push(',');
        }
        if !name.is_empty() {
            quote(name, &mut self.0);
            self.0.push(':');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_separated_and_quoted() {
        let mut out = Writer::default();
        out.object("");
        out.text("a \"b\"", "[");
        out.list("c");
        out.number("", 1.0);
        out.number("", -2.5);
        out.object("");
        out.end('}');
        out.end(']');
        out.number("d", f64::NAN);
        out.end('}');
        assert_eq!(out.finish(), r#"{"a \"b\"":"[","c":[1,-2.5,{}],"d":null}"#);
    }
}
