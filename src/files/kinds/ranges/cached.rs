//! The first rows of some columns of a source, kept in memory.

use std::ops::Range;

use super::checks::check_request;
use crate::error::{Error, Result};
use crate::files::RowSource;
use crate::host;

/// A source whose first rows are in memory, in the columns that are wanted; other rows are read from it.
pub struct Cached {
    source: Box<dyn RowSource>,
    /// For each column its first rows, if it is wanted.
    columns: Vec<Option<Vec<f64>>>,
    rows: usize,
}

/// Rows that are read at a time.
const PART: usize = 1 << 18;

impl Cached {
    /// Keeps so many rows, at most all, of the columns at `places`. Errors if they do not fit into memory.
    pub fn new(source: Box<dyn RowSource>, places: &[usize], rows: usize) -> Result<Self> {
        let rows = rows.min(source.rows());
        let bytes = places.len().saturating_mul(rows).saturating_mul(8);
        if bytes as u64 > host::memory_bytes() {
            let limit = host::memory_bytes();
            return Err(Error::new(format!(
                "{rows} rows of {} columns take {bytes} bytes, more than the {limit} that may be used: expected --strategy chunked or streaming",
                places.len()
            )));
        }
        let mut kept = vec![vec![0.0; rows]; places.len()];
        for start in (0..rows).step_by(PART) {
            let range = start..rows.min(start + PART);
            let mut into: Vec<&mut [f64]> = kept.iter_mut().map(|column| &mut column[range.clone()]).collect();
            source.read(range, places, &mut into)?;
        }
        let mut columns = vec![None; source.columns().len()];
        places.iter().zip(kept).for_each(|(&place, column)| columns[place] = Some(column));
        Ok(Self { source, columns, rows })
    }
}

impl RowSource for Cached {
    fn rows(&self) -> usize {
        self.source.rows()
    }

    fn columns(&self) -> &[String] {
        self.source.columns()
    }

    fn read(&self, range: Range<usize>, places: &[usize], into: &mut [&mut [f64]]) -> Result<()> {
        check_request(self, &range, places, into);
        if range.start >= self.rows {
            return self.source.read(range, places, into);
        }
        let held = range.start..range.end.min(self.rows);
        for (&place, buffer) in places.iter().zip(into.iter_mut()) {
            let Some(column) = &self.columns[place] else { return self.source.read(range, places, into) };
            buffer[..held.len()].copy_from_slice(&column[held.clone()]);
        }
        if held.end == range.end {
            return Ok(());
        }
        let mut rest: Vec<&mut [f64]> = into.iter_mut().map(|buffer| &mut buffer[held.len()..]).collect();
        self.source.read(held.end..range.end, places, &mut rest)
    }

    fn fingerprint(&self) -> Result<String> {
        self.source.fingerprint()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Generated;
    use super::*;

    #[test]
    fn kept_rows_are_those_of_the_source() {
        let source = || {
            Generated::new(10, &["a", "b", "c"], |row, into| {
                into.copy_from_slice(&[row as f64, row as f64 + 0.5, -(row as f64)]);
            })
        };
        let cached = Cached::new(Box::new(source().unwrap()), &[2, 0], 6).unwrap();
        for (range, places) in [(0..6, [0, 2]), (4..9, [2, 0]), (7..10, [0, 2]), (1..8, [1, 0]), (9..10, [0, 2])] {
            let (mut own, mut other) = ([[0.0; 10]; 2], [[0.0; 10]; 2]);
            let count = range.len();
            let mut into = own.iter_mut().map(|column| &mut column[..count]).collect::<Vec<_>>();
            cached.read(range.clone(), &places, &mut into).unwrap();
            let mut into = other.iter_mut().map(|column| &mut column[..count]).collect::<Vec<_>>();
            source().unwrap().read(range, &places, &mut into).unwrap();
            assert_eq!(own, other);
        }
    }
}
