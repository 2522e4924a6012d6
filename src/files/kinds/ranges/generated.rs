//! Columns that are computed, for tests and for synthetic data of any size.

use std::ops::Range;

use sha2::{Digest, Sha256};

use super::checks::{check_columns, check_request};
use crate::error::Result;
use crate::files::RowSource;

/// Rows that are in a fingerprint.
const SAMPLES: usize = 64;

/// Columns whose numbers a function computes from the number of the row. The same row must always have the same numbers.
///
/// ```
/// use meromorph::files::RowSource;
/// use meromorph::files::ranges::Generated;
/// let rows = Generated::new(1_000_000_000_000, &["t", "y"], |row, into| {
///     into[0] = row as f64;
///     into[1] = (-1e-12 * row as f64).exp();
/// })?;
/// let mut t = [0.0; 2];
/// rows.read(999_999_999_998..1_000_000_000_000, &[0], &mut [&mut t])?;
/// assert_eq!(t, [999_999_999_998.0, 999_999_999_999.0]);
/// # Ok::<(), meromorph::Error>(())
/// ```
pub struct Generated<F> {
    rows: usize,
    names: Vec<String>,
    row: F,
}

impl<F: Fn(usize, &mut [f64]) + Sync> Generated<F> {
    /// `row` gets the number of a row and fills one number per column. Errors on no rows, no columns and repeated names.
    pub fn new(rows: usize, names: &[&str], row: F) -> Result<Self> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        check_columns("generated rows", &names, rows)?;
        Ok(Self { rows, names, row })
    }
}

impl<F: Fn(usize, &mut [f64]) + Sync> RowSource for Generated<F> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> &[String] {
        &self.names
    }

    fn read(&self, range: Range<usize>, places: &[usize], into: &mut [&mut [f64]]) -> Result<()> {
        check_request(self, &range, places, into);
        let mut numbers = vec![f64::NAN; self.names.len()];
        for (at, row) in range.enumerate() {
            (self.row)(row, &mut numbers);
            places.iter().zip(into.iter_mut()).for_each(|(place, buffer)| buffer[at] = numbers[*place]);
        }
        Ok(())
    }

    /// The number of rows and a SHA-256 of the names and of 64 rows spread over all.
    fn fingerprint(&self) -> Result<String> {
        let mut sum = Sha256::new();
        sum.update(self.names.join("\n"));
        let mut numbers = vec![f64::NAN; self.names.len()];
        for sample in 0..SAMPLES {
            let row = (self.rows - 1) as u128 * sample as u128 / (SAMPLES - 1) as u128;
            (self.row)(row as usize, &mut numbers);
            for x in &numbers {
                sum.update(x.to_le_bytes());
            }
        }
        let digits = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Ok(format!("{}-{digits}", self.rows))
    }
}
