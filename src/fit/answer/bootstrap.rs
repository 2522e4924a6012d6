//! Intervals from fits of data that are drawn again from the data themselves (Efron and Tibshirani 1993, chapters 9 and 13): no assumption about the
//! distribution of errors, only that they are independent.

use nalgebra::DVector;

use super::random::Random;
use super::result::Fit;
use crate::error::{Error, Result};
use crate::fit::formula::RobustLoss;
use crate::fit::pass::{Bad, Sums};
use crate::fit::rows::{Problem, pieces};
use crate::fit::search::{Search, SolveOptions};
use crate::host::ThreadPool;
use crate::math::quantile_of_sorted;

/// What is drawn again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resampling {
    /// Residuals, in units of sigma, which are added to the model: rows keep their places.
    #[default]
    Residuals,
    /// Whole rows: errors may be of different sizes.
    Rows,
}

impl Resampling {
    /// Each with its name.
    pub const ALL: [(&'static str, Self); 2] = [("residuals", Self::Residuals), ("rows", Self::Rows)];
}

/// How many fits of drawn data there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// Fits that were tried.
    pub fits: usize,
    /// Those that did not converge, which are left out of the intervals.
    pub failed: usize,
}

/// The fewest fits of which quantiles say something.
const FEWEST: usize = 20;

/// Adds to each free parameter of a solved fit an interval by quantiles of its values in `fits` fits of data that are drawn again. The answer is the same
/// for any number of threads.
///
/// Errors if rows are read from a source, without degrees of freedom, for residuals of counts, and for rows in groups with levels.
pub fn add_bootstrap(
    problem: &Problem<'_>,
    fit: &mut Fit,
    (fits, resampling): (usize, Resampling),
    options: &SolveOptions,
) -> Result<()> {
    let wrong = |what: &str| Err(Error::usage(format!("bootstrap: {what}")));
    if fits < FEWEST {
        return wrong(&format!("got {fits} fits, expected at least {FEWEST}"));
    }
    if problem.data.source().is_some() {
        return wrong("rows are read in parts: expected them in memory");
    }
    if fit.dof == 0 {
        return wrong("expected more rows than free parameters");
    }
    if resampling == Resampling::Rows && problem.groups() > 1 {
        return wrong("parameters have levels, whose rows stay together: expected residuals to be drawn");
    }
    if resampling == Resampling::Residuals && problem.loss == RobustLoss::Poisson {
        return wrong("counts have no residuals of one size: expected rows to be drawn");
    }
    let pool = options.pool()?;
    let free = problem.free();
    let best: Vec<f64> = free.iter().filter_map(|&at| fit.value(&problem.parameters[at].name)).collect();
    let best = DVector::from_vec(best);
    let drawn = Drawn::of(problem, &best, fit.dof, &pool)?;
    let make = |at: usize| -> Result<Option<Vec<f64>>> {
        let mut random = Random::nth(options.seed, at as u64);
        let data = match resampling {
            Resampling::Residuals => problem.data.with_y(drawn.y(&mut random)),
            Resampling::Rows => {
                let rows = drawn.model.len();
                problem.data.drawn(&(0..rows).map(|_| random.below(rows)).collect::<Vec<usize>>())
            }
        };
        let problem = Problem { data, ..problem.clone() };
        let one = ThreadPool::new(1)?;
        let search = Search::of(&problem, &free, options)?;
        match search.run(&Sums::new(&problem, &one), &best) {
            Ok(found) if found.stop.is_converged() => Ok(Some(found.x.as_slice().to_vec())),
            Ok(_) | Err(Bad::Rows { .. }) => Ok(None),
            Err(Bad::Unread(error)) => Err(error),
        }
    };
    let mut values: Vec<Vec<f64>> = vec![Vec::with_capacity(fits); free.len()];
    let mut failed = 0;
    pieces::each(&pool, 0..fits, make, |found| match found {
        Some(x) => values.iter_mut().zip(x).for_each(|(values, x)| values.push(x)),
        None => failed += 1,
    })?;
    if fits - failed < FEWEST {
        return wrong(&format!("{failed} of {fits} fits did not converge: expected at least {FEWEST} that do"));
    }
    let tail = 0.5 * (1.0 - fit.level);
    for (values, &at) in values.iter_mut().zip(&free) {
        values.sort_unstable_by(f64::total_cmp);
        let interval = [tail, 1.0 - tail].map(|share| quantile_of_sorted(values, share));
        let name = &problem.parameters[at].name;
        if let Some(parameter) = fit.parameters.iter_mut().find(|parameter| parameter.name == *name) {
            parameter.bootstrap = Some(interval);
        }
    }
    fit.bootstrap = Some(Bootstrap { fits, failed });
    Ok(())
}

/// What residuals are drawn from.
struct Drawn {
    /// The model's values.
    model: Vec<f64>,
    /// Residuals in units of sigma, with mean 0 and the size of errors: those of a fit are smaller.
    residuals: Vec<f64>,
    sigma: Vec<f64>,
}

impl Drawn {
    fn of(problem: &Problem<'_>, best: &DVector<f64>, dof: usize, pool: &ThreadPool) -> Result<Self> {
        let plain = Problem { loss: RobustLoss::Linear, ..problem.clone() };
        let sums = Sums::new(&plain, pool);
        let residuals = sums.residuals(best.as_slice()).map_err(|bad| bad.explained(problem))?;
        let rows = residuals.len();
        let (y, sigma) = problem
            .data
            .with(0..rows, |part| (part.y.to_vec(), part.sigma.map_or_else(|| vec![1.0; rows], <[f64]>::to_vec)))?;
        // A residual is the model less y.
        let model = (0..rows).map(|row| y[row] + sigma[row] * residuals[row]).collect();
        let mean = residuals.iter().sum::<f64>() / rows as f64;
        let size = (rows as f64 / dof as f64).sqrt();
        let residuals = residuals.into_iter().map(|residual| size * (mean - residual)).collect();
        Ok(Self { model, residuals, sigma })
    }

    fn y(&self, random: &mut Random) -> Vec<f64> {
        let rows = self.model.len();
        let one =
            |row: usize, random: &mut Random| self.model[row] + self.sigma[row] * self.residuals[random.below(rows)];
        (0..rows).map(|row| one(row, random)).collect()
    }
}
