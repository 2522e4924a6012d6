//! Solves a fit: search, then undamped Gauss–Newton steps for the last digits, then covariance and statistics.

use nalgebra::DVector;

use super::approach::Searched;
use super::arrow::Pattern;
use super::bounds::Bounds;
use super::covariance::covariance;
use super::journal::{Journal, Recorded};
use super::loss::RobustLoss;
use super::polish::{newton, polish};
use super::problem::Problem;
use super::result::{Fit, reported};
use super::start::{start, warmed};
use super::statistics::spread;
use super::sums::{Bad, Normal, Objective, Sums};
use super::{levenberg, trust_region};
use crate::error::{Error, Result};
use crate::host::{ThreadPool, number};

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

/// Whether and how starts all over the ranges of the parameters are tried, even if a start is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Global {
    /// Only for parameters without a start.
    #[default]
    None,
    /// Searches from the best of many draws and from the given start, on up to a thousand rows; the lowest end is the start.
    MultiStart,
    /// CMA-ES on up to a thousand rows finds the start.
    CmaEs,
}

impl Global {
    /// Every one with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("none", Self::None), ("multistart", Self::MultiStart), ("cmaes", Self::CmaEs)];
}

/// Options of [`solve`]; unset fields get defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveOptions {
    /// How the minimum is searched.
    pub method: Method,
    /// Whether the start is searched globally.
    pub global: Global,
    /// Whether a search that gets stuck, or a start at which the model is not finite, is followed by others from other starts.
    pub recovers: bool,
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
        Self {
            method: Method::default(),
            global: Global::None,
            recovers: true,
            level: 0.95,
            evaluations: 0,
            threads: 0,
            seed: 0,
        }
    }
}

impl SolveOptions {
    /// The threads.
    pub(super) fn pool(&self) -> Result<ThreadPool> {
        ThreadPool::new(if self.threads == 0 { crate::host::threads() } else { self.threads })
    }
}

/// Evaluations of a search in single precision: one that takes more is lost in rounding errors.
const MOST_IN_SINGLE: usize = 200;
/// An expected shift, in standard errors, that is no convergence.
const STUCK: f64 = 1e-2;
/// A step that changes the model by less than this share of what the parameters make of it is rounding errors.
const ROUNDING: f64 = 1e-12;

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
    /// Relative decreases of the cost below this are rounding errors.
    pub noise: f64,
    /// Rows less free parameters.
    pub dof: usize,
}

impl Limits {
    /// Whether the expected shift of the parameters, whose square in standard errors is decrement / s², is small enough.
    pub(super) fn is_shift_small(&self, decrement: f64, cost: f64) -> bool {
        self.dof > 0 && decrement * self.dof as f64 <= self.shift * self.shift * 2.0 * cost
    }
}

/// Where a search ended.
pub(super) struct Found {
    pub x: DVector<f64>,
    pub normal: Normal,
    pub evaluations: usize,
    pub stop: Stop,
    /// The cost at the start and after each step.
    pub history: Vec<f64>,
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
    solve_from(problem, options, &mut Journal::default(), &mut |_| Ok(()))
}

/// The same for a long fit: what it computes is added to the journal, and what the journal has is not computed again, so that a fit which was ended goes
/// on with the same bits. After an [`approach`](super::approach()) with this journal, the search begins where that ended. `watch` sees the journal after
/// each evaluation and, where rows are many, now and then during one; its error ends the fit.
pub fn solve_from(
    problem: &Problem<'_>,
    options: &SolveOptions,
    journal: &mut Journal,
    watch: &mut dyn FnMut(&Journal) -> Result<()>,
) -> Result<Fit> {
    problem.check()?;
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
    let (found, expected_shift) = solved.map_err(|bad| bad.explained(problem))?;
    let triangle = sums.triangle(found.x.as_slice(), &search.pattern).map_err(overflow)?;
    let covariance = covariance(&triangle, &found.x, problem.rows(), search.variance(&found));
    let spread = spread(&problem.data, &pool)?;
    let fit = reported(problem, (&free, &search.bounds), &found, covariance, expected_shift, spread, options.level);
    let searched = approach.map_or_else(Searched::default, |approach| approach.searched);
    Ok(Fit { recovery: steps, searched, ..fit })
}

/// The start, or where a search on some of the rows leads from it.
pub(super) fn begin(
    problem: &Problem<'_>,
    free: &[usize],
    options: &SolveOptions,
    pool: &ThreadPool,
) -> Result<DVector<f64>> {
    warmed(problem, free, start(problem, free, options, pool)?, options, pool)
}

/// What a search ends with.
type Solved = std::result::Result<(Found, Option<f64>), Bad>;

/// What is tried first after a search on a device.
const FROM_START: (&str, Option<f64>) = ("double precision from the start", Some(0.0));

/// What is tried, in this order, if the search gets stuck or the model is not finite at the start: starts that differ from the given one by a share of it,
/// then a search of many starts.
const RECOVERY: [(&str, Option<f64>); 3] =
    [("start moved by 5 %", Some(0.05)), ("start moved by 20 %", Some(0.2)), ("many starts", None)];

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

/// An error of the derivatives at a solution.
pub(super) fn overflow(bad: Bad) -> Error {
    match bad {
        Bad::Unread(error) => error,
        Bad::Rows { .. } => {
            Error::new("fit: the derivatives at the solution are too large for their squares: scale the columns")
        }
    }
}

/// How the minimum of one objective is searched.
pub(super) struct Search {
    method: Method,
    pub bounds: Bounds,
    pub pattern: Pattern,
    limits: Limits,
    is_absolute: bool,
}

impl Search {
    /// For the parameters of a problem at the places `free`, over all its rows.
    pub(super) fn of(problem: &Problem<'_>, free: &[usize], options: &SolveOptions) -> Result<Self> {
        let search = Self::over(problem, free, problem.rows(), options)?;
        Ok(Self { pattern: Pattern::of(problem, free), ..search })
    }

    /// The same over some of the rows, those of one group.
    pub(super) fn over(problem: &Problem<'_>, free: &[usize], rows: usize, options: &SolveOptions) -> Result<Self> {
        let bound = |pick: fn(&super::Parameter) -> f64| {
            DVector::from_iterator(free.len(), free.iter().map(|&at| pick(&problem.parameters[at])))
        };
        let bounds = Bounds { low: bound(|parameter| parameter.low), high: bound(|parameter| parameter.high) };
        let method = options.method;
        if method == Method::LevenbergMarquardt && bounds.are_finite() {
            return Err(Error::usage("method: lm takes no bounds: expected trf, or no bounds"));
        }
        let evaluations = if options.evaluations == 0 { 500 * (free.len() + 1) } else { options.evaluations };
        // With a robust loss JᵀJ is not the whole curvature, so that neither the expected shift nor the last steps are exact.
        let [shift, cost] = if problem.loss == RobustLoss::Linear { [1e-5, 1e-12] } else { [1e-8, 1e-15] };
        let limits =
            Limits { evaluations, shift, cost, step: 1e-12, noise: 1e-15, dof: rows.saturating_sub(free.len()) };
        Ok(Self { method, bounds, pattern: Pattern::dense(free.len()), limits, is_absolute: problem.is_absolute })
    }

    /// The search as far as sums in single precision lead it.
    pub(super) fn in_single_precision(self) -> Self {
        let Limits { evaluations, dof, .. } = self.limits;
        let evaluations = evaluations.min(MOST_IN_SINGLE);
        let limits = Limits { evaluations, shift: 1e-3, cost: 1e-7, step: 1e-6, noise: 1e-7, dof };
        Self { limits, ..self }
    }

    /// The search alone.
    pub(super) fn run(&self, objective: &dyn Objective, start: &DVector<f64>) -> std::result::Result<Found, Bad> {
        match self.method {
            Method::TrustRegion => trust_region::search(objective, (&self.pattern, &self.bounds), start, &self.limits),
            Method::LevenbergMarquardt => levenberg::search(objective, &self.pattern, start, &self.limits),
        }
    }

    /// The search, then the last digits. Also returns how far the parameters would move in one more step, in standard errors.
    pub(super) fn solve(
        &self,
        objective: &dyn Objective,
        start: &DVector<f64>,
    ) -> std::result::Result<(Found, Option<f64>), Bad> {
        let mut found = polish(objective, (&self.pattern, &self.bounds), self.run(objective, start)?)?;
        let step = newton(&found.normal, &self.bounds.inner(&found.x, &found.normal.gradient), &self.pattern);
        let expected_shift =
            step.as_ref().and_then(|(_, decrement)| shift(*decrement, found.normal.cost, self.limits.dof));
        let effects = (0..found.x.len()).map(|at| found.x[at] * found.x[at] * found.normal.hessian[(at, at)]);
        let is_rounding = step.is_some_and(|(_, decrement)| is_rounding(decrement, effects));
        found.stop = match (found.stop, expected_shift) {
            (Stop::Evaluations, Some(shift)) if shift <= self.limits.shift => Stop::Shift,
            (Stop::Cost | Stop::Step, Some(shift)) if shift > STUCK && !is_rounding => Stop::Stuck,
            (stop, _) => stop,
        };
        Ok((found, expected_shift))
    }

    /// The factor of the covariance: 1 if sigma is absolute, the variance of the residuals otherwise.
    pub(super) fn variance(&self, found: &Found) -> f64 {
        match self.limits.dof {
            _ if self.is_absolute => 1.0,
            0 => f64::INFINITY,
            dof => 2.0 * found.normal.cost / dof as f64,
        }
    }
}

/// Whether a step changes the model by rounding errors only: where residuals are no more than that, so are the step and the standard errors. The
/// decrement is |J step|², the effects are x² |J|² of each parameter.
pub(super) fn is_rounding(decrement: f64, effects: impl Iterator<Item = f64>) -> bool {
    decrement <= ROUNDING * ROUNDING * effects.fold(0.0, f64::max)
}

/// √(gᵀ H⁻¹ g / s²), the first of which is the decrement; `None` if s² is 0 or unknown.
fn shift(decrement: f64, cost: f64, dof: usize) -> Option<f64> {
    Some((decrement * dof as f64 / (2.0 * cost)).sqrt()).filter(|shift| shift.is_finite() && dof > 0)
}
