//! Consecutive rows as they are handed over, wherever they are.

use std::ops::Range;

/// Consecutive rows.
pub(crate) struct Part<'p> {
    /// The formula's columns.
    pub columns: &'p [&'p [f64]],
    pub y: &'p [f64],
    pub sigma: Option<&'p [f64]>,
    /// For each end of each integral, places in its grid.
    pub places: &'p [&'p [u32]],
    /// Groups, each with its rows in the part.
    pub runs: &'p [(usize, Range<usize>)],
    /// The given numbers of its rows, from 0.
    pub numbers: Numbers<'p>,
}

/// The given numbers of rows, from 0.
pub(crate) enum Numbers<'p> {
    /// Consecutive ones.
    From(usize),
    Listed(&'p [usize]),
}

impl Numbers<'_> {
    pub(crate) fn of(&self, row: usize) -> usize {
        match self {
            Numbers::From(first) => first + row,
            Numbers::Listed(numbers) => numbers[row],
        }
    }
}

/// The formula's columns, y and sigma.
pub(crate) fn parted<'p>(columns: &'p [&'p [f64]], has_sigma: bool) -> (&'p [&'p [f64]], &'p [f64], Option<&'p [f64]>) {
    let (columns, sigma) = columns.split_at(columns.len() - usize::from(has_sigma));
    let (columns, y) = columns.split_at(columns.len() - 1);
    (columns, y[0], sigma.first().copied())
}
