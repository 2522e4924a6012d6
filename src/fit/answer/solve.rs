//! Solves a fit: a search, others if that gets stuck, then covariance and statistics.

use nalgebra::DVector;

use super::caution::cautions;
use super::corner::is_corner;
use super::covariance::{ArrowTriangle, covariance};
use super::result::{Fit, reported};
use super::statistics::spread;
use crate::error::{Error, Result};
use crate::fit::formula::{RobustLoss, linear};
use crate::fit::pass::model::varying;
use crate::fit::pass::normal::overflow;
use crate::fit::pass::{Bad, Sums};
use crate::fit::rows::Problem;
use crate::fit::search::places::{Collapsed, Symmetry};
use crate::fit::search::start::begin;
use crate::fit::search::{
    Bounds, Found, Global, Journal, Recorded, Search, Searched, SolveOptions, Stop, refined, start,
};
use crate::host::number;

/// Finds the parameters that minimise the cost.
///
/// Errors if the problem has no unique answer whatever the data are (fewer rows than parameters, starts outside of bounds, bounds with
/// Levenberg–Marquardt), if no start is found, or if the model is not finite at the start.
///
/// ```
/// use meromorph::fit::{Formula, Problem, SolveOptions, solve};
/// let x: Vec<f64> = (0..20).map(f64::from).collect();
/// let y: Vec<f64> = x.iter().map(|x| 3.0 * (-0.25 * x).exp() + 1.0).collect();
/// let formula = Formula::parse("a * exp(-b * x) + c", &["x"])?;
/// let problem = Problem::new(formula, &[("x", &x)], &y)?.start("a", 1.0)?.start("b", 0.1)?.start("c", 0.0)?;
/// let fit = solve(&problem, &SolveOptions::default())?;
/// assert!((fit.value("b").unwrap() - 0.25).abs() < 1e-12);
/// # Ok::<(), meromorph::Error>(())
/// ```
pub fn solve(problem: &Problem<'_>, options: &SolveOptions) -> Result<Fit> {
    solve_from(problem, options, &mut Journal::default(), &mut |_| Ok(()))
}

/// The same for a long fit: what it computes is added to the journal, and what the journal has is not computed again, so that a fit which was ended goes
/// on with the same bits. After an [`approach`](crate::fit::approach()) with this journal, the search begins where that ended. `watch` sees the journal after
/// each evaluation and, where rows are many, now and then during one; its error ends the fit.
pub fn solve_from(
    problem: &Problem<'_>,
    options: &SolveOptions,
    journal: &mut Journal,
    watch: &mut dyn FnMut(&Journal) -> Result<()>,
) -> Result<Fit> {
    problem.check()?;
    problem.check_sizes()?;
    if !(options.level > 0.0 && options.level < 1.0) {
        let level = number(options.level);
        return Err(Error::usage(format!("level: got {level}, expected a probability between 0 and 1")));
    }
    let pool = options.pool()?;
    let free = problem.free();
    let search = Search::of(problem, &free, options)?;
    let sums = Sums::new(problem, &pool);
    let approach = journal.approach.clone();
    let recorded = Recorded::new(&sums, journal, watch);
    let mut steps: Vec<String> = Vec::new();
    let approached = approach.as_ref().and_then(|approach| approach.x.clone());
    let first = match &approached {
        Some(x) => DVector::from_column_slice(x),
        None => begin(problem, &free, options, &pool)?,
    };
    let mut solved = search.solve(&recorded, &first);
    let mut needs_start = approached.is_some();
    for (name, share) in needs_start.then_some(FROM_START).into_iter().chain(RECOVERY) {
        // A search in single precision may have led to where nothing determines a parameter.
        let is_lost = std::mem::take(&mut needs_start) && matches!(solved, Ok((_, None)));
        if !options.recovers || !(is_lost || needs_recovery(&solved)) {
            break;
        }
        let again = match share {
            Some(share) => moved(&start(problem, &free, options, &pool)?, &search.bounds, share),
            None => match begin(problem, &free, &SolveOptions { global: Global::MultiStart, ..options.clone() }, &pool)
            {
                Ok(begin) => begin,
                Err(_) => continue,
            },
        };
        steps.push(name.to_owned());
        let next = search.solve(&recorded, &again);
        let cost = |solved: &Solved| solved.as_ref().map_or(f64::INFINITY, |(found, _)| found.normal.cost);
        // Another minimum is no answer if its cost is higher than where the search got stuck.
        if cost(&next) < cost(&solved) || (cost(&next) <= cost(&solved) && !needs_recovery(&next)) {
            solved = next;
        }
    }
    let (mut found, mut expected_shift) = solved.map_err(|bad| bad.explained(problem))?;
    if !found.stop.is_converged() && problem.groups() == 1 && problem.loss == RobustLoss::Linear {
        let before = found.normal.cost;
        let (next, shift) = refined(&sums, &search.bounds, found, problem.rows() - free.len());
        if next.normal.cost < before || next.stop.is_converged() {
            expected_shift = shift;
        }
        found = next;
    }
    if found.stop == Stop::Stuck && is_corner(problem, &free, &found, options, &pool)? {
        found.stop = Stop::Corner;
    }
    let collapsed = Collapsed::of(problem)?;
    if let Some(collapsed) = &collapsed
        && let Some(x) = chosen(problem, &free, &found.x, collapsed)?
        && let Ok((next, shift)) = search.solve(&recorded, &x)
        && next.normal.cost <= found.normal.cost * (1.0 + SAME)
    {
        let (evaluations, history) = (found.evaluations + next.evaluations, found.history);
        (found, expected_shift) = (Found { evaluations, history, ..next }, shift);
    }
    let triangles = sums.triangles(found.x.as_slice()).map_err(overflow)?;
    let triangle = ArrowTriangle::merged(&search.pattern, &triangles, sums.places());
    let covariance = covariance(&triangle, &found.x, problem.rows(), search.variance(&found));
    let spread = spread(&problem.data, &pool)?;
    let fit = reported(problem, (&free, &search.bounds), &found, covariance, expected_shift, spread, options.level);
    let searched = approach.map_or_else(Searched::default, |approach| approach.searched);
    let is_given =
        options.compares && options.global == Global::None && problem.parameters.iter().all(|one| one.start.is_some());
    let is_compared = !is_given || steps.iter().any(|step| step == MANY_STARTS) || is_linear(problem);
    let fit = Fit { recovery: steps, searched, is_compared, ..fit };
    Ok(Fit { cautions: cautions(problem, &fit, collapsed.as_ref(), options, &pool)?, ..fit })
}

/// Whether the model is linear in all its free parameters, so that there is one minimum.
fn is_linear(problem: &Problem<'_>) -> bool {
    let (variables, program) = varying(problem);
    problem.loss == problem.loss.convex() && linear(&program, variables.len()).len() == variables.len()
}

/// Another point at which the model is the same, if that is the one that is reported.
fn chosen(
    problem: &Problem<'_>,
    free: &[usize],
    x: &DVector<f64>,
    collapsed: &Collapsed,
) -> Result<Option<DVector<f64>>> {
    let next = Symmetry::of(problem, collapsed)?.chosen(free, x);
    Ok((next != *x).then_some(next))
}

/// Costs that differ by less than this share of themselves are equal.
const SAME: f64 = 1e-9;

/// What a search ends with.
type Solved = std::result::Result<(Found, Option<f64>), Bad>;

/// What is tried first after a search on a device.
const FROM_START: (&str, Option<f64>) = ("double precision from the start", Some(0.0));

const MANY_STARTS: &str = "many starts";

/// What is tried, in this order, if the search gets stuck or the model is not finite at the start: starts that differ from the given one by a share of it,
/// then a search of many starts.
const RECOVERY: [(&str, Option<f64>); 3] =
    [("start moved by 5 %", Some(0.05)), ("start moved by 20 %", Some(0.2)), (MANY_STARTS, None)];

fn needs_recovery(solved: &Solved) -> bool {
    match solved {
        Ok((found, _)) => found.stop == Stop::Stuck,
        Err(Bad::Rows { .. }) => true,
        Err(Bad::Unread(_)) => false,
    }
}

/// A point near another, within the bounds: parameters are moved up and down by turns.
fn moved(x: &DVector<f64>, bounds: &Bounds, share: f64) -> DVector<f64> {
    let size = |x: f64| if x == 0.0 { share } else { share * x.abs() };
    let one = |at: usize| x[at] + if at.is_multiple_of(2) { size(x[at]) } else { -size(x[at]) };
    DVector::from_fn(x.len(), |at, _| one(at).clamp(bounds.low[at], bounds.high[at]))
}
