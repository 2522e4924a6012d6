//! JSON text to a value, by RFC 8259. Messages name the byte at which parsing stopped.

use super::Json;
use crate::error::{Error, Result};

/// Deeper than any of the engine's files, and shallow enough for the stack.
const MAX_DEPTH: usize = 64;

impl Json {
    /// Parses one value; an error if anything follows it, or if arrays and objects are nested more than 64 deep.
    pub fn parse(text: &str) -> Result<Self> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at < text.len() {
            return Err(reader.expected("nothing more"));
        }
        Ok(value)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_there = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    fn expected(&self, what: &str) -> Error {
        Error::new(format!("expected {what} at byte {}", self.at))
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        if depth > MAX_DEPTH {
            return Err(self.expected(&format!("arrays and objects at most {MAX_DEPTH} deep")));
        }
        self.space();
        match self.peek() {
            Some(b'{') => self.fields(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.takes("null") => Ok(Json::Null),
            _ if self.takes("true") => Ok(Json::Bool(true)),
            _ if self.takes("false") => Ok(Json::Bool(false)),
            _ => Err(self.expected("a value")),
        }
    }

    /// Whether another item follows before `close`; consumes the comma, or `close`.
    fn goes_on(&mut self, is_first: bool, close: u8) -> Result<bool> {
        self.space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        if is_first || self.takes(",") {
            return Ok(true);
        }
        Err(self.expected(&format!("\",\" or \"{}\"", close as char)))
    }

    fn list(&mut self, depth: usize) -> Result<Json> {
        self.at += 1;
        let mut values = Vec::new();
        while self.goes_on(values.is_empty(), b']')? {
            values.push(self.value(depth + 1)?);
        }
        Ok(Json::List(values))
    }

    fn fields(&mut self, depth: usize) -> Result<Json> {
        self.at += 1;
        let mut fields: Vec<(String, Json)> = Vec::new();
        while self.goes_on(fields.is_empty(), b'}')? {
            self.space();
            let name = self.string()?;
            self.space();
            if !self.takes(":") {
                return Err(self.expected("\":\""));
            }
            let value = self.value(depth + 1)?;
            fields.push((name, value));
        }
        Ok(Json::Fields(fields))
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn since(&self, start: usize) -> &str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn number(&mut self) -> Result<Json> {
        let start = self.at;
        self.takes("-");
        if !self.takes("0") {
            self.digits()?;
        }
        if self.takes(".") {
            self.digits()?;
        }
        if self.takes("e") || self.takes("E") {
            let _ = self.takes("+") || self.takes("-");
            self.digits()?;
        }
        Ok(Json::Number(self.since(start).to_owned()))
    }

    fn string(&mut self) -> Result<String> {
        if !self.takes("\"") {
            return Err(self.expected("a string"));
        }
        let mut out = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..0x20)) {
                self.at += 1;
            }
            out.push_str(self.since(start));
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escaped()?),
                _ => return Err(self.expected("the end of a string")),
            }
        }
    }

    fn escaped(&mut self) -> Result<char> {
        self.at += 1;
        let letter = self.peek();
        self.at += 1;
        Ok(match letter {
            Some(letter @ (b'"' | b'\\' | b'/')) => letter as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            _ => return Err(self.expected("an escaped letter")),
        })
    }

    /// Four hexadecimal digits, or two groups of four that form a surrogate pair.
    fn code_point(&mut self) -> Result<char> {
        let first = self.unit()?;
        let code = match first {
            0xd800..0xdc00 if self.takes("\\u") => match self.unit()? {
                second @ 0xdc00..0xe000 => 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                _ => first,
            },
            code => code,
        };
        char::from_u32(code).ok_or_else(|| self.expected("a character"))
    }

    fn unit(&mut self) -> Result<u32> {
        let digits = self.text.get(self.at..self.at + 4).filter(|digits| !digits.starts_with('+'));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        unit.ok_or_else(|| self.expected("four hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_values_parse_to_the_same_values() {
        let texts = [
            "null",
            "true",
            "[]",
            "{}",
            "[1,-0.5,1e-7,2E+3,18446744073709551615]",
            r#"{"a":{"b":[null,false]},"":"\"\\\n\r\t\u0001é😀"}"#,
        ];
        for text in texts {
            assert_eq!(Json::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Json::parse(" [ 1 , {\"a\" : \"\\u00e9\\ud83d\\ude00\\/\\b\\f\"} ] ").unwrap().to_string(),
            "[1,{\"a\":\"é😀/\\u0008\\u000c\"}]"
        );
    }

    #[test]
    fn serde_json_reads_the_same_values() {
        let value = Json::parse(r#"{"a":[1,2.5,"x\u0007\"",null,true],"b":{}}"#).unwrap();
        let theirs: serde_json::Value = serde_json::from_str(&value.to_string()).unwrap();
        assert_eq!(theirs, serde_json::json!({ "a": [1, 2.5, "x\u{7}\"", null, true], "b": {} }));
    }

    #[test]
    fn invalid_json_is_an_error() {
        let deep = "[".repeat(100);
        let cases = [
            ("", "expected a value at byte 0"),
            ("[1,]", "expected a value at byte 3"),
            ("[1 2]", "expected \",\" or \"]\" at byte 3"),
            ("{\"a\" 1}", "expected \":\" at byte 5"),
            ("{a:1}", "expected a string at byte 1"),
            ("01", "expected nothing more at byte 1"),
            ("1.", "expected a digit at byte 2"),
            ("1e", "expected a digit at byte 2"),
            ("-", "expected a digit at byte 1"),
            ("nul", "expected a value at byte 0"),
            ("\"a", "expected the end of a string at byte 2"),
            ("\"a\nb\"", "expected the end of a string at byte 2"),
            ("\"\\x\"", "expected an escaped letter at byte 3"),
            ("\"\\u12\"", "expected four hexadecimal digits at byte 7"),
            ("\"\\u+123\"", "expected four hexadecimal digits at byte 7"),
            ("\"\\ud83d\"", "expected a character at byte 7"),
            ("\"\\ud83d\\u0041\"", "expected a character at byte 13"),
            (deep.as_str(), "expected arrays and objects at most 64 deep at byte 65"),
        ];
        for (text, expected) in cases {
            assert_eq!(Json::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
