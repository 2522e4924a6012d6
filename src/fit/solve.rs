//! Solves a fit: search, then undamped Gauss–Newton steps for the last digits, then covariance and statistics.

use nalgebra::{DMatrix, DVector};

use super::bounds::Bounds;
use super::covariance::{Covariance, covariance};
use super::loss::RobustLoss;
use super::polish::{newton, polish};
use super::problem::Problem;
use super::start::start;
use super::statistics::{Statistics, quantile};
use super::sums::{Bad, Normal, Sums};
use super::{levenberg, trust_region};
use crate::error::{Error, Result};
use crate::host::ThreadPool;

/// How the minimum is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Trust-region reflective: takes bounds.
    #[default]
    TrustRegion,
    /// Levenberg–Marquardt, without bounds.
    LevenbergMarquardt,
}

impl Method {
    /// Every method with its name.
    pub const ALL: [(&'static str, Self); 2] = [("trf", Self::TrustRegion), ("lm", Self::LevenbergMarquardt)];
}

/// Options of [`solve`]; unset fields get defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveOptions {
    /// How the minimum is searched.
    pub method: Method,
    /// Probability that an interval holds its parameter.
    pub level: f64,
    /// Evaluations of the model over all rows, at most; 0 = 500 for each free parameter and 500 more.
    pub evaluations: usize,
    /// Threads; 0 = all. The result is the same for any number.
    pub threads: usize,
    /// Seed of the starts that are tried where none is given.
    pub seed: u64,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self { method: Method::default(), level: 0.95, evaluations: 0, threads: 0, seed: 0 }
    }
}

/// An expected shift, in standard errors, that is no convergence.
const STUCK: f64 = 1e-2;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The parameters are expected to move by less than 1e-5 of their standard errors, with a robust loss 1e-8.
    Shift,
    /// The cost decreases by less than 1e-12 of itself, with a robust loss 1e-15, or by rounding errors.
    Cost,
    /// The step is shorter than 1e-12 of the parameters.
    Step,
    /// The gradient is zero.
    Gradient,
    /// The number of evaluations is used up: not converged.
    Evaluations,
    /// No step lowers the cost although the parameters are expected to move, as next to a place where the model is not finite: not converged.
    Stuck,
}

impl Stop {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shift => "shift",
            Self::Cost => "cost",
            Self::Step => "step",
            Self::Gradient => "gradient",
            Self::Evaluations => "evaluations",
            Self::Stuck => "stuck",
        }
    }

    /// Whether the search converged.
    pub fn is_converged(self) -> bool {
        !matches!(self, Self::Evaluations | Self::Stuck)
    }
}

/// When a search ends.
pub(super) struct Limits {
    pub evaluations: usize,
    /// The expected shift of the parameters, in standard errors.
    pub shift: f64,
    /// Relative decrease of the cost.
    pub cost: f64,
    /// Relative length of a step.
    pub step: f64,
    /// Rows less free parameters.
    pub dof: usize,
}

impl Limits {
    /// Whether the expected shift of the parameters, whose square in standard errors is decrement / s², is small enough.
    pub(super) fn is_settled(&self, decrement: f64, cost: f64) -> bool {
        self.dof > 0 && decrement * self.dof as f64 <= self.shift * self.shift * 2.0 * cost
    }
}

/// Where a search ended.
#[derive(Clone)]
pub(super) struct Found {
    pub x: DVector<f64>,
    pub normal: Normal,
    pub evaluations: usize,
    pub stop: Stop,
    /// The cost at the start and after each step.
    pub history: Vec<f64>,
}

/// A parameter's value and how well the data determine it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its standard error; `None` if it is fixed or the data do not determine it.
    pub stderr: Option<f64>,
    /// The interval of the level asked for, by Student's t; `None` as for `stderr`.
    pub interval: Option<[f64; 2]>,
    /// Whether it was fixed.
    pub is_fixed: bool,
    /// Whether it is at one of its bounds; its standard error then takes no account of the bound.
    pub is_at_bound: bool,
}

/// A solved fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The parameters, in the formula's order, then those tied to them.
    pub parameters: Vec<Fitted>,
    /// Names of the free parameters, in the order of the covariance.
    pub free: Vec<String>,
    /// The covariance of the free parameters [free, free]; infinite along directions that the data do not determine.
    pub covariance: Vec<Vec<f64>>,
    /// ½ Σ ρ; with the linear loss half the weighted sum of squares.
    pub cost: f64,
    /// Number of rows.
    pub rows: usize,
    /// Rows less free parameters.
    pub dof: usize,
    /// Why the search ended.
    pub stop: Stop,
    /// Evaluations of the model over all rows.
    pub evaluations: usize,
    /// The cost at the start and after each step of the search.
    pub history: Vec<f64>,
    /// How far the parameters would move in one more step, in standard errors; `None` if that is not determined.
    pub expected_shift: Option<f64>,
    /// Derivatives that were not finite at the solution in rows where the model is; they count as 0.
    pub flat_derivatives: usize,
    /// What the data do not determine: a parameter, or several "separately".
    pub undetermined: Vec<String>,
    /// Probability of the intervals.
    pub level: f64,
    /// Measures of the whole fit.
    pub statistics: Statistics,
}

impl Fit {
    /// The value of a parameter, if there is one of that name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.parameters.iter().find(|parameter| parameter.name == name).map(|parameter| parameter.value)
    }

    /// The correlations of the free parameters [free, free]; NaN where a variance is infinite or 0.
    pub fn correlation(&self) -> Vec<Vec<f64>> {
        let covariance = &self.covariance;
        let entry = |i: usize, j: usize| covariance[i][j] / (covariance[i][i] * covariance[j][j]).sqrt();
        (0..covariance.len()).map(|i| (0..covariance.len()).map(|j| entry(i, j)).collect()).collect()
    }
}

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
    problem.check()?;
    if !(options.level > 0.0 && options.level < 1.0) {
        return Err(Error::usage(format!("level: got {}, expected a probability between 0 and 1", options.level)));
    }
    let threads = if options.threads == 0 { crate::host::threads() } else { options.threads };
    let pool = ThreadPool::new(threads)?;
    let free = problem.free();
    let bound = |pick: fn(&super::Parameter) -> f64| {
        DVector::from_iterator(free.len(), free.iter().map(|&at| pick(&problem.parameters[at])))
    };
    let bounds = Bounds { low: bound(|parameter| parameter.low), high: bound(|parameter| parameter.high) };
    if options.method == Method::LevenbergMarquardt && bounds.are_finite() {
        return Err(Error::usage("method: lm takes no bounds: expected trf, or no bounds"));
    }
    let sums = Sums::new(problem, &pool);
    let evaluations = if options.evaluations == 0 { 500 * (free.len() + 1) } else { options.evaluations };
    let dof = problem.rows() - free.len();
    // With a robust loss JᵀJ is not the whole curvature, so that neither the expected shift nor the last steps are exact.
    let [settled, cost] = if problem.loss == RobustLoss::Linear { [1e-5, 1e-12] } else { [1e-8, 1e-15] };
    let limits = Limits { evaluations, shift: settled, cost, step: 1e-12, dof };
    let search = |sums: &Sums<'_>, start: &DVector<f64>| match options.method {
        Method::TrustRegion => trust_region::search(sums, &bounds, start, &limits),
        Method::LevenbergMarquardt => levenberg::search(sums, start, &limits),
    };
    let start = start(problem, &free, options.seed, |sample, start| search(&Sums::new(sample, &pool), start).ok())?;
    let found = search(&sums, &start).map_err(|bad| not_finite(problem, bad))?;
    let mut found = polish(&sums, &bounds, found);
    let expected_shift = shift(&found.normal, &inner(&bounds, &found), dof);
    found.stop = match (found.stop, expected_shift) {
        (Stop::Evaluations, Some(shift)) if shift <= limits.shift => Stop::Shift,
        (Stop::Cost | Stop::Step, Some(shift)) if shift > STUCK => Stop::Stuck,
        (stop, _) => stop,
    };
    let overflow =
        |_| Error::new("fit: the derivatives at the solution are too large for their squares: scale the columns");
    let triangle = sums.triangle(found.x.as_slice()).map_err(overflow)?;
    let covariance = covariance(&triangle, problem.rows(), variance(problem, &found, dof));
    Ok(reported(problem, (&free, &bounds), &found, covariance, (expected_shift, dof), options.level))
}

/// The factor of the covariance: 1 if sigma is absolute, the variance of the residuals otherwise.
fn variance(problem: &Problem<'_>, found: &Found, dof: usize) -> f64 {
    match dof {
        _ if problem.is_absolute => 1.0,
        0 => f64::INFINITY,
        _ => 2.0 * found.normal.cost / dof as f64,
    }
}

fn not_finite(problem: &Problem<'_>, Bad { count, first }: Bad) -> Error {
    let inputs = problem.formula.columns().iter().zip(&problem.columns);
    let at: Vec<String> = inputs.map(|(name, values)| format!("{name} = {}", values[first])).collect();
    let at = if at.is_empty() { String::new() } else { format!(" ({})", at.join(", ")) };
    let (row, more) =
        (first + 1, if count > 1 { format!(", nor in {} rows after it", count - 1) } else { String::new() });
    Error::new(format!(
        "fit: the model is not finite at the start in row {row}{at}{more}: expected a start at which it is, or no such rows"
    ))
}

fn reported(
    problem: &Problem<'_>,
    (free, bounds): (&[usize], &Bounds),
    found: &Found,
    covariance: Covariance,
    (expected_shift, dof): (Option<f64>, usize),
    level: f64,
) -> Fit {
    let Covariance { matrix, undetermined: directions } = covariance;
    let names: Vec<String> = free.iter().map(|&at| problem.parameters[at].name.clone()).collect();
    // With absolute errors the variance is known: the normal distribution.
    let reach = match dof {
        _ if problem.is_absolute => quantile(level, 0),
        0 => f64::INFINITY,
        _ => quantile(level, dof),
    };
    let fitted = |name: &str, value: f64, variance: f64, is_fixed: bool, is_at_bound: bool| {
        let stderr = Some(variance.sqrt()).filter(|stderr| stderr.is_finite() && !is_fixed);
        let interval = stderr.map(|stderr| [value - reach * stderr, value + reach * stderr]);
        let interval = interval.filter(|interval| interval.iter().all(|end| end.is_finite()));
        Fitted { name: name.to_owned(), value, stderr, interval, is_fixed, is_at_bound }
    };
    let values: Vec<f64> = (0..problem.parameters.len())
        .map(|at| match free.iter().position(|&place| place == at) {
            Some(place) => found.x[place],
            None => problem.parameters[at].start.unwrap_or_default(),
        })
        .collect();
    let mut parameters: Vec<Fitted> = Vec::new();
    for (at, parameter) in problem.parameters.iter().enumerate() {
        let place = free.iter().position(|&place| place == at);
        let variance = place.map_or(0.0, |place| matrix[(place, place)]);
        let is_at_bound =
            place.is_some_and(|place| values[at] == bounds.low[place] || values[at] == bounds.high[place]);
        parameters.push(fitted(&parameter.name, values[at], variance, place.is_none(), is_at_bound));
    }
    for tie in problem.formula.ties() {
        let with_slopes = tie.program.with_gradient(free).at(&values);
        let slopes = DVector::from_row_slice(&with_slopes[1..]);
        // A slope of 0 leaves out a parameter that the data do not determine.
        let used: Vec<usize> = (0..free.len()).filter(|&at| slopes[at] != 0.0).collect();
        let variance = used.iter().flat_map(|&i| used.iter().map(move |&j| (i, j)));
        let variance: f64 = variance.map(|(i, j)| slopes[i] * matrix[(i, j)] * slopes[j]).sum();
        parameters.push(fitted(&tie.name, with_slopes[0], variance, used.is_empty(), false));
    }
    let rows = |matrix: &DMatrix<f64>| matrix.row_iter().map(|row| row.iter().copied().collect()).collect();
    Fit {
        parameters,
        covariance: rows(&matrix),
        cost: found.normal.cost,
        rows: problem.rows(),
        dof,
        stop: found.stop,
        evaluations: found.evaluations,
        history: found.history.clone(),
        expected_shift,
        flat_derivatives: found.normal.mended,
        undetermined: directions.iter().map(|direction| undetermined(direction, &names)).collect(),
        free: names,
        level,
        statistics: Statistics::of(problem, found.normal.squares, free.len()),
    }
}

/// The free parameters that are not at a bound to which the gradient pushes them.
pub(super) fn inner(bounds: &Bounds, found: &Found) -> Vec<usize> {
    let gradient = &found.normal.gradient;
    let is_held = |at: usize| {
        (found.x[at] <= bounds.low[at] && gradient[at] >= 0.0)
            || (found.x[at] >= bounds.high[at] && gradient[at] <= 0.0)
    };
    (0..found.x.len()).filter(|&at| !is_held(at)).collect()
}

/// √(gᵀ H⁻¹ g / s²) over some of the parameters; `None` if H is singular or s² is 0 or unknown.
fn shift(normal: &Normal, inner: &[usize], dof: usize) -> Option<f64> {
    let (_, decrement) = newton(normal, inner)?;
    Some((decrement * dof as f64 / (2.0 * normal.cost)).sqrt()).filter(|shift| shift.is_finite() && dof > 0)
}

/// A direction that the data do not determine, by the parameters with a share in it: `c and d separately`.
fn undetermined(direction: &DVector<f64>, names: &[String]) -> String {
    let largest = direction.amax();
    let shares = direction.iter().zip(names).filter(|(share, _)| share.abs() > 1e-3 * largest);
    let names: Vec<&str> = shares.map(|(_, name)| name.as_str()).collect();
    match &names[..] {
        [name] => (*name).to_owned(),
        [first @ .., last] => format!("{} and {last} separately", first.join(", ")),
        [] => String::new(),
    }
}
