//! Delimited text that is read piece by piece, in constant memory, by the rules of [`super::read`] but one: a column is numbers, so that the first of
//! its cells that is none is reported, not counted.

use std::io::{self, Read};

use super::{Format, chunks, numbers_of, read_names, records};
use crate::error::{Error, Result};
use crate::files::table::no_number;
use crate::files::text::number_column::Tally;
use crate::files::text::records::Records;

/// Bytes of a piece, unless a record is longer.
const PIECE_BYTES: usize = 8 << 20;

/// The longest record. Without a limit a quote that is never closed would fill the memory.
const MOST_BYTES: usize = 256 << 20;

/// The columns of a delimited text, piece by piece.
pub struct Pieces<'a, R> {
    piece_bytes: usize,
    from: R,
    source: &'a str,
    format: Format,
    delimiter: u8,
    names: Vec<String>,
    /// What is read and not yet parsed.
    text: Vec<u8>,
    is_last: bool,
    /// Rows and lines before `text`.
    rows: usize,
    lines: usize,
    kinds: Vec<ColumnTally>,
}

/// What the cells of a column are so far.
#[derive(Clone, Default)]
struct ColumnTally {
    plain: usize,
    percent: Option<usize>,
    text: Option<(usize, String)>,
}

impl<'a, R: Read> Pieces<'a, R> {
    /// Reads the names of the columns. `source` and `format` are those of [`super::read`].
    pub fn new(from: R, source: &'a str, format: impl Into<Format>) -> Result<Self> {
        Self::of(PIECE_BYTES, from, source, format.into())
    }

    fn of(piece_bytes: usize, from: R, source: &'a str, format: Format) -> Result<Self> {
        let mut pieces = Self {
            piece_bytes,
            from,
            source,
            format,
            delimiter: b',',
            names: Vec::new(),
            text: Vec::new(),
            is_last: false,
            rows: 0,
            lines: 1,
            kinds: Vec::new(),
        };
        pieces.fill(piece_bytes)?;
        while pieces.complete_bytes()? == 0 && !pieces.is_last {
            pieces.grow()?;
        }
        let mut found = records(&pieces.text, source, &pieces.format)?;
        let before = pieces.text.len() - found.rest().len();
        pieces.delimiter = found.delimiter();
        let whole = found.rest();
        let (names, width) = read_names(&mut found, source, &pieces.format)?;
        let header = whole.len() - found.rest().len();
        pieces.lines += lines(&whole[..header]);
        (pieces.names, pieces.kinds) = (names, vec![ColumnTally::default(); width]);
        pieces.text.drain(..before + header);
        Ok(pieces)
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns of the next rows, NaN where there is no number; `None` at the end.
    pub fn next_rows(&mut self) -> Result<Option<Vec<Vec<f64>>>> {
        let complete = loop {
            self.fill(self.piece_bytes)?;
            let complete = if self.is_last { self.text.len() } else { self.complete_bytes()? };
            if complete > 0 || self.is_last {
                break complete;
            }
            self.grow()?;
        };
        if complete == 0 {
            return Ok(None);
        }
        let part = self.records().part(0, complete).starting_on_line(self.lines);
        let columns =
            numbers_of(&chunks::divided(&part), &part, self.names.len(), self.rows, self.source, &self.format)?;
        let mut rows = 0;
        let numbers = columns.into_iter().zip(&mut self.kinds).map(|(column, kind)| {
            let (values, tally) = column.into_numbers();
            kind.add(tally, self.rows);
            rows = values.len();
            values
        });
        let numbers = numbers.collect();
        self.rows += rows;
        self.lines += lines(&self.text[..complete]);
        self.text.drain(..complete);
        Ok(Some(numbers))
    }

    /// For each column the error about the first of its cells that is no number, if there is one: `wine.csv: row 17, column "alcohol": …`.
    pub fn wrong_cells(&self) -> Vec<Option<Error>> {
        let wrong = self.names.iter().zip(&self.kinds).map(|(name, kind)| {
            let (row, what) = kind.wrong()?;
            Some(Error::new(format!("{}: row {}, column \"{name}\": {what}", self.source, row + 1)))
        });
        wrong.collect()
    }

    fn records(&self) -> Records<'_> {
        Records::new(&self.text, self.delimiter, self.source)
    }

    /// Reads until the text has so many bytes or there are no more.
    fn fill(&mut self, bytes: usize) -> Result<()> {
        let missing = bytes.saturating_sub(self.text.len()) as u64;
        if self.is_last || missing == 0 {
            return Ok(());
        }
        let read = self.from.by_ref().take(missing).read_to_end(&mut self.text);
        let unreadable = |e: io::Error| Error::new(format!("{}: cannot be read: {e}", self.source));
        self.is_last = (read.map_err(unreadable)? as u64) < missing;
        Ok(())
    }

    /// Reads more of a record that is longer than the text.
    fn grow(&mut self) -> Result<()> {
        if self.text.len() < MOST_BYTES {
            return self.fill(2 * self.text.len());
        }
        // If the record is wrong, its own error says more.
        self.records().starting_on_line(self.lines).next(&mut Vec::new())?;
        let (source, line, most) = (self.source, self.lines, MOST_BYTES >> 20);
        Err(Error::new(format!(
            "{source}: line {line}: a row has more than {most} MiB, which is not read by ranges of rows"
        )))
    }

    /// The bytes of the records that surely end within the text.
    fn complete_bytes(&self) -> Result<usize> {
        if !self.text.contains(&b'"') {
            let end = |byte: u8, text: &[u8]| text.iter().rposition(|b| *b == byte).map_or(0, |at| at + 1);
            // A CR at the end may belong to an LF that is still to be read.
            let text = &self.text[..self.text.len().saturating_sub(1)];
            return Ok(match end(b'\n', &self.text) {
                0 => end(b'\r', text),
                at => at,
            });
        }
        let (mut records, mut cells) = (self.records(), Vec::new());
        loop {
            let start = records.start();
            // An error in the middle may only mean that the record continues.
            let is_complete = matches!(records.next(&mut cells), Ok(Some(_))) && !records.rest().is_empty();
            if !is_complete {
                return Ok(start);
            }
        }
    }
}

impl ColumnTally {
    fn add(&mut self, part: Tally, rows: usize) {
        self.plain += part.plain;
        self.percent = self.percent.or(part.percent.map(|row| rows + row));
        if self.text.is_none() {
            self.text = part.text.map(|(row, text)| (rows + row, text));
        }
    }

    /// The first wrong cell and what it is. Numbers of percent among plain numbers could be either.
    fn wrong(&self) -> Option<(usize, String)> {
        let mixed = self.percent.filter(|_| self.plain > 0);
        let mixed = mixed.map(|row| (row, "a number of percent among plain numbers".to_owned()));
        let text = self.text.as_ref().map(|(row, text)| (*row, no_number(text)));
        [mixed, text].into_iter().flatten().min_by_key(|(row, _)| *row)
    }
}

/// The number of line ends.
fn lines(text: &[u8]) -> usize {
    let count = |byte: u8| text.iter().map(|b| usize::from(*b == byte)).sum();
    match count(b'\n') {
        0 => count(b'\r'),
        lines => lines,
    }
}

#[cfg(test)]
#[path = "csv_pieces_tests.rs"]
mod tests;
