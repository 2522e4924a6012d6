//! A look at an answer after the search: whether the model explains anything, whether other starts lead lower, which frequencies are the same.

use super::result::{Fit, Fitted};
use crate::error::Result;
use crate::fit::formula::RobustLoss;
use crate::fit::pass::{Objective, Sums};
use crate::fit::rows::Problem;
use crate::fit::search::draws::Draws;
use crate::fit::search::places::Collapsed;
use crate::fit::search::places::Role;
use crate::fit::search::places::spacings;
use crate::fit::search::start::{found, sampled};
use crate::fit::search::{Global, SolveOptions};
use crate::host::{ThreadPool, number};

/// A model that explains less than this share of the variance of y says little.
const LITTLE: f64 = 0.1;
/// Starts that are given are compared with others if the model explains less than this.
const DOUBTFUL: f64 = 0.5;
/// Most fits explain more than this.
const USUAL: f64 = 0.9;
/// A column is far from 0 if its values are so many times their range.
const FAR: f64 = 1e3;
/// A cost that is lower by this share of itself is another minimum.
const LOWER: f64 = 0.01;

/// What a reader of the parameters has to know.
pub(crate) fn cautions(
    problem: &Problem<'_>,
    fit: &Fit,
    collapsed: Option<&Collapsed>,
    options: &SolveOptions,
    pool: &ThreadPool,
) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let r_squared = fit.statistics.r_squared;
    if r_squared < LITTLE && fit.free.len() > 1 {
        all.push(format!(
            "the model explains almost nothing of y (R² {}): another start (p0) or bounds may lead to a minimum that does",
            rounded(r_squared)
        ));
    }
    if fit.dof == 0 {
        all.push("there are as many rows as free parameters, so that no errors are known".to_owned());
    }
    let is_unsure = |one: &Fitted| one.stderr.is_some_and(|stderr| stderr > one.value.abs());
    if !fit.stop.is_converged() || r_squared < USUAL || fit.parameters.iter().any(is_unsure) {
        all.extend(far_from_0(problem)?);
    }
    let known: Vec<&Fitted> = fit.parameters.iter().filter(|one| !one.is_fixed).collect();
    if known.iter().all(|one| one.stderr.is_some_and(|stderr| stderr > one.value.abs())) {
        all.push("every standard error is larger than its parameter: the data say nothing about the values".to_owned());
    }
    let is_given = problem.parameters.iter().all(|parameter| parameter.start.is_some());
    if options.compares
        && is_given
        && r_squared < DOUBTFUL
        && options.global == Global::None
        && problem.loss == RobustLoss::Linear
    {
        all.extend(lower(problem, fit, options, pool)?);
    }
    if let Some(collapsed) = collapsed {
        all.extend(same_frequencies(problem, fit, collapsed));
    }
    Ok(all)
}

/// Columns that are far from 0 for how little they vary, as seconds since 1970 are.
fn far_from_0(problem: &Problem<'_>) -> Result<Vec<String>> {
    let draws = Draws::over(problem)?;
    let columns = problem.formula.columns().iter().zip(draws.ranges());
    let far = columns.filter(|(_, [low, high])| low.abs().min(high.abs()) > FAR * (high - low) && low < high);
    Ok(far
        .map(|(name, [low, high])| {
            format!(
                "{name} lies around {0} and spans only {1}: subtract its first value, writing ({name} - {0}) for {name} in the model",
                number(*low),
                rounded(high - low)
            )
        })
        .collect())
}

/// A lower minimum that is found without the given starts, on a sample of the rows.
fn lower(problem: &Problem<'_>, fit: &Fit, options: &SolveOptions, pool: &ThreadPool) -> Result<Option<String>> {
    if problem.groups() > 1 {
        return Ok(None);
    }
    let mut open = sampled(problem, 0..problem.data.rows())?;
    let free = open.free();
    let own: Vec<f64> = free.iter().filter_map(|&at| fit.value(&open.parameters[at].name)).collect();
    for &at in &free {
        open.parameters[at].start = None;
    }
    let spaced = spacings(problem, 0..problem.data.rows())?;
    let Ok(other) = found(&open, &spaced, options, pool) else { return Ok(None) };
    let sums = Sums::new(&open, pool);
    let cost = |x: &[f64]| sums.normal(x).map_or(f64::INFINITY, |normal| normal.cost);
    let [before, after] = [cost(&own), cost(other.as_slice())];
    let values: Vec<String> = free
        .iter()
        .zip(&other)
        .map(|(&at, value)| format!("{}={}", open.parameters[at].name, rounded(*value)))
        .collect();
    let share = 100.0 * (1.0 - after / before);
    Ok((after < before * (1.0 - LOWER))
        .then(|| format!("another start leads to a cost that is {share:.0} % lower: p0 {}", values.join(","))))
}

/// Frequencies at which the model is the same in evenly spaced rows.
fn same_frequencies(problem: &Problem<'_>, fit: &Fit, collapsed: &Collapsed) -> Vec<String> {
    let shapes = collapsed.terms.terms.iter().flat_map(|term| &term.shapes);
    let mut all = Vec::new();
    for shape in shapes {
        let (column, factor, is_period) = match shape.role {
            Role::Frequency { column, factor } => (column, factor, false),
            Role::Period { column, factor } => (column, factor, true),
            _ => continue,
        };
        let at = collapsed.places[shape.at];
        let name = &problem.formula.parameters()[at];
        let spacing = collapsed.spacings[column];
        let is_open = problem.places.iter().all(|places| problem.parameters[places[at]].start.is_none());
        let found = fit.parameters.iter().find(|one| one.name == *name && one.stderr.is_some());
        let (true, true, Some(found)) = (spacing.is_even, is_open, found) else { continue };
        let value = found.value;
        let whole = std::f64::consts::TAU / spacing.mean;
        let radians = if is_period { factor / value } else { value * factor };
        let [below, above] = [whole - radians, whole + radians]
            .map(|radians| if is_period { factor / radians } else { radians / factor });
        all.push(format!(
            "{name}: the rows are evenly spaced, by {} of {}, so that {} and {} fit as well",
            rounded(spacing.mean),
            problem.formula.columns()[column],
            rounded(below),
            rounded(above)
        ));
    }
    all
}

/// Four digits.
fn rounded(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) {
        number(rounded).to_string()
    } else {
        format!("{rounded:e}")
    }
}
