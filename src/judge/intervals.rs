//! Prediction intervals: split conformal (Vovk et al. 2005; Lei et al. 2018) from rows that the weights were not fitted to, and CV+ from the
//! models of a cross-validation (Barber et al. 2021). With n absolute residuals R, the interval of a level is prediction ± the
//! ⌈(n + 1) level⌉-th smallest R; CV+ takes that rank over μ(x) ± R with each row's R from the model μ of the fold that held it out.

use crate::error::{Error, Result};
use crate::math::order::ascending_numbers;
use crate::record;

/// Residuals of one group that are stored; of more, evenly spaced ranks, rounded up.
const STORED: usize = 999;

/// Where calibration rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calibration {
    /// Test rows, which did not influence the model.
    Test,
    /// Validation rows, which chose the best epoch: their errors are slightly too small.
    Validation,
    /// Every row, predicted by the model of the fold that held it out.
    Folds,
}

record! { enum Calibration { Test, Validation, Folds } }

/// The absolute residuals of calibration rows, in the target's units.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    /// Where the rows come from.
    pub calibration: Calibration,
    /// One group for the model itself, or one for each fold.
    pub groups: Vec<ResidualGroup>,
}

record! { Residuals { calibration, groups } }

/// The absolute residuals of one model.
#[derive(Clone, Debug, PartialEq)]
pub struct ResidualGroup {
    /// Number of rows; those whose residual is not finite count as infinite and are not stored.
    pub rows: usize,
    /// Ascending; the last of several equal steps through the ranks if there are many.
    pub sizes: Vec<f64>,
    /// Number of rows with a finite residual.
    pub finite: usize,
}

record! { ResidualGroup { rows, sizes, finite } }

impl ResidualGroup {
    /// From residuals of any sign.
    pub fn of(residuals: &[f64]) -> Self {
        let finite: Vec<f64> = residuals.iter().map(|r| r.abs()).filter(|r| r.is_finite()).collect();
        let sorted: Vec<f64> = ascending_numbers(&finite).into_iter().map(|at| finite[at as usize]).collect();
        let kept = sorted.len().min(STORED);
        let sizes = (1..=kept).map(|at| sorted[(at * sorted.len()).div_ceil(kept) - 1]).collect();
        Self { rows: residuals.len(), sizes, finite: sorted.len() }
    }

    /// The residual of a rank from 1, or a slightly larger one; infinite beyond the last.
    fn at_rank(&self, rank: usize) -> f64 {
        if rank == 0 || rank > self.finite {
            return if rank == 0 { 0.0 } else { f64::INFINITY };
        }
        self.sizes[(rank * self.sizes.len()).div_ceil(self.finite) - 1]
    }

    /// Rows whose residual is at most `size`, as far as the stored ones tell.
    fn at_most(&self, size: f64) -> usize {
        let below = self.sizes.partition_point(|r| *r <= size);
        below * self.finite / self.sizes.len().max(1)
    }
}

impl Residuals {
    /// Number of calibration rows.
    pub fn rows(&self) -> usize {
        self.groups.iter().map(|group| group.rows).sum()
    }

    /// The rank of the calibration rows that a level needs. Errors if there are too few rows for it.
    pub fn rank(&self, level: f64) -> Result<usize> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::usage(format!("interval: got {level}, expected a level between 0 and 1, such as 0.9")));
        }
        let rows = self.rows();
        // A product such as 0.9 · 10 may be a little above the whole number that is meant.
        let rank = |rows: usize| (level * (rows + 1) as f64 - 1e-9).ceil() as usize;
        if rank(rows) <= rows {
            return Ok(rank(rows));
        }
        let needed = ((level - 1e-9) / (1.0 - level)).ceil() as usize;
        Err(Error::new(format!(
            "interval: a level of {level} needs at least {needed} rows that were held out of training, but the model has {rows}"
        )))
    }

    /// The interval of a row from the prediction of each group's model.
    pub(crate) fn interval(&self, rank: usize, centers: &[f64]) -> [f64; 2] {
        if let ([group], [center]) = (self.groups.as_slice(), centers) {
            let half = group.at_rank(rank);
            return [center - half, center + half];
        }
        // The rank-th smallest of μ + R, and by symmetry of -μ + R for the lower end.
        let upper = self.smallest(rank, centers);
        let turned: Vec<f64> = centers.iter().map(|center| -center).collect();
        [-self.smallest(rank, &turned), upper]
    }

    /// The smallest t such that at least `rank` rows have μ + R ≤ t, by bisection.
    fn smallest(&self, rank: usize, centers: &[f64]) -> f64 {
        let groups = || self.groups.iter().zip(centers);
        let count = |t: f64| groups().map(|(group, center)| group.at_most(t - center)).sum::<usize>();
        let ends =
            groups().filter_map(|(group, center)| Some((center + group.sizes.first()?, center + group.sizes.last()?)));
        let (mut low, mut high) =
            ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (a, b)| (low.min(a), high.max(b)));
        if low > high || count(high) < rank {
            return f64::INFINITY;
        }
        low -= (high - low).max(f64::MIN_POSITIVE);
        for _ in 0..64 {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if count(middle) >= rank { high = middle } else { low = middle }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(count: usize) -> Residuals {
        let residuals: Vec<f64> = (1..=count).map(|r| if r % 2 == 0 { -(r as f64) } else { r as f64 }).collect();
        Residuals { calibration: Calibration::Test, groups: vec![ResidualGroup::of(&residuals)] }
    }

    #[test]
    fn the_rank_is_that_of_a_finite_sample() {
        // ⌈(n + 1) level⌉; 9 rows are the fewest for 0.9 and 19 for 0.95.
        for (rows, level, expected) in [(9, 0.9, 9), (19, 0.95, 19), (99, 0.9, 90), (100, 0.9, 91), (4, 0.5, 3)] {
            assert_eq!(single(rows).rank(level).unwrap(), expected, "{rows} rows, {level}");
        }
        assert_eq!(single(99).interval(90, &[5.0]), [-85.0, 95.0]);
        let few = single(8).rank(0.9).unwrap_err().to_string();
        assert_eq!(
            few,
            "interval: a level of 0.9 needs at least 9 rows that were held out of training, but the model has 8"
        );
        assert!(single(18).rank(0.95).unwrap_err().to_string().contains("at least 19 rows"));
        for level in [0.0, 1.0, f64::NAN, 90.0] {
            assert!(single(99).rank(level).unwrap_err().to_string().contains("between 0 and 1"));
        }
    }

    #[test]
    fn of_many_residuals_some_ranks_are_stored_and_rounded_up() {
        let many = single(100_000);
        assert_eq!(many.groups[0].sizes.len(), STORED);
        for rank in [1, 50_000, 90_001, 100_000] {
            let got = many.groups[0].at_rank(rank) - rank as f64;
            assert!((0.0..=101.0).contains(&got), "rank {rank}: {got}");
        }
        let odd = ResidualGroup::of(&[1.0, f64::NAN, f64::INFINITY, 2.0]);
        assert_eq!([odd.at_rank(2), odd.at_rank(3)], [2.0, f64::INFINITY]);
    }

    #[test]
    fn cross_validated_intervals_are_quantiles_of_shifted_residuals() {
        let group = |from: i32| ResidualGroup::of(&(0..20).map(|r| f64::from(from + 7 * r % 20)).collect::<Vec<_>>());
        let residuals = Residuals { calibration: Calibration::Folds, groups: vec![group(0), group(10), group(3)] };
        let centers = [1.0, -4.0, 30.0];
        for rank in [1, 17, 55, 60] {
            let ends = |sign: f64| {
                let groups = residuals.groups.iter().zip(centers);
                let mut all: Vec<f64> = groups.flat_map(|(g, m)| g.sizes.iter().map(move |r| m + sign * r)).collect();
                all.sort_by(f64::total_cmp);
                all
            };
            let [lower, upper] = residuals.interval(rank, &centers);
            assert!((upper - ends(1.0)[rank - 1]).abs() < 1e-9, "rank {rank}: {upper}");
            assert!((lower - ends(-1.0)[60 - rank]).abs() < 1e-9, "rank {rank}: {lower}");
        }
    }

    #[test]
    fn a_row_without_a_finite_residual_counts_as_the_largest() {
        let residuals = |values: &[f64]| ResidualGroup::of(values);
        let group = residuals(&[1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0, f64::NAN]);
        assert_eq!((group.rows, group.finite), (9, 8));
        let one = Residuals { calibration: Calibration::Test, groups: vec![group] };
        // ⌈10 · 0.9⌉ = 9, and ⌈10 · 0.8⌉ = 8.
        assert_eq!([0.9, 0.8].map(|level| one.rank(level).unwrap()), [9, 8]);
        assert_eq!(one.interval(9, &[5.0]), [f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!(one.interval(8, &[5.0]), [-3.0, 13.0]);
        let groups = vec![residuals(&[1.0, 2.0, 3.0, 4.0, f64::INFINITY]), residuals(&[5.0, 6.0, 7.0, 8.0])];
        let folds = Residuals { calibration: Calibration::Folds, groups };
        assert_eq!((folds.rows(), folds.rank(0.9).unwrap()), (9, 9));
        assert_eq!(folds.interval(9, &[5.0, 5.0]), [f64::NEG_INFINITY, f64::INFINITY]);
    }
}
