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
        let stderr =
            fit.parameters.iter().find(|one| one.name == problem.parameters[at].name).and_then(|one| one.stderr);
        // Without a standard error, the profile alone says how far the data determine the parameter.
        let stderr = stderr.filter(|stderr| *stderr > 0.0).unwrap_or(0.1 * best[place].abs().max(1e-3));
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

/// A value of the parameter with the best values of the others.
struct Place {
    /// From the best value.
    away: f64,
    /// The root of twice the rise of the cost over the variance.
    risen: f64,
    others: Vec<f64>,
}

impl Place {
    /// Where the rise is the expected one if it goes on as from the place before, but not too far at once.
    fn beyond(&self, before: &Self, expected: f64) -> f64 {
        let slope = (self.risen - before.risen) / (self.away - before.away);
        let ahead = (expected - self.risen) / slope / self.away;
        self.away * (1.0 + if ahead.is_finite() && ahead > 0.0 { ahead.clamp(0.01, 2.0) } else { 2.0 })
    }
}

impl Profile<'_> {
    /// Where the root of the rise of the cost, in standard deviations, is `expected`; the first try is `away` from the best value. Every fit of the others
    /// starts where they were at the last place before the end, so that one that failed leads none after it astray.
    fn end(&self, away: f64, expected: f64) -> Result<f64> {
        let parameter = &self.problem.parameters[self.at];
        let best = self.best[self.place];
        let bound = if away < 0.0 { parameter.low } else { parameter.high } - best;
        let mut inner = Place { away: 0.0, risen: 0.0, others: self.others() };
        // The nearest place behind the end, with the rise there if the model is finite.
        let mut outer: Option<(f64, Option<f64>)> = None;
        let mut next = away;
        for _ in 0..FITS {
            let is_bound = next.abs() >= bound.abs();
            if is_bound {
                next = bound;
            }
            match self.risen(next, &inner, expected)? {
                Some(place) if (place.risen - expected).abs() <= TOLERANCE * expected => return Ok(best + next),
                Some(place) if place.risen < expected => {
                    if is_bound {
                        return Ok(best + bound);
                    }
                    if next.abs() > FAR * away.abs() {
                        return Ok(f64::INFINITY.copysign(away));
                    }
                    next = place.beyond(&inner, expected);
                    inner = place;
                }
                place => outer = Some((next, place.map(|place| place.risen))),
            }
            if let Some((far, risen)) = outer {
                let share = risen.map_or(0.5, |risen| (expected - inner.risen) / (risen - inner.risen)).clamp(0.1, 0.9);
                next = inner.away + share * (far - inner.away);
                if (far - inner.away).abs() <= TOLERANCE * TOLERANCE * inner.away.abs() {
                    // A cost that jumps is that of a search which lost its way: as far as others lead, the cost does not rise enough.
                    let is_lost = risen.is_some() && inner.risen < 0.9 * expected;
                    return Ok(if is_lost { f64::INFINITY.copysign(away) } else { best + inner.away });
                }
            }
        }
        Ok(best + inner.away)
    }

    /// The best values of the other free parameters.
    fn others(&self) -> Vec<f64> {
        let others = self.best.iter().enumerate().filter(|(place, _)| *place != self.place);
        others.map(|(_, value)| *value).collect()
    }

    /// The place `away` from the best value, where the other parameters are fitted again from where they were at `inner`, and if the rise seems too
    /// large, also from their best values; `None` if the model is not finite there.
    fn risen(&self, away: f64, inner: &Place, expected: f64) -> Result<Option<Place>> {
        let mut problem = self.problem.clone();
        let parameter = &mut problem.parameters[self.at];
        (parameter.start, parameter.is_fixed) = (Some(self.best[self.place] + away), true);
        let free = problem.free();
        let sums = Sums::new(&problem, self.pool);
        let place = |cost: f64, others: &[f64]| Place { away, risen: self.root(cost), others: others.to_vec() };
        if free.is_empty() {
            return match sums.normal(&[]) {
                Ok(normal) => Ok(Some(place(normal.cost, &[]))),
                Err(Bad::Unread(error)) => Err(error),
                Err(Bad::Rows { .. }) => Ok(None),
            };
        }
        let search = Search::of(&problem, &free, self.options)?;
        let mut found: Option<Place> = None;
        for start in [inner.others.clone(), self.others()] {
            match search.run(&sums, &DVector::from_vec(start)) {
                Ok(other) if found.as_ref().is_none_or(|known| self.root(other.normal.cost) < known.risen) => {
                    found = Some(place(other.normal.cost, other.x.as_slice()));
                }
                Err(Bad::Unread(error)) => return Err(error),
                _ => {}
            }
            if inner.away == 0.0 || found.as_ref().is_some_and(|found| found.risen <= expected) {
                break;
            }
        }
        Ok(found)
    }

    fn root(&self, cost: f64) -> f64 {
        (2.0 * (cost - self.least).max(0.0) / self.variance).sqrt()
    }
}
