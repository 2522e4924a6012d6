//! The largest batch that fits, by trial: a batch is tried, grows while memory holds, and shrinks where it does not.
//!
//! `mero train --memory-budget` and [`Recompute::Within`](meromorph::device::Recompute) need no trial, as a plan knows its memory before anything is
//! allocated. The search is for steps that are no plan, and for limits that only the device knows.

use meromorph::device::Device;
use meromorph::error::{Error, ErrorKind, Result};
use meromorph::profile::MemoryProfile;

/// A search for the largest batch whose step fits a budget and the device.
///
/// ```
/// use meromorph_tenflowers::BatchSearch;
///
/// // A step takes 3 MiB and 64 KiB for each row.
/// let found = BatchSearch::within_mb(16.0).from(32).run(|rows| Ok(3.0 + rows as f64 / 16.0))?;
/// assert_eq!(found.rows, 208);
/// # Ok::<(), meromorph::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchSearch {
    budget_mb: f64,
    first: usize,
    most: usize,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Rows of the largest batch that fits.
    pub rows: usize,
    /// What it needs at most at once, in units of 2^20 bytes.
    pub peak_mb: f64,
    /// Every trial, in order.
    pub tried: Vec<Tried>,
}

/// One trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// Rows of the batch.
    pub rows: usize,
    /// The most memory in use at once, in units of 2^20 bytes; `None` if the device had too little.
    pub peak_mb: Option<f64>,
    /// Whether it fits the budget.
    pub fits: bool,
}

impl BatchSearch {
    /// With a budget for the most memory in use at once, in units of 2^20 bytes.
    pub fn within_mb(budget_mb: f64) -> Self {
        Self { budget_mb, first: 32, most: 1 << 24 }
    }

    /// Starts with a batch of so many rows instead of 32.
    #[must_use]
    pub fn from(self, rows: usize) -> Self {
        Self { first: rows, ..self }
    }

    /// Tries no larger batch, such as one of all rows.
    #[must_use]
    pub fn up_to(self, rows: usize) -> Self {
        Self { most: rows, ..self }
    }

    /// Searches: doubles the batch while it fits, halves it while it does not, then narrows the gap in between down to a single row. `step` makes a step of
    /// so many rows and returns the most memory in use at once, as [`GradientMemoryProfiler::get_peak_usage_mb`](crate::GradientMemoryProfiler) does; an
    /// error of the device, such as too little memory, shrinks the batch like a budget that is exceeded, any other one ends the search.
    ///
    /// Errors if the budget is not positive, a size is 0, or a single row does not fit.
    pub fn run(&self, mut step: impl FnMut(usize) -> Result<f64>) -> Result<Found> {
        let Self { budget_mb, first, most } = *self;
        if budget_mb.is_nan() || budget_mb <= 0.0 {
            return Err(Error::usage(format!("batch search: budget: got {budget_mb} MiB, expected more than 0")));
        }
        if first == 0 || most == 0 {
            return Err(Error::usage("batch search: rows: got 0, expected at least 1"));
        }
        let (mut tried, mut refused) = (Vec::new(), None);
        let mut fits = |rows: usize| -> Result<bool> {
            let peak_mb = match step(rows) {
                Ok(peak_mb) => Some(peak_mb),
                Err(error) if error.kind() == ErrorKind::Device => {
                    refused = Some(error);
                    None
                }
                Err(error) => return Err(error),
            };
            let fits = peak_mb.is_some_and(|peak_mb| peak_mb <= budget_mb);
            tried.push(Tried { rows, peak_mb, fits });
            Ok(fits)
        };
        // The largest that fits, and the smallest that does not.
        let (mut low, mut high) = (0, most.saturating_add(1));
        let mut rows = first.min(most);
        while low + 1 < high {
            if fits(rows)? {
                low = rows;
                rows = if high > most { rows.saturating_mul(2).min(most) } else { low + (high - low) / 2 };
            } else {
                high = rows;
                rows = if low == 0 { rows / 2 } else { low + (high - low) / 2 };
            }
            if rows == low || rows == high {
                break;
            }
        }
        let peak_mb = tried.iter().find(|one| one.rows == low && one.fits).and_then(|one| one.peak_mb);
        let Some(peak_mb) = peak_mb else {
            let none = format!("a batch of 1 row does not fit: got {budget_mb} MiB, expected more");
            return Err(refused.unwrap_or_else(|| Error::new(none)).within("batch search"));
        };
        Ok(Found { rows: low, peak_mb, tried })
    }

    /// Searches by the memory of a device: `step` makes a step of so many rows there.
    ///
    /// ```
    /// use meromorph_tenflowers::BatchSearch;
    /// use meromorph::prelude::*;
    ///
    /// let device = Device::cpu(1);
    /// // Rows of 65,536 numbers, 256 KiB each.
    /// let found = BatchSearch::within_mb(8.0).run_on(&device, |rows| {
    ///     let batch = Tensor::from_f32(&device, [rows, 1 << 16], &vec![1.0; rows << 16])?;
    ///     pollster::block_on(batch.to_f32()).map(drop)
    /// })?;
    /// assert_eq!((found.rows, found.peak_mb), (32, 8.0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn run_on(&self, device: &Device, mut step: impl FnMut(usize) -> Result<()>) -> Result<Found> {
        self.run(|rows| {
            // Blocks that are kept for reuse count as free.
            device.trim();
            let profile = MemoryProfile::of(device);
            let done = step(rows).and_then(|()| device.flush());
            profile.end();
            done.map(|()| profile.peak_bytes() as f64 / f64::from(1 << 20))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(found: &Found) -> Vec<usize> {
        found.tried.iter().map(|one| one.rows).collect()
    }

    /// The budget holds 11 rows; the device refuses more than 20.
    #[test]
    fn a_batch_grows_and_shrinks_until_one_more_row_is_too_many() {
        let step = |rows: usize| if rows > 20 { Err(Error::device("device: no memory")) } else { Ok(rows as f64) };
        let found = BatchSearch::within_mb(11.5).from(4).run(step).unwrap();
        assert_eq!((found.rows, found.peak_mb, rows(&found)), (11, 11.0, vec![4, 8, 16, 12, 10, 11]));
        let found = BatchSearch::within_mb(100.0).from(64).run(step).unwrap();
        assert_eq!((found.rows, rows(&found)), (20, vec![64, 32, 16, 24, 20, 22, 21]));
        assert_eq!(found.tried[0].peak_mb, None);
        assert_eq!(BatchSearch::within_mb(100.0).up_to(15).run(step).unwrap().rows, 15);
        assert_eq!(BatchSearch::within_mb(1.0).run(step).unwrap().rows, 1);
    }

    #[test]
    fn what_never_fits_and_other_errors_are_errors() {
        let none = BatchSearch::within_mb(0.5).run(|rows| Ok(rows as f64)).unwrap_err().to_string();
        assert_eq!(none, "batch search: a batch of 1 row does not fit: got 0.5 MiB, expected more");
        let other = BatchSearch::within_mb(1.0).run(|_| Err(Error::usage("broken"))).unwrap_err().to_string();
        assert_eq!(other, "broken");
        assert!(BatchSearch::within_mb(f64::NAN).run(|_| Ok(1.0)).is_err());
    }
}
