//! Splits delimited text into records of cells: quotes, doubled quotes, and LF, CRLF or CR line ends. Empty lines are
//! skipped. Cells are slices of the file, except those with doubled quotes. `csv` interprets their contents.

use crate::error::{Error, Result};
use std::borrow::Cow;

/// A cell's bytes, without the quotes around it.
pub(crate) type RawCell<'a> = Cow<'a, [u8]>;

/// An iterator over the records of a text.
#[derive(Clone)]
pub(crate) struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    delimiter: u8,
    source: &'a str,
    /// Where the last record starts and ends, without its line end.
    last: [usize; 2],
}

impl<'a> Records<'a> {
    pub(crate) fn new(bytes: &'a [u8], delimiter: u8, source: &'a str) -> Self {
        Self { bytes, at: 0, line: 1, delimiter, source, last: [0; 2] }
    }

    /// Fills `cells` with the next record and returns the line (from 1) it starts on, or `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self, cells: &mut Vec<RawCell<'a>>) -> Result<Option<usize>> {
        cells.clear();
        while self.end_of_line() {}
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let line = self.line;
        self.last[0] = self.at;
        loop {
            cells.push(self.cell()?);
            if self.peek() == Some(self.delimiter) {
                self.at += 1;
            } else {
                self.last[1] = self.at;
                self.end_of_line();
                return Ok(Some(line));
            }
        }
    }

    /// The same records, the first of which starts on this line.
    pub(crate) fn starting_on_line(self, line: usize) -> Self {
        Self { line, ..self }
    }

    /// The bytes that are still to be read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The records in a part of the rest, which ends where one does. Its lines are counted from 1.
    pub(crate) fn part(&self, start: usize, end: usize) -> Self {
        Self::new(&self.rest()[start..end], self.delimiter, self.source)
    }

    /// The byte between cells.
    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The position of the next record, for comparison.
    pub(crate) fn start(&self) -> usize {
        self.at
    }

    /// The bytes of the last record, without its line end.
    pub(crate) fn span(&self) -> &'a [u8] {
        &self.bytes[self.last[0]..self.last[1]]
    }

    /// The line end of the last record; LF if it has none.
    pub(crate) fn line_end(&self) -> &'a [u8] {
        let end = &self.bytes[self.last[1]..self.at];
        if end.is_empty() { b"\n" } else { end }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Consumes one line end, if there is one here.
    #[inline]
    fn end_of_line(&mut self) -> bool {
        let length = match self.bytes[self.at..] {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => return false,
        };
        self.at += length;
        self.line += 1;
        true
    }

    /// The cell here, up to a delimiter, a line end or the end of the text.
    #[inline]
    fn cell(&mut self) -> Result<RawCell<'a>> {
        if matches!(self.peek(), Some(b'"' | b' ')) && self.skip_to_quote() {
            return self.quoted();
        }
        let rest = &self.bytes[self.at..];
        let cell = &rest[..end_of_cell(rest, self.delimiter)];
        self.at += cell.len();
        Ok(Cow::Borrowed(cell))
    }

    /// Consumes spaces and an opening quote; nothing if there is no quote.
    fn skip_to_quote(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let spaces = rest.iter().take_while(|&&b| b == b' ').count();
        let found = rest.get(spaces) == Some(&b'"');
        if found {
            self.at += spaces + 1;
        }
        found
    }

    /// The text up to the closing quote, with doubled quotes replaced by single ones.
    fn quoted(&mut self) -> Result<RawCell<'a>> {
        let opened = self.line;
        let mut cell: RawCell<'a> = Cow::Borrowed(&[]);
        loop {
            let rest = &self.bytes[self.at..];
            let Some(length) = rest.iter().position(|&b| b == b'"') else {
                return Err(self.error(opened, "a quote is opened and never closed"));
            };
            let part = &rest[..length];
            self.line += part.iter().map(|&b| usize::from(b == b'\n')).sum::<usize>();
            self.at += length + 1;
            if cell.is_empty() {
                cell = Cow::Borrowed(part);
            } else {
                cell.to_mut().extend_from_slice(part);
            }
            if self.peek() != Some(b'"') {
                break;
            }
            cell.to_mut().push(b'"');
            self.at += 1;
        }
        self.after_quote()?;
        Ok(cell)
    }

    /// After a closing quote only spaces may follow before the cell ends.
    fn after_quote(&mut self) -> Result<()> {
        self.at += self.bytes[self.at..].iter().take_while(|&&b| b == b' ').count();
        match self.peek() {
            None | Some(b'\n' | b'\r') => Ok(()),
            Some(b) if b == self.delimiter => Ok(()),
            Some(_) => Err(self.error(self.line, "text follows a closing quote; a quote inside a cell is doubled")),
        }
    }

    fn error(&self, line: usize, what: &str) -> Error {
        Error::new(format!("{}: line {line}: {what}", self.source))
    }
}

/// The place of the first delimiter or line end, or the length: eight bytes at a time.
#[inline]
fn end_of_cell(bytes: &[u8], delimiter: u8) -> usize {
    const ONES: u64 = u64::MAX / 255;
    // The high bit of each byte that is 0, and perhaps of some behind the first of these (Mycroft, 1987).
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let is = |byte: u8| zeros(word ^ (ONES * u64::from(byte)));
        let found = is(delimiter) | is(b'\n') | is(b'\r');
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes[at..].iter().position(|&b| b == delimiter || b == b'\n' || b == b'\r');
    rest.map_or(bytes.len(), |length| at + length)
}

/// The delimiter of a text: of comma, semicolon and tab the one most frequent in the first record, comma if there is none. If another one
/// occurs, and every comma is between digits with at most one per cell, the commas belong to numbers.
pub(crate) fn sniff_delimiter(bytes: &[u8]) -> u8 {
    let start = bytes.iter().position(|b| !matches!(b, b' ' | b'\r' | b'\n')).unwrap_or(0);
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let (mut is_quoted, mut inside) = (false, 0);
    for (at, &byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted => break,
            _ if is_quoted => {}
            b',' if is_between_digits(bytes, at) => (counts[0].1, inside) = (counts[0].1 + 1, inside + 1),
            _ => counts.iter_mut().filter(|(d, _)| *d == byte).for_each(|(_, count)| *count += 1),
        }
    }
    let others = counts[1].1 + counts[2].1;
    if others > 0 && counts[0].1 == inside && inside <= others + 1 {
        counts[0].1 = 0;
    }
    let mut best = counts[0];
    for candidate in counts {
        if candidate.1 > best.1 {
            best = candidate;
        }
    }
    best.0
}

fn is_between_digits(bytes: &[u8], at: usize) -> bool {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    is_digit(at.wrapping_sub(1)) && is_digit(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, delimiter: u8) -> Result<Vec<Vec<String>>> {
        let mut records = Records::new(text.as_bytes(), delimiter, "a.csv");
        let (mut cells, mut out) = (Vec::new(), Vec::new());
        while records.next(&mut cells)?.is_some() {
            out.push(cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect());
        }
        Ok(out)
    }

    #[test]
    fn texts_and_their_cells() {
        let cases: &[(&str, &[&[&str]])] = &[
            ("", &[]),
            ("\n\r\n\n", &[]),
            ("a,b\n1,2\n", &[&["a", "b"], &["1", "2"]]),
            ("a,b\r\n1,2", &[&["a", "b"], &["1", "2"]]),
            ("a,b\r1,2\r", &[&["a", "b"], &["1", "2"]]),
            ("a\n\n\nb\n", &[&["a"], &["b"]]),
            (",\n,,\n", &[&["", ""], &["", "", ""]]),
            ("\"a,b\",\"c\nd\"\n", &[&["a,b", "c\nd"]]),
            ("\"say \"\"hi\"\"\",\"\"\n", &[&["say \"hi\"", ""]]),
            ("\"\"\"\",\"\"\"x\"", &[&["\"", "\"x"]]),
            ("1, \"a\" ,2", &[&["1", "a", "2"]]),
            ("5\" pipe, b", &[&["5\" pipe", " b"]]),
        ];
        for (text, wanted) in cases {
            assert_eq!(&all(text, b',').unwrap(), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_cell_ends_at_the_first_delimiter_or_line_end() {
        let texts = [
            "",
            "a",
            "abcdefgh",
            "abcdefg,",
            "abcdefgh,",
            "\u{7f}\u{80}\u{ff}-.+\u{b}\u{c}\u{e}\u{9}, ",
            "1234567\r\n,",
            "12345678901;2\n",
        ];
        for text in texts {
            for delimiter in [b',', b';', b'\t'] {
                let is_end = |b: &u8| [delimiter, b'\n', b'\r'].contains(b);
                let wanted = text.as_bytes().iter().position(is_end).unwrap_or(text.len());
                assert_eq!(end_of_cell(text.as_bytes(), delimiter), wanted, "{text:?}");
            }
        }
    }

    #[test]
    fn messages() {
        let cases = [
            ("a,b\n1,\"2\n3,4\n", "a.csv: line 2: a quote is opened and never closed"),
            ("\"x\ny\"z,1", "a.csv: line 2: text follows a closing quote; a quote inside a cell is doubled"),
        ];
        for (text, wanted) in cases {
            assert_eq!(all(text, b',').unwrap_err().to_string(), wanted);
        }
    }

    #[test]
    fn delimiters() {
        let cases = [
            ("a,b,c\n", b','),
            ("a;b;c\n1,5;2,5;3,5\n", b';'),
            ("a\tb\n", b'\t'),
            ("\"a;b;c\",d\n", b','),
            ("single\n1;2;3\n", b','),
            ("1,5;2,5;3,5\n", b';'),
            ("1,5\t2,5\n", b'\t'),
            ("1,5\n2,5\n", b','),
            ("1,2,3,a;b\n", b','),
            ("1,2,3,4;5\n", b','),
            ("\n\na;b\n", b';'),
            ("", b','),
        ];
        for (text, wanted) in cases {
            assert_eq!(sniff_delimiter(text.as_bytes()), wanted, "{text:?}");
        }
    }
}
