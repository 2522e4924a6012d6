//! Measures of a whole fit.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};
use statrs::function::gamma::ln_gamma;

use crate::error::Result;
use crate::fit::formula::RobustLoss;
use crate::fit::rows::{Data, Problem, pieces};
use crate::host::ThreadPool;
use crate::math::{normal_reach, student_reach};

/// Measures of a whole fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// Share of the weighted variance of y that the model explains; NaN if y is constant, and for counts.
    pub r_squared: f64,
    /// Root mean square of the weighted residuals.
    pub rmse: f64,
    /// The sum of the squares of the weighted residuals over dof: about 1 if sigma is right. NaN without degrees of freedom.
    pub reduced_chi_square: f64,
    /// Akaike's criterion, n ln(Σr² / n) + 2 p for p free parameters, for counts -2 ln L + 2 p; NaN with a robust loss, which is no likelihood.
    pub aic: f64,
    /// The Bayesian criterion, n ln(Σr² / n) + p ln n; NaN with a robust loss.
    pub bic: f64,
}

impl Statistics {
    /// From the cost, Σ r² and the spread of y.
    pub(crate) fn of(problem: &Problem<'_>, [cost, squares]: [f64; 2], spread: f64, free: usize) -> Self {
        let rows = problem.rows() as f64;
        let likelihood = match problem.loss {
            RobustLoss::Linear => rows * (squares / rows).ln(),
            RobustLoss::Poisson => 2.0 * cost - 2.0 * saturated(&problem.data),
            _ => f64::NAN,
        };
        let spread = if problem.loss == RobustLoss::Poisson { f64::NAN } else { spread };
        let dof = rows - free as f64;
        Self {
            r_squared: 1.0 - squares / spread,
            rmse: (squares / rows).sqrt(),
            reduced_chi_square: if dof > 0.0 { squares / dof } else { f64::NAN },
            aic: likelihood + 2.0 * free as f64,
            bic: likelihood + free as f64 * rows.ln(),
        }
    }
}

/// The logarithm of the likelihood of counts where the model is y itself, Σ y ln y - y - ln y!.
fn saturated(data: &Data<'_>) -> f64 {
    let one = |y: f64| if y > 0.0 { y * y.ln() - y - ln_gamma(y + 1.0) } else { 0.0 };
    let piece =
        |piece| data.with(pieces::range(piece, data.rows()), |part| part.y.iter().map(|&y| one(y)).sum::<f64>());
    (0..data.rows().div_ceil(pieces::PIECE)).map(|at| piece(at).unwrap_or(f64::NAN)).sum()
}

/// Σ w (y - ȳ)² with weights 1 / σ² and the weighted mean, from sums of distances to the first y.
pub(crate) fn spread(data: &Data<'_>, pool: &ThreadPool) -> Result<f64> {
    let mut first = None;
    for row in 0..data.rows() {
        first = data.with(row..row + 1, |part| part.y.first().copied())?;
        if first.is_some() {
            break;
        }
    }
    let first = first.unwrap_or_default();
    let make = |piece| {
        data.with(pieces::range(piece, data.rows()), |part| {
            let mut sums = [0.0; 3];
            for (row, y) in part.y.iter().enumerate() {
                let weight = part.sigma.map_or(1.0, |sigma| 1.0 / (sigma[row] * sigma[row]));
                let apart = y - first;
                sums[0] += weight;
                sums[1] += weight * apart;
                sums[2] += weight * apart * apart;
            }
            sums
        })
    };
    let mut total = [0.0; 3];
    pieces::each(pool, 0..data.rows().div_ceil(pieces::PIECE), make, |sums| {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    })?;
    Ok(total[2] - total[1] * total[1] / total[0])
}

/// How well the variance of an observation is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Freedom {
    /// Given with the data.
    Known,
    /// Estimated with so many degrees of freedom.
    Estimated(usize),
}

impl Freedom {
    pub(crate) fn of(is_absolute: bool, dof: usize) -> Self {
        if is_absolute { Self::Known } else { Self::Estimated(dof) }
    }

    /// Half the width, in standard errors, of an interval that holds a parameter with probability `level`; NaN without degrees of freedom.
    pub(crate) fn reach(self, level: f64) -> f64 {
        match self {
            Self::Known => normal_reach(level),
            Self::Estimated(dof) => student_reach(level, dof),
        }
    }
}

/// An F test of two nested models of the same data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FTest {
    /// The drop of the sum of squares per additional parameter over the variance of the larger model.
    pub f: f64,
    /// Additional parameters, and degrees of freedom of the larger model.
    pub dof: [u64; 2],
    /// The probability of an F as large by chance, if the smaller model is right.
    pub p: f64,
    /// AIC of the larger model less that of the smaller.
    pub aic_difference: f64,
}

impl FTest {
    /// From the sums of squares and the degrees of freedom of the smaller and the larger model.
    pub(crate) fn of(squares: [f64; 2], dof: [u64; 2], rows: u64) -> Self {
        let more = dof[0] - dof[1];
        let f = ((squares[0] - squares[1]) / more as f64) / (squares[1] / dof[1] as f64);
        let p = FisherSnedecor::new(more as f64, dof[1] as f64).map_or(f64::NAN, |law| law.sf(f.max(0.0)));
        let aic_difference = rows as f64 * (squares[1] / squares[0]).ln() + 2.0 * more as f64;
        Self { f, dof: [more, dof[1]], p, aic_difference }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From SciPy 1.17, `scipy.stats.f.sf(4, 2, 20)`.
    #[test]
    fn the_probability_of_f_is_that_of_scipy() {
        let test = FTest::of([28.0, 20.0], [22, 20], 25);
        assert_eq!(test.f, 4.0);
        assert!((test.p - 0.034_571_613_033_607_77).abs() < 1e-12, "{}", test.p);
    }

    /// 25 ln(20 / 28) = -8.4118 from the sums of squares, and 2 for each of the two additional parameters.
    #[test]
    fn additional_parameters_raise_the_aic_by_two_each() {
        let test = FTest::of([28.0, 20.0], [22, 20], 25);
        assert!((test.aic_difference - -4.411_805_915_530_323).abs() < 1e-12, "{}", test.aic_difference);
    }
}
