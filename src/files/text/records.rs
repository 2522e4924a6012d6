//! Splits delimited text into records of cells: quotes, doubled quotes, and LF, CRLF or CR line ends. Empty lines are
//! skipped. Cells are slices of the file, except those with doubled quotes. `csv` interprets their contents.

use crate::error::{Error, Result};
use std::borrow::Cow;

/// A cell's bytes, without the quotes around it.
pub(crate) type RawCell<'a> = Cow<'a, [u8]>;

/// How records and cells are told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules<'a> {
    pub(crate) delimiter: u8,
    /// Whether cells are apart by any number of spaces and tabs.
    pub(crate) is_spaced: bool,
    /// Lines that begin with it are skipped.
    pub(crate) comment: Option<&'a [u8]>,
    /// What stands before a quote within quotes, besides another quote.
    pub(crate) escape: Option<u8>,
}

impl From<u8> for Rules<'_> {
    fn from(delimiter: u8) -> Self {
        Self { delimiter, is_spaced: false, comment: None, escape: None }
    }
}

/// An iterator over the records of a text.
#[derive(Clone)]
pub(crate) struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    rules: Rules<'a>,
    source: &'a str,
    /// Where the last record starts and ends, without its line end.
    last: [usize; 2],
}

impl<'a> Records<'a> {
    pub(crate) fn new(bytes: &'a [u8], rules: impl Into<Rules<'a>>, source: &'a str) -> Self {
        Self { bytes, at: 0, line: 1, rules: rules.into(), source, last: [0; 2] }
    }

    /// Fills `cells` with the next record and returns the line (from 1) it starts on, or `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self, cells: &mut Vec<RawCell<'a>>) -> Result<Option<usize>> {
        cells.clear();
        self.skip_to_record();
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let line = self.line;
        self.last[0] = self.at;
        if self.rules.is_spaced {
            return self.spaced(cells).map(|()| Some(line));
        }
        loop {
            cells.push(self.cell()?);
            if self.peek() == Some(self.rules.delimiter) {
                self.at += 1;
            } else {
                self.last[1] = self.at;
                self.end_of_line();
                return Ok(Some(line));
            }
        }
    }

    /// A record whose cells are apart by any number of spaces and tabs, which may also be before and behind it.
    fn spaced(&mut self, cells: &mut Vec<RawCell<'a>>) -> Result<()> {
        self.skip_blanks();
        while !matches!(self.peek(), None | Some(b'\n' | b'\r')) {
            if self.peek() == Some(b'"') {
                self.at += 1;
                cells.push(self.quoted()?);
            } else {
                let rest = &self.bytes[self.at..];
                let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
                let cell = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
                self.at += cell.len();
                cells.push(Cow::Borrowed(cell));
            }
            self.last[1] = self.at;
            self.skip_blanks();
        }
        self.end_of_line();
        Ok(())
    }

    fn skip_blanks(&mut self) {
        self.at += blanks(&self.bytes[self.at..]);
    }

    /// Consumes a comment or a line of blanks here, up to its line end; nothing if there is none. Delimiters are no blanks.
    #[inline]
    fn comment(&mut self) -> bool {
        let may_be_blank = matches!(self.peek(), Some(b' ' | b'\t' | b'\x0c'));
        (may_be_blank || self.rules.comment.is_some()) && self.skip_comment()
    }

    fn skip_comment(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let blanks = blanks(rest);
        let is_comment = |comment: &[u8]| rest[blanks..].starts_with(comment);
        let is_blank = || {
            let is_between = |byte: &u8| *byte == self.rules.delimiter && !self.rules.is_spaced;
            let count = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\x0c') && !is_between(b)).count();
            count > 0 && matches!(rest.get(count), None | Some(b'\n' | b'\r'))
        };
        let is_skipped = self.rules.comment.is_some_and(is_comment) || is_blank();
        if is_skipped {
            self.at += rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
        }
        is_skipped
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
        Self::new(&self.rest()[start..end], self.rules, self.source)
    }

    /// The byte between cells.
    pub(crate) fn delimiter(&self) -> u8 {
        self.rules.delimiter
    }

    /// How records and cells are told apart.
    pub(crate) fn rules(&self) -> Rules<'a> {
        self.rules
    }

    /// The last record alone.
    pub(crate) fn of_last(&self) -> Self {
        Self::new(self.span(), self.rules, self.source)
    }

    /// Goes to the start of the next record, past empty lines and comments.
    pub(crate) fn skip_to_record(&mut self) {
        while self.end_of_line() || self.comment() {}
    }

    /// Goes past empty lines.
    pub(crate) fn skip_to_line(&mut self) {
        while self.end_of_line() {}
    }

    /// Goes past a mark and the blanks behind it at the start of a record, unless the mark is a cell of its own. Returns whether it did.
    pub(crate) fn skip_mark(&mut self, mark: u8, delimiter: Option<u8>) -> bool {
        let rest = &self.bytes[self.at..];
        let start = blanks(rest);
        let Some(behind) = rest[start..].strip_prefix(&[mark]) else { return false };
        let behind = behind.trim_ascii_start();
        let is_cell = behind.first().is_none_or(|byte| b",;|\t".contains(byte) || Some(*byte) == delimiter);
        if !is_cell {
            self.at = self.bytes.len() - behind.len();
        }
        !is_cell
    }

    /// The same records by other rules.
    pub(crate) fn ruled(&self, rules: Rules<'a>) -> Self {
        Self { rules, ..self.clone() }
    }

    /// The line, from 1, where the next record may start.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// Goes past so many lines, whatever is in them. False if there are fewer.
    pub(crate) fn skip_lines(&mut self, lines: usize) -> bool {
        (0..lines).all(|_| {
            let rest = &self.bytes[self.at..];
            self.at += rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
            self.end_of_line()
        })
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
        let cell = &rest[..end_of_cell(rest, self.rules.delimiter)];
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
            let is_end = |&b: &u8| b == b'"' || Some(b) == self.rules.escape;
            let Some(length) = rest.iter().position(is_end) else {
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
            let (found, next) = (rest[length], self.peek());
            if found == b'"' && next != Some(b'"') {
                break;
            }
            // Before anything but itself and a quote, the escape is a letter like others.
            let is_pair = next == Some(b'"') || next == Some(found);
            cell.to_mut().push(if is_pair { next.unwrap_or(found) } else { found });
            self.at += usize::from(is_pair);
        }
        self.after_quote()?;
        Ok(cell)
    }

    /// After a closing quote only spaces may follow before the cell ends.
    fn after_quote(&mut self) -> Result<()> {
        self.at += self.bytes[self.at..].iter().take_while(|&&b| b == b' ').count();
        match self.peek() {
            None | Some(b'\n' | b'\r') => Ok(()),
            Some(b) if b == self.rules.delimiter || self.rules.is_spaced && b == b'\t' => Ok(()),
            // A blank was the delimiter.
            Some(_) if self.rules.delimiter == b' ' && self.bytes[self.at - 1] == b' ' => {
                self.at -= 1;
                Ok(())
            }
            Some(_) => Err(self.error(self.line, AFTER_QUOTE)),
        }
    }

    fn error(&self, line: usize, what: &str) -> Error {
        Error::new(format!("{}: line {line}: {what}", self.source))
    }
}

/// The error about text behind a closing quote.
pub(crate) const AFTER_QUOTE: &str =
    "text follows a closing quote; a quote inside a cell is doubled, or follows the character that escape names";

/// Spaces and tabs at the start of a text.
fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
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

#[cfg(test)]
#[path = "records_tests.rs"]
mod tests;
