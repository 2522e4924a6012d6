//! A place in a JSON text: what is there, what is expected instead, and how to get past it.

use crate::error::{Error, Result};
use crate::json::Json;

/// Deeper than any table; a hostile text could nest until the stack ends.
const MOST_DEEP: usize = 128;

#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    pub(super) at: usize,
    source: &'a str,
    /// Rows before, for messages.
    pub(super) rows: usize,
}

/// The text of a value that is neither an object nor a list.
pub(super) enum Scalar<'a> {
    Missing,
    /// As it is written.
    Plain(&'a str),
    /// A string with escapes, which are replaced.
    Unescaped(String),
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, source: &'a str) -> Self {
        Self { text, at: 0, source, rows: 0 }
    }

    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// Whether the value at a place is the first of the text.
    pub(super) fn is_first(&self, at: usize) -> bool {
        self.text[..at].trim_ascii_start().is_empty()
    }

    /// Skips space; the byte behind it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    pub(super) fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// The string here, with its quotes and as it is written.
    pub(super) fn string(&mut self) -> Result<&'a str> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => at += 2,
                Some(0x20..) => at += 1,
                None => return Err(self.error("the file ends within a text: is it cut short?")),
                _ => return Err(self.expected("a quote that ends the text")),
            }
        }
        self.at = at + 1;
        Ok(&self.text[start..self.at])
    }

    /// The name of a field and the colon behind it; with its quotes and as it is written.
    pub(super) fn name(&mut self) -> Result<&'a str> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("the name of a field"));
        }
        let name = self.string()?;
        if self.takes(b':') { Ok(name) } else { Err(self.expected("a colon")) }
    }

    /// The text of a string with quotes.
    pub(super) fn unquoted(&self, raw: &str) -> Result<String> {
        if !raw.contains('\\') {
            return Ok(raw[1..raw.len() - 1].to_owned());
        }
        match Json::parse(raw) {
            Ok(Json::Text(text)) => Ok(text),
            _ => Err(self.error(&format!("the text {raw} has an escape that JSON does not know"))),
        }
    }

    /// The value here, which is neither an object nor a list.
    pub(super) fn scalar(&mut self) -> Result<Scalar<'a>> {
        if self.peek() == Some(b'"') {
            let raw = self.string()?;
            return Ok(if raw.contains('\\') {
                Scalar::Unescaped(self.unquoted(raw)?)
            } else {
                Scalar::Plain(&raw[1..raw.len() - 1])
            });
        }
        let rest = &self.text[self.at..];
        let length = rest.find([',', '}', ']', ' ', '\t', '\n', '\r', ':', '"']).unwrap_or(rest.len());
        let Some(cell) = word(&rest[..length]) else {
            return Err(self.expected("a number, a text, true, false or null"));
        };
        self.at += length;
        Ok(if cell.is_empty() { Scalar::Missing } else { Scalar::Plain(cell) })
    }

    /// Goes through the items between brackets; `item` takes one.
    pub(super) fn items(&mut self, ends: [u8; 2], mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let [what, end] =
            if ends[0] == b'{' { ["an object", "the end of the object"] } else { ["a list", "the end of the list"] };
        if !self.takes(ends[0]) {
            return Err(self.expected(what));
        }
        if self.takes(ends[1]) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.takes(ends[1]) {
                return Ok(());
            }
            if !self.takes(b',') {
                return Err(self.expected(&format!("a comma or {end}")));
            }
        }
    }

    /// Goes past the value here, whatever it is.
    pub(super) fn skip(&mut self, depth: usize) -> Result<()> {
        self.check_depth(depth)?;
        match self.peek() {
            Some(b'{') => self.items(*b"{}", |cursor| {
                cursor.name()?;
                cursor.skip(depth + 1)
            }),
            Some(b'[') => self.items(*b"[]", |cursor| cursor.skip(depth + 1)),
            _ => self.scalar().map(drop),
        }
    }

    /// Errors if values are nested too deeply.
    pub(super) fn check_depth(&self, depth: usize) -> Result<()> {
        if depth < MOST_DEEP {
            Ok(())
        } else {
            Err(self.error(&format!("values are nested more than {MOST_DEEP} deep")))
        }
    }

    pub(super) fn expected(&self, what: &str) -> Error {
        let got: String = self.text[self.at..].chars().take(1).filter(|letter| !letter.is_control()).collect();
        let got = if got.is_empty() { "the end".to_owned() } else { format!("\"{got}\"") };
        self.error(&format!("got {got}, expected {what}"))
    }

    pub(super) fn error(&self, what: &str) -> Error {
        let line = 1 + lines(&self.text.as_bytes()[..self.at]);
        Error::new(format!("{}: row {} (line {line}): {what}", self.source, self.rows + 1))
    }
}

/// Line ends in a text.
pub(super) fn lines(bytes: &[u8]) -> usize {
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
