//! The first records of a text, to find where its table starts and what is between its names and its rows.

use super::cell::Meaning;
use super::format::Format;
use super::records::Records;

/// Records that are looked at.
const MOST: usize = 200;

/// One record: the line it starts on, where it and the next one start, and its cells without spaces around them.
pub(crate) struct Record<'a> {
    pub(crate) line: usize,
    pub(crate) records: Records<'a>,
    pub(crate) cells: Vec<String>,
}

/// The first records.
pub(crate) struct Sample<'a> {
    pub(crate) records: Vec<Record<'a>>,
}

impl<'a> Sample<'a> {
    /// As many records as are looked at, or as can be split into cells.
    pub(super) fn of(records: &Records<'a>) -> Self {
        let (mut next, mut cells, mut found) = (records.clone(), Vec::new(), Vec::new());
        while found.len() < MOST {
            let before = next.clone();
            let Ok(Some(line)) = next.next(&mut cells) else { break };
            let cells = cells.iter().map(|cell| String::from_utf8_lossy(cell.trim_ascii()).into_owned()).collect();
            found.push(Record { line, records: before, cells });
        }
        Self { records: found }
    }

    /// Whether the records of the usual number of cells all end in an empty one.
    fn ends_empty(&self) -> bool {
        let width = self.width();
        let mut usual = self.records.iter().filter(|record| record.cells.len() == width).peekable();
        usual.peek().is_some() && usual.all(|record| record.cells.last().is_some_and(String::is_empty))
    }

    /// The number of cells of most records.
    pub(super) fn width(&self) -> usize {
        let widths: Vec<usize> = self.records.iter().map(|record| record.cells.len()).collect();
        let count = |width: usize| widths.iter().filter(|other| **other == width).count();
        widths.iter().copied().max_by_key(|width| (count(*width), *width)).unwrap_or(0)
    }

    /// The place of the names, if records before them are no part of the table: they have at most one cell, or fewer than the others, while the
    /// names are texts that differ and numbers are below them.
    pub(crate) fn names_at(&self, format: &Format) -> Option<usize> {
        const MOST_BEFORE: usize = 40;
        // Rows may end in a delimiter more than the names.
        let width = self.width() - usize::from(self.ends_empty());
        if self.is_logger() {
            return Some(1);
        }
        let filled = |at: usize| self.records[at].cells.iter().filter(|cell| !cell.is_empty()).count();
        let is_before = |at: usize| self.records[at].cells.len() < width || width > 2 && filled(at) < 2;
        let at = (0..self.records.len().min(MOST_BEFORE)).find(|at| !is_before(*at)).filter(|_| width > 1)?;
        let has_rows = self.records.len() >= at + 3 && self.has_numbers(at + 1, format);
        (at > 0 && has_rows && self.are_names(at, format)).then_some(at)
    }

    /// Whether the first line says that a logger of Campbell Scientific wrote the file: its second line has the names.
    fn is_logger(&self) -> bool {
        let first = self.records.first().and_then(|record| record.cells.first());
        self.records.len() > 2 && first.is_some_and(|cell| ["TOA5", "TOACI1"].contains(&cell.as_str()))
    }

    /// Whether a record can hold names: texts that differ, without a number; the last may be empty.
    pub(super) fn are_names(&self, at: usize, format: &Format) -> bool {
        let cells = &self.records[at].cells;
        let named = match cells.split_last() {
            Some((last, named)) if last.is_empty() => named,
            _ => cells,
        };
        let mut sorted: Vec<&String> = named.iter().collect();
        sorted.sort();
        let differ = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        differ && named.iter().all(|cell| !cell.is_empty() && !format.is_number(cell.as_bytes()))
    }

    /// Whether a number is in the records from a place on.
    pub(super) fn has_numbers(&self, from: usize, format: &Format) -> bool {
        let cells = self.records.iter().skip(from).flat_map(|record| &record.cells);
        cells.into_iter().any(|cell| format.is_number(cell.as_bytes()))
    }

    /// How many records from a place on are no rows, though they have a cell for every column: they hold texts where all others hold numbers, such
    /// as units, or what a logger did with the values. One column of numbers is not enough to tell.
    pub(crate) fn units(&self, from: usize, format: &Format) -> usize {
        const MOST_UNITS: usize = 3;
        const FEWEST_ROWS: usize = 3;
        let width = self.records.get(from).map_or(0, |record| record.cells.len());
        let meaning = |at: usize, column: usize| {
            self.records[at].cells.get(column).map_or(Meaning::Missing, |cell| format.meaning(cell.as_bytes()))
        };
        let is_number = |at, column| matches!(meaning(at, column), Meaning::Number(_));
        let texts = |at, columns: &[usize]| columns.iter().filter(|j| meaning(at, **j) == Meaning::Text).count();
        (1..=MOST_UNITS)
            .filter(|count| self.records.len() >= from + count + FEWEST_ROWS)
            .find(|&count| {
                let rows = from + count..self.records.len();
                let is_numeric = |column: &usize| {
                    rows.clone().all(|at| meaning(at, *column) != Meaning::Text)
                        && rows.clone().filter(|at| is_number(*at, *column)).count() >= FEWEST_ROWS
                };
                let columns: Vec<usize> = (0..width).filter(is_numeric).collect();
                let is_unit =
                    |at: usize| texts(at, &columns) >= 2 && columns.iter().all(|column| !is_number(at, *column));
                (from..from + count).all(is_unit)
            })
            .unwrap_or(0)
    }
}
