//! What every source of rows checks: its columns, and what is requested of it.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::files::RowSource;

/// More columns than a table of rows has; an array with so many is probably transposed.
const MOST_COLUMNS: usize = 1 << 20;

/// Errors on a table without columns or rows, and on a repeated name.
pub(crate) fn check_columns(source: &str, names: &[String], rows: usize) -> Result<()> {
    let refused = |what: &str| Err(Error::new(format!("{source}: {what}")));
    if rows == 0 {
        return refused("has no rows");
    }
    if names.is_empty() {
        return refused("has no columns");
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => refused(&format!("two columns are named \"{}\"", pair[0])),
        None => Ok(()),
    }
}

/// Errors on too many columns, before their names are made.
pub(crate) fn check_width(source: &str, width: usize) -> Result<()> {
    if width <= MOST_COLUMNS {
        return Ok(());
    }
    Err(Error::new(format!("{source}: has {width} columns, expected at most {MOST_COLUMNS}; is it transposed?")))
}

/// Asserts what every source may expect of a call of [`RowSource::read`].
#[track_caller]
pub(crate) fn check_request(source: &dyn RowSource, range: &Range<usize>, places: &[usize], into: &[&mut [f64]]) {
    let (rows, width) = (source.rows(), source.columns().len());
    assert!(range.start <= range.end && range.end <= rows, "rows {range:?} of {rows}");
    assert!(places.iter().all(|place| *place < width), "columns {places:?} of {width}");
    assert_eq!(places.len(), into.len(), "a buffer per column");
    assert!(into.iter().all(|buffer| buffer.len() == range.len()), "buffers as long as the range");
}
