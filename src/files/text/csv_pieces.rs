//! Delimited text that is read piece by piece, in constant memory, by the rules of [`super::read`] but one: a column is numbers, so that the first of
//! its cells that is none is reported, not counted.

use std::io::{self, Read};

use super::{Bad, Format, Rows, Start, chunks, numbers_of, start};
use crate::error::{Error, Result};
use crate::files::table::no_number;
use crate::files::text::encoding::has_wide_mark;
use crate::files::text::number_column::Tally;
use crate::files::text::records::{Records, Rules};

/// Bytes of a piece, unless a record is longer.
const PIECE_BYTES: usize = 8 << 20;

/// The bytes by which the start of the table is found.
const START_BYTES: usize = 256 << 10;

/// The longest record. Without a limit a quote that is never closed would fill the memory.
const MOST_BYTES: usize = 256 << 20;

/// The columns of a delimited text, piece by piece.
pub struct Pieces<'a, R> {
    piece_bytes: usize,
    from: R,
    source: &'a str,
    format: Format,
    /// How records and cells are told apart; the comment is beside it, which has no place of its own.
    rules: Rules<'static>,
    comment: Option<Vec<u8>>,
    /// Whether all rows may end in a delimiter more than the names, and whether single ones may.
    ends: [bool; 2],
    names: Vec<String>,
    /// What is read and not yet parsed.
    text: Vec<u8>,
    /// The bytes of it that may be parsed next.
    window: usize,
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
            rules: b','.into(),
            comment: None,
            ends: [false; 2],
            names: Vec::new(),
            text: Vec::new(),
            window: START_BYTES.max(piece_bytes),
            is_last: false,
            rows: 0,
            lines: 1,
            kinds: Vec::new(),
        };
        let complete = pieces.next_complete()?;
        if has_wide_mark(&pieces.text) || pieces.format.layout.encoding.as_ref().is_some_and(|name| name != "utf-8") {
            let what = "is not UTF-8 text, which alone is read by ranges of rows; save it as UTF-8";
            return Err(Error::new(format!("{source}: {what}")));
        }
        let mark = usize::from(pieces.text.starts_with(b"\xef\xbb\xbf")) * 3;
        let whole = &pieces.text[mark..complete.max(mark)];
        let Start { names, rows, .. } = start(whole, source, &pieces.format)?;
        let header = whole.len() - rows.rest().len();
        let Rules { comment, delimiter, is_spaced, escape } = rows.rules();
        let (comment, ends) = (comment.map(<[u8]>::to_vec), rows.ends());
        pieces.lines += lines(&whole[..header]);
        pieces.rules = Rules { delimiter, is_spaced, comment: None, escape };
        (pieces.comment, pieces.ends) = (comment, ends);
        pieces.kinds = vec![ColumnTally::default(); names.len()];
        pieces.names = names;
        pieces.text.drain(..mark + header);
        pieces.window = piece_bytes;
        Ok(pieces)
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns of the next rows, NaN where there is no number; `None` at the end.
    pub fn next_rows(&mut self) -> Result<Option<Vec<Vec<f64>>>> {
        let complete = self.next_complete()?;
        self.window = self.piece_bytes;
        if complete == 0 {
            return Ok(None);
        }
        let part = self.rows_of(&self.text[..complete]);
        let (columns, _) = numbers_of(&chunks::divided(&part), &part, &self.format)?;
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

    /// The bytes of the next records that are complete; 0 if there are none any more.
    fn next_complete(&mut self) -> Result<usize> {
        loop {
            self.fill(self.window)?;
            let is_all = self.is_last && self.window >= self.text.len();
            let complete = if is_all { self.text.len() } else { self.complete_bytes()? };
            if complete > 0 || is_all {
                return Ok(complete);
            }
            self.grow()?;
        }
    }

    fn records<'t>(&'t self, text: &'t [u8]) -> Records<'t> {
        let rules = Rules { comment: self.comment.as_deref(), ..self.rules };
        Records::new(text, rules, self.source).starting_on_line(self.lines)
    }

    fn rows_of<'t>(&'t self, text: &'t [u8]) -> Rows<'t> {
        Rows {
            records: self.records(text),
            width: self.names.len(),
            source: self.source,
            drops_last: self.ends[0],
            shortens: self.ends[1],
            bad_rows: self.format.layout.bad_rows,
            cause: String::new(),
            row: self.rows,
            bad: Bad::default(),
        }
    }

    /// Reads until the text has so many bytes or there are no more.
    fn fill(&mut self, bytes: usize) -> Result<()> {
        let missing = bytes.saturating_sub(self.text.len()) as u64;
        if self.is_last || missing == 0 {
            return Ok(());
        }
        let before = self.text.len();
        let read = self.from.by_ref().take(missing).read_to_end(&mut self.text);
        let unreadable = |e: io::Error| Error::new(format!("{}: cannot be read: {e}", self.source));
        self.is_last = (read.map_err(unreadable)? as u64) < missing;
        if !has_wide_mark(&self.text) && self.text[before..].contains(&0) {
            let what = "has a byte that is 0, as no text has; a text with few of them is read without, but not by ranges of rows";
            return Err(Error::new(format!("{}: {what}", self.source)));
        }
        Ok(())
    }

    /// Takes more of a record that is longer than the window.
    fn grow(&mut self) -> Result<()> {
        if self.window < MOST_BYTES {
            self.window *= 2;
            return Ok(());
        }
        // If the record is wrong, its own error says more.
        self.records(&self.text).next(&mut Vec::new())?;
        let (source, line, most) = (self.source, self.lines, MOST_BYTES >> 20);
        Err(Error::new(format!(
            "{source}: line {line}: a row has more than {most} MiB, which is not read by ranges of rows"
        )))
    }

    /// The bytes of the records that surely end within the window.
    fn complete_bytes(&self) -> Result<usize> {
        let text = &self.text[..self.window.min(self.text.len())];
        if !text.contains(&b'"') {
            let end = |byte: u8, text: &[u8]| text.iter().rposition(|b| *b == byte).map_or(0, |at| at + 1);
            return Ok(match end(b'\n', text) {
                // A CR at the end may belong to an LF that is still to be read.
                0 => end(b'\r', &text[..text.len().saturating_sub(1)]),
                at => at,
            });
        }
        let (mut records, mut cells) = (self.records(text), Vec::new());
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
