//! Minima at a corner of the cost, such as the place of a bend: no step lowers the cost there although the slopes of one side say so.

use nalgebra::DVector;

use crate::error::Result;
use crate::fit::pass::{Bad, Sums};
use crate::fit::rows::Problem;
use crate::fit::search::{Found, Search, SolveOptions};
use crate::host::ThreadPool;

/// How far to either side the cost is looked at, in shares of the parameter.
const AWAY: [f64; 3] = [1e-6, 1e-4, 1e-2];

/// Whether the cost rises to both sides of one parameter, the others fitted again, and these converge where it stays.
pub(crate) fn is_corner(
    problem: &Problem<'_>,
    free: &[usize],
    found: &Found,
    options: &SolveOptions,
    pool: &ThreadPool,
) -> Result<bool> {
    if problem.groups() > 1 || free.len() < 2 {
        return Ok(false);
    }
    for place in 0..free.len() {
        let value = found.x[place];
        let size = if value == 0.0 { 1.0 } else { value.abs() };
        let Some((cost, true)) = at(problem, (free, place), value, found, options, pool)? else { continue };
        let mut rises = cost <= found.normal.cost * (1.0 + 1e-9);
        for away in AWAY.iter().flat_map(|share| [share * size, -share * size]) {
            // Where the model is not finite, the cost is no lower.
            let aside = at(problem, (free, place), value + away, found, options, pool)?;
            rises &= aside.is_none_or(|(aside, _)| aside >= cost * (1.0 - 1e-12));
        }
        if rises {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The least cost where one parameter has a value, and whether the search for it converged; `None` if the model is not finite there.
fn at(
    problem: &Problem<'_>,
    (free, place): (&[usize], usize),
    value: f64,
    found: &Found,
    options: &SolveOptions,
    pool: &ThreadPool,
) -> Result<Option<(f64, bool)>> {
    let mut fixed = problem.clone();
    let parameter = &mut fixed.parameters[free[place]];
    if !parameter.admits(value) {
        return Ok(None);
    }
    (parameter.start, parameter.is_fixed) = (Some(value), true);
    let others: Vec<usize> = (0..free.len()).filter(|&other| other != place).collect();
    let places: Vec<usize> = others.iter().map(|&other| free[other]).collect();
    let start = DVector::from_iterator(others.len(), others.iter().map(|&other| found.x[other]));
    let sums = Sums::new(&fixed, pool);
    match Search::of(&fixed, &places, options)?.solve(&sums, &start) {
        Ok((end, _)) => Ok(Some((end.normal.cost, end.stop.is_converged()))),
        Err(Bad::Unread(error)) => Err(error),
        Err(Bad::Rows { .. }) => Ok(None),
    }
}
