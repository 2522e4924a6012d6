//! Reads JSON lines, and a list of objects, as a table: a row per object, a column per name of a field. A field that is absent or null is a
//! missing cell. Numbers keep their digits.

use std::collections::HashMap;

use super::grid::Grid;
use super::kind::Kind;
use crate::error::{Error, Result};
use crate::files::text::Format;
use crate::files::{MISSING_CODE, Table};
use crate::json::Json;

pub(crate) static KIND: Kind = Kind {
    name: "JSON",
    magic: b"",
    is: is_json,
    options: &["na", "keep_na"],
    read: Some(read),
    open: Some(|opened, _| opened.refused("is JSON")),
};

/// Whether bytes begin with an object or a list of objects or lists. No header of delimited text begins like that.
fn is_json(bytes: &[u8]) -> bool {
    let after = |bytes: &[u8], open: &[u8]| Some(bytes.trim_ascii_start().strip_prefix(open)?.to_vec());
    // The first bytes suffice: what follows is read in full later.
    let start = &bytes[..bytes.len().min(4096)];
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let opens = |rest: Vec<u8>, next: &[&[u8]]| next.iter().any(|next| rest.trim_ascii_start().starts_with(next));
    let is_object = |bytes: &[u8]| after(bytes, b"{").is_some_and(|rest| opens(rest, &[b"\"", b"}"]));
    let is_list = |rest: Vec<u8>| is_object(&rest) || after(&rest, b"[").is_some();
    is_object(start) || after(start, b"[").is_some_and(is_list)
}

fn read(bytes: &[u8], source: &str, format: &Format) -> Result<Table> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + lines(&bytes[..error.valid_up_to()]);
        Error::new(format!("{source}: line {line}: is not UTF-8 text; save the file as UTF-8"))
    })?;
    let mut objects = Objects { text, at: 0, source, grid: Grid::default(), places: HashMap::new() };
    objects.all()?;
    objects.grid.table(source, format)
}

struct Objects<'a> {
    text: &'a str,
    at: usize,
    source: &'a str,
    grid: Grid,
    /// The column of each name.
    places: HashMap<String, usize>,
}

impl<'a> Objects<'a> {
    /// Objects one after another, or between brackets and commas.
    fn all(&mut self) -> Result<()> {
        let is_list = self.takes(b'[');
        if is_list && self.takes(b']') {
            return self.end();
        }
        while self.peek().is_some() {
            self.object()?;
            if is_list && self.takes(b']') {
                return self.end();
            }
            if is_list && !self.takes(b',') {
                return Err(self.expected("a comma or the end of the list"));
            }
        }
        if is_list { Err(self.expected("an object")) } else { Ok(()) }
    }

    fn end(&mut self) -> Result<()> {
        if self.peek().is_some() { Err(self.expected("nothing after the list")) } else { Ok(()) }
    }

    /// Skips space; the byte behind it.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn object(&mut self) -> Result<()> {
        if !self.takes(b'{') {
            return Err(self.expected("an object"));
        }
        let mut place = 0;
        let mut is_first = true;
        while !self.takes(b'}') {
            if !is_first && !self.takes(b',') {
                return Err(self.expected("a comma or the end of the object"));
            }
            is_first = false;
            place = self.field(place)?;
        }
        self.grid.end_row();
        Ok(())
    }

    /// One field; `guess` is the column that it probably has. Returns the guess for the next one.
    fn field(&mut self, guess: usize) -> Result<usize> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("the name of a field"));
        }
        let raw = self.string()?;
        let column = self.column(raw, guess)?;
        if !self.takes(b':') {
            return Err(self.expected("a colon"));
        }
        let cell = match self.peek() {
            Some(b'"') => {
                let raw = self.string()?;
                if raw.contains('\\') {
                    self.grid.texts.add(self.unescaped(raw)?.as_bytes())
                } else {
                    self.grid.texts.add(&raw.as_bytes()[1..raw.len() - 1])
                }
            }
            Some(b'{') => return Err(self.nested(column, "an object")),
            Some(b'[') => return Err(self.nested(column, "a list")),
            _ => {
                let rest = &self.text[self.at..];
                let length = rest.find([',', '}', ']', ' ', '\t', '\n', '\r', ':', '"']).unwrap_or(rest.len());
                match word(&rest[..length]) {
                    Some(cell) => {
                        self.at += length;
                        if cell.is_empty() { MISSING_CODE } else { self.grid.texts.add(cell.as_bytes()) }
                    }
                    None => return Err(self.expected("a number, a text, true, false or null")),
                }
            }
        };
        if !self.grid.set(column, cell) {
            return Err(self.error(&format!("field \"{}\" is there twice", self.grid.name(column))));
        }
        Ok(column + 1)
    }

    /// The column of a name in quotes, which is added if it is new.
    fn column(&mut self, raw: &str, guess: usize) -> Result<usize> {
        let name = if raw.contains('\\') { self.unescaped(raw)? } else { raw[1..raw.len() - 1].to_owned() };
        if guess < self.places.len() && self.grid.name(guess) == name {
            return Ok(guess);
        }
        if let Some(&place) = self.places.get(&name) {
            return Ok(place);
        }
        let place = self.grid.add_column(name.clone());
        self.places.insert(name, place);
        Ok(place)
    }

    /// The string here, with its quotes and as it is written.
    fn string(&mut self) -> Result<&'a str> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(0x20..) => at += 1,
                _ => return Err(self.expected("a quote that ends the text")),
            }
        }
        self.at = at + 1;
        Ok(&self.text[start..self.at])
    }

    fn unescaped(&self, raw: &str) -> Result<String> {
        match Json::parse(raw) {
            Ok(Json::Text(text)) => Ok(text),
            _ => Err(self.error(&format!("the text {raw} has an escape that JSON does not know"))),
        }
    }

    fn nested(&self, column: usize, what: &str) -> Error {
        let name = self.grid.name(column);
        self.error(&format!("field \"{name}\" holds {what}; expected a number, a text, true, false or null"))
    }

    fn expected(&self, what: &str) -> Error {
        let got: String = self.text[self.at..].chars().take(1).filter(|letter| !letter.is_control()).collect();
        let got = if got.is_empty() { "the end".to_owned() } else { format!("\"{got}\"") };
        self.error(&format!("got {got}, expected {what}"))
    }

    fn error(&self, what: &str) -> Error {
        let line = 1 + lines(&self.text.as_bytes()[..self.at]);
        Error::new(format!("{}: row {} (line {line}): {what}", self.source, self.grid.rows() + 1))
    }
}

/// Line ends in a text.
fn lines(bytes: &[u8]) -> usize {
    bytes.iter().map(|&byte| usize::from(byte == b'\n')).sum()
}

/// The cell of a word that is no string: empty for a missing one. `None` if JSON has no such word; Python writes `NaN` and `Infinity`.
fn word(text: &str) -> Option<&str> {
    match text {
        "null" | "NaN" => Some(""),
        "true" | "false" => Some(text),
        "Infinity" => Some("inf"),
        "-Infinity" => Some("-inf"),
        _ => is_number(text).then_some(text),
    }
}

/// [-] digits [. digits] [e [sign] digits], without zeros in front.
fn is_number(text: &str) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    is_digits(whole) && (whole == "0" || !whole.starts_with('0')) && is_digits(fraction) && is_digits(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Cells;

    fn open(text: &str) -> Result<Table> {
        read(text.as_bytes(), "a.jsonl", &Format::default())
    }

    #[test]
    fn lines_and_lists_of_objects() {
        let rows = [
            r#"{"a": 1, "b": "x", "c": true}"#,
            r#"{"b":"y\u00e9\"","a":-2.5e-1,"c":null}"#,
            r#"{"d": 9007199254740993}"#,
        ];
        for text in [rows.join("\n"), rows.join("\r\n\r\n") + "\n", format!("\u{feff}[{}]", rows.join(" ,\n"))] {
            let table = open(&text).unwrap();
            assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
            assert_eq!(table.numbers("a").unwrap()[..2], [1.0, -0.25]);
            let text =
                |column: usize, row| table.columns()[column].as_category().text(row).map(std::borrow::Cow::into_owned);
            assert_eq!([text(1, 0), text(1, 1), text(1, 2)], [Some("x".into()), Some("yé\"".into()), None]);
            assert_eq!([text(2, 0), text(2, 1), text(0, 2)], [Some("true".into()), None, None]);
            assert_eq!(text(3, 2).as_deref(), Some("9007199254740993"));
        }
        assert!(matches!(open("{\"a\": NaN}{\"a\":-Infinity}").unwrap().columns()[0].cells, Cells::Numeric(_)));
    }

    #[test]
    fn kinds_of_text() {
        for text in ["{\"a\": 1}", " { }", "[{\"a\": 1}]", "[\n [1]]", "[[1, 2]]"] {
            assert!(is_json(text.as_bytes()), "{text}");
        }
        for text in ["{a},b\n", "[1],[2]\n", "a,b\n", "", "["] {
            assert!(!is_json(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn messages() {
        let cases = [
            (
                "{\"a\": 1}\n{\"a\": [1]}",
                "row 2 (line 2): field \"a\" holds a list; expected a number, a text, true, false or null",
            ),
            (
                "{\"a\": {}}",
                "row 1 (line 1): field \"a\" holds an object; expected a number, a text, true, false or null",
            ),
            ("{\"a\": 1, \"a\": 2}", "row 1 (line 1): field \"a\" is there twice"),
            ("{\"a\": 01}", "row 1 (line 1): got \"0\", expected a number, a text, true, false or null"),
            ("{\"a\" 1}", "row 1 (line 1): got \"1\", expected a colon"),
            ("{\"a\": 1 2}", "row 1 (line 1): got \"2\", expected a comma or the end of the object"),
            ("{\"a\": 1,}", "row 1 (line 1): got \"}\", expected the name of a field"),
            ("{\"a\": \"x\ny\"}", "row 1 (line 1): got \"\"\", expected a quote that ends the text"),
            ("{\"a\": \"\\x\"}", "row 1 (line 1): the text \"\\x\" has an escape that JSON does not know"),
            ("{\"a\": 1}\n\n{", "row 2 (line 3): got the end, expected the name of a field"),
            ("[{\"a\": 1}\n{}]", "row 2 (line 2): got \"{\", expected a comma or the end of the list"),
            ("[{\"a\": 1}] 2", "row 2 (line 1): got \"2\", expected nothing after the list"),
            ("[[1, 2]]", "row 1 (line 1): got \"[\", expected an object"),
            ("{}", "has no columns"),
        ];
        for (text, wanted) in cases {
            assert_eq!(open(text).unwrap_err().to_string(), format!("a.jsonl: {wanted}"), "{text}");
        }
        let error = read(b"{\"a\": 1}\n{\"a\": \"\xff\"}", "a", &Format::default()).unwrap_err();
        assert_eq!(error.to_string(), "a: line 2: is not UTF-8 text; save the file as UTF-8");
    }

    #[test]
    fn infinities_of_python_keep_their_sign() {
        let table = open("{\"a\": -Infinity}\n{\"a\": 1}\n{\"a\": Infinity}\n{\"a\": NaN}\n").unwrap();
        let a = table.numbers("a").unwrap();
        assert_eq!(a[..3], [f64::NEG_INFINITY, 1.0, f64::INFINITY]);
        assert!(a[3].is_nan() && a.len() == 4, "{a:?}");
    }
}
