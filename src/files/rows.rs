//! Columns of numbers that are read by ranges of rows, so that data may be larger than memory.

use std::ops::Range;

use crate::error::Result;

/// Columns of numbers that are read by ranges of rows, by any number of threads at a time.
pub trait RowSource: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Names of the columns.
    fn columns(&self) -> &[String];

    /// Reads the rows in `range` of the columns at `places`, each into its buffer, which is as long as the range. A missing number is NaN.
    fn read(&self, range: Range<usize>, places: &[usize], into: &mut [&mut [f64]]) -> Result<()>;

    /// A text that tells these data from others: for a file its size and hashes of blocks spread over it.
    fn fingerprint(&self) -> Result<String>;
}
