//! Intervals from the profile of the cost: the value of one parameter is moved and all others are fitted again, until the cost has risen as much as
//! the level allows (Bates and Watts 1988, section 6.1). Where a model bends, they are right and symmetric intervals are not.

use nalgebra::DVector;

use super::result::Fit;
use super::statistics::Freedom;
use crate::error::{Error, Result};
use crate::fit::pass::{Bad, Objective, Sums};
use crate::fit::rows::Problem;
use crate::fit::search::{Search, SolveOptions};
use crate::host::ThreadPool;

/// Fits for one end, at most.
const FITS: usize = 40;
/// An end further than so many times the symmetric half width is taken as open.
const FAR: f64 = 1e3;
/// The relative error of an end, in the rise of the root of the cost.
const TOLERANCE: f64 = 1e-4;

/// Adds to each free parameter of a solved fit the interval from its profile; an end is infinite if the cost never rises enough. Errors with a robust
/// loss, whose cost is no likelihood, and without degrees of freedom.
pub fn add_profiles(problem: &Problem<'_>, fit: &mut Fit, options: &SolveOptions) -> Result<()> {
    if fit.dof == 0 || !fit.statistics.aic.is_finite() {
        return Err(Error::usage("profile: expected more rows than parameters and the linear loss"));
    }
    let pool = options.pool()?;
    let free = problem.free();
    let reach = Freedom::of(problem.is_absolute, fit.dof).reach(fit.level);
    let variance = if problem.is_absolute { 1.0 } else { 2.0 * fit.cost / fit.dof as f64 };
    let best: Vec<f64> = free.iter().filter_map(|&at| fit.value(&problem.parameters[at].name)).collect();
    for (place, &at) in free.iter().enumerate() {
        let Some(stderr) =
            fit.parameters.iter().find(|one| one.name == problem.parameters[at].name).and_then(|one| one.stderr)
        else {
            continue;
        };
        let profile = Profile { problem, options, pool: &pool, at, place, best: &best, variance, least: fit.cost };
        let ends = [profile.end(-reach * stderr, reach)?, profile.end(reach * stderr, reach)?];
        let name = &problem.parameters[at].name;
        if let Some(parameter) = fit.parameters.iter_mut().find(|parameter| parameter.name == *name) {
            parameter.profile = Some(ends);
        }
    }
    Ok(())
}

/// The profile of one parameter.
struct Profile<'p> {
    problem: &'p Problem<'p>,
    options: &'p SolveOptions,
    pool: &'p ThreadPool,
    /// Its place among the parameters and among the free ones.
    at: usize,
    place: usize,
    best: &'p [f64],
    variance: f64,
    least: f64,
}

impl Profile<'_> {
    /// Where the root of the rise of the cost, in standard deviations, is `expected`; the first try is `away` from the best value.
    fn end(&self, away: f64, expected: f64) -> Result<f64> {
        let (mut inner, mut outer) = (0.0, away);
        let mut others: Vec<f64> = self.others();
        let parameter = &self.problem.parameters[self.at];
        let bound = if away < 0.0 { parameter.low } else { parameter.high } - self.best[self.place];
        let mut at_inner = 0.0;
        let mut is_around = false;
        for _ in 0..FITS {
            let is_bound = outer.abs() >= bound.abs();
            if is_bound {
                outer = bound;
            }
            let Some(risen) = self.risen(outer, &mut others)? else {
                // No fit there: the end is before it.
                is_around = true;
                outer = inner + 0.5 * (outer - inner);
                continue;
            };
            if (risen - expected).abs() <= TOLERANCE * expected {
                return Ok(self.best[self.place] + outer);
            }
            if risen < expected {
                if is_bound {
                    return Ok(self.best[self.place] + bound);
                }
                if outer.abs() > FAR * away.abs() {
                    return Ok(f64::INFINITY.copysign(away));
                }
                // By the slope, but not too far at once.
                let slope = (risen - at_inner) / (outer - inner);
                let next = outer + (expected - risen) / slope;
                let most = if is_around { 1.5 } else { 3.0 };
                (inner, at_inner) = (outer, risen);
                outer = if slope.is_finite() && (next / outer) > 1.0 {
                    outer * (next / outer).min(most)
                } else {
                    outer * most
                };
            } else {
                is_around = true;
                // Between the two by linear interpolation.
                outer = inner + (outer - inner) * ((expected - at_inner) / (risen - at_inner)).clamp(0.1, 0.95);
            }
        }
        Ok(self.best[self.place] + outer)
    }

    /// The best values of the other free parameters.
    fn others(&self) -> Vec<f64> {
        let others = self.best.iter().enumerate().filter(|(place, _)| *place != self.place);
        others.map(|(_, value)| *value).collect()
    }

    /// The root of twice the rise of the cost over the variance, where the parameter is `away` from its best value and `others` are fitted again;
    /// `None` if the model is not finite there.
    fn risen(&self, away: f64, others: &mut [f64]) -> Result<Option<f64>> {
        let mut problem = self.problem.clone();
        let parameter = &mut problem.parameters[self.at];
        (parameter.start, parameter.is_fixed) = (Some(self.best[self.place] + away), true);
        let free = problem.free();
        let sums = Sums::new(&problem, self.pool);
        if free.is_empty() {
            return match sums.normal(&[]) {
                Ok(normal) => Ok(Some(self.root(normal.cost))),
                Err(Bad::Unread(error)) => Err(error),
                Err(Bad::Rows { .. }) => Ok(None),
            };
        }
        let search = Search::of(&problem, &free, self.options)?;
        match search.run(&sums, &DVector::from_column_slice(others)) {
            Ok(found) => {
                others.copy_from_slice(found.x.as_slice());
                Ok(Some(self.root(found.normal.cost)))
            }
            Err(Bad::Unread(error)) => Err(error),
            Err(Bad::Rows { .. }) => Ok(None),
        }
    }

    fn root(&self, cost: f64) -> f64 {
        (2.0 * (cost - self.least).max(0.0) / self.variance).sqrt()
    }
}
