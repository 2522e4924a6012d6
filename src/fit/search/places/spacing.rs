//! How far apart the values of a column are: a sinusoid that turns more than once in two of them has an equal that turns less.

use crate::error::Result;
use crate::fit::rows::Problem;

/// Rows whose values are looked at, at most: consecutive ones, since those of a series are next to each other.
const ROWS: usize = 20_000;
/// Values that differ by less than this share of the mean distance are one.
const NEAR: f64 = 1e-3;
/// Values are evenly spaced if their distances differ by less than this share.
const EVEN: f64 = 1e-6;

/// The distances of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spacing {
    /// Of distinct values.
    pub mean: f64,
    /// Whether all are the same, up to rounding.
    pub is_even: bool,
    /// The least value.
    pub first: f64,
}

/// The spacings of the columns of the formula, among some of the rows.
pub(crate) fn spacings(problem: &Problem<'_>, rows: std::ops::Range<usize>) -> Result<Vec<Spacing>> {
    let rows = rows.start..rows.end.min(rows.start + ROWS);
    problem.data.with(rows, |part| part.columns.iter().map(|column| spacing(column)).collect())
}

/// 1 if the column has one value, or none.
fn spacing(column: &[f64]) -> Spacing {
    let mut sorted = column.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else {
        return Spacing { mean: 1.0, is_even: false, first: 0.0 };
    };
    // Values that were computed in different ways differ by rounding.
    let near = NEAR * (last - first) / sorted.len() as f64;
    sorted.dedup_by(|next, before| *next - *before <= near);
    if sorted.len() < 2 {
        return Spacing { mean: 1.0, is_even: false, first };
    }
    let mean = (last - first) / (sorted.len() - 1) as f64;
    // Values are written with some digits only: each may be off its place, none by much.
    let is_at_place = |(at, value): (usize, &f64)| (value - (first + at as f64 * mean)).abs() < 0.01 * mean;
    let is_even = sorted.len() > 2
        && sorted.iter().enumerate().all(is_at_place)
        && sorted
            .windows(2)
            .all(|pair| (pair[1] - pair[0] - mean).abs() < EVEN.max(4.0 * f64::EPSILON * last.abs() / mean) * mean);
    Spacing { mean, is_even, first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_columns_are_told_from_others() {
        let even: Vec<f64> = (0..50).map(|row| 7.0 + 0.5 * f64::from(row % 25)).collect();
        assert_eq!(spacing(&even), Spacing { mean: 0.5, is_even: true, first: 7.0 });
        // The same times, computed in two ways: 0.1 + 0.1 + 0.1 is not 0.3.
        let mut sum = 0.0;
        let added = (0..50).map(|_| {
            sum += 0.1;
            sum - 0.1
        });
        let both: Vec<f64> = added.chain((0..50).map(|row| 0.1 * f64::from(row))).collect();
        assert!(spacing(&both).is_even && (spacing(&both).mean - 0.1).abs() < 1e-12);
        assert_eq!(spacing(&[]), Spacing { mean: 1.0, is_even: false, first: 0.0 });
        let tenths: Vec<f64> = (0..50).map(|row| 0.1 * f64::from(row)).collect();
        assert!(spacing(&tenths).is_even);
        let uneven: Vec<f64> = (0..50).map(|row| f64::from(row) + 0.01 * f64::from(row % 3)).collect();
        assert!(!spacing(&uneven).is_even);
        assert_eq!(spacing(&[3.0, 3.0]), Spacing { mean: 1.0, is_even: false, first: 3.0 });
    }
}
