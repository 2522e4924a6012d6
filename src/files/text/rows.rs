//! The rows of a table among the records of its text: each has a cell for every column, or the format says what is done with it.

use super::cause::SPACED;
use super::layout::BadRows;
use super::reading::Warning;
use super::records::{RawCell, Records, Rules};
use crate::error::{Error, Result};

/// The largest number of lines that a warning lists.
const LISTED: usize = 10;

/// An iterator over the rows of a text.
#[derive(Clone)]
pub(crate) struct Rows<'a> {
    pub(super) records: Records<'a>,
    pub(super) width: usize,
    pub(super) source: &'a str,
    /// Whether rows may end in a delimiter more than the names.
    pub(super) drops_last: bool,
    /// Whether a row may do so that is not like the others.
    pub(super) shortens: bool,
    pub(super) bad_rows: BadRows,
    /// Why rows may have another number of cells than the names, in words; empty if nothing is known.
    pub(super) cause: String,
    /// Rows so far.
    pub(super) row: usize,
    /// What was done with rows of another number of cells.
    pub(super) bad: Bad,
}

/// Lines of rows with another number of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bad {
    left_out: Vec<usize>,
    filled: Vec<usize>,
    /// Without an empty cell at the end.
    shortened: Vec<usize>,
}

impl<'a> Rows<'a> {
    /// Fills `cells` with the next row and returns the line (from 1) it starts on, or `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self, cells: &mut Vec<RawCell<'a>>) -> Result<Option<usize>> {
        while let Some(line) = self.records.next(cells)? {
            if cells.len() == self.width || self.mends(cells, line)? {
                self.row += 1;
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// Whether a record of another number of cells is a row, whose cells are as many as they should be afterwards.
    #[cold]
    fn mends(&mut self, cells: &mut Vec<RawCell<'a>>, line: usize) -> Result<bool> {
        let got = cells.len();
        let may_end_empty = self.drops_last || self.shortens;
        if may_end_empty && got == self.width + 1 && cells[self.width].trim_ascii().is_empty() {
            cells.pop();
            if !self.drops_last {
                self.bad.shortened.push(line);
            }
            return Ok(true);
        }
        match self.bad_rows {
            BadRows::Refuse => return Err(self.refused(line, got)),
            BadRows::Fill if got < self.width => {
                cells.resize(self.width, RawCell::Borrowed(b""));
                self.bad.filled.push(line);
                return Ok(true);
            }
            _ => self.bad.left_out.push(line),
        }
        Ok(false)
    }

    fn refused(&self, line: usize, got: usize) -> Error {
        let (source, row, width) = (self.source, self.row + 1, self.width);
        let cause = if !self.cause.is_empty() && self.row == 0 {
            self.cause.clone()
        } else if let Some(mark) = self.comment_mark() {
            format!("is it a comment? comment {mark} leaves such lines out")
        } else if got < width && self.records.rules().is_spaced {
            format!("{SPACED}; bad_rows skip leaves such rows out")
        } else if got < width && self.is_last() {
            "is it a line of text below the table? bad_rows skip leaves such rows out".into()
        } else if got < width {
            "bad_rows skip leaves such rows out, and fill takes the cells that lack as missing".into()
        } else {
            "a cell with the delimiter is put in quotes; bad_rows skip leaves such rows out".into()
        };
        Error::new(format!("{source}: row {row} (line {line}): got {got} cells, expected {width}; {cause}"))
    }

    /// What the last record begins with, if comments do.
    fn comment_mark(&self) -> Option<&'static str> {
        let line = self.records.span().trim_ascii_start();
        ["#", "//", "%", "--"].into_iter().find(|mark| line.starts_with(mark.as_bytes()))
    }

    /// Whether only records of too few cells follow, and not many.
    fn is_last(&self) -> bool {
        const MOST: usize = 20;
        let (mut records, mut cells) = (self.records.clone(), Vec::new());
        for _ in 0..MOST {
            match records.next(&mut cells) {
                Ok(None) => return true,
                Ok(Some(_)) if cells.len() < self.width => {}
                _ => return false,
            }
        }
        false
    }

    /// Whether the rows can be read in parts whose lines are not known.
    pub(crate) fn is_divisible(&self) -> bool {
        self.bad_rows == BadRows::Refuse
    }

    /// The rows in a part of the rest, which ends where one does.
    pub(crate) fn part(&self, start: usize, end: usize) -> Self {
        Self { records: self.records.part(start, end), ..self.clone() }
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn delimiter(&self) -> u8 {
        self.records.delimiter()
    }

    pub(crate) fn rules(&self) -> Rules<'a> {
        self.records.rules()
    }

    /// Whether all rows may end in a delimiter more than the names, and whether single ones may.
    pub(crate) fn ends(&self) -> [bool; 2] {
        [self.drops_last, self.shortens]
    }

    /// The line end of the last row; LF if it has none.
    pub(crate) fn line_end(&self) -> &'a [u8] {
        self.records.line_end()
    }

    /// What was done with rows of another number of cells.
    pub(crate) fn into_bad(self) -> Bad {
        self.bad
    }

    /// The bytes that are still to be read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.records.rest()
    }

    /// The bytes of the names as they are written, of which `got` were read; without empty ones that no row has.
    pub(crate) fn header_written(&self, header: &Records<'_>, got: usize) -> Vec<u8> {
        let mut out = header.span().to_vec();
        for _ in self.width..got {
            out.truncate(out.iter().rposition(|byte| *byte == header.delimiter()).unwrap_or(out.len()));
        }
        out
    }

    /// The bytes of the last row as they are written, with a cell for every column.
    pub(crate) fn written(&self, got: &[RawCell<'_>]) -> Vec<u8> {
        let (mut out, delimiter) = (self.records.span().to_vec(), self.records.delimiter());
        if !self.drops_last && self.bad == Bad::default() {
            return out;
        }
        let mut records = self.records.of_last();
        let mut cells = Vec::new();
        let written = records.next(&mut cells).map_or(got.len(), |_| cells.len());
        for _ in written..got.len() {
            out.push(delimiter);
        }
        if written > got.len() {
            out.truncate(out.iter().rposition(|byte| *byte == delimiter).unwrap_or(out.len()));
        }
        out
    }
}

impl Bad {
    /// What a person should know about it.
    pub(crate) fn notes(&self) -> Vec<Warning> {
        let note = |lines: &[usize], what: &str| {
            let shown: Vec<String> = lines.iter().take(LISTED).map(ToString::to_string).collect();
            let more = if lines.len() > LISTED { ", …" } else { "" };
            let (count, shown) = (lines.len(), shown.join(", "));
            let [rows, are, on] =
                if count == 1 { ["row has", "it is", "line"] } else { ["rows have", "they are", "lines"] };
            let same = "another number of cells than there are columns";
            Warning::of_table(format!("{count} {rows} {same}; {are} {what}: {on} {shown}{more}"))
        };
        let of_all = [
            (&self.left_out, "left out"),
            (&self.filled, "filled up with missing cells"),
            (&self.shortened, "read without the empty cell at the end"),
        ];
        of_all.into_iter().filter(|(lines, _)| !lines.is_empty()).map(|(lines, what)| note(lines, what)).collect()
    }
}
