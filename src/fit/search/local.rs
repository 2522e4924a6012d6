//! The search of one objective from one start, and undamped Gauss–Newton steps for the last digits.

use nalgebra::DVector;

use super::arrow::Pattern;
use super::bounds::Bounds;
use super::options::{Method, SolveOptions};
use super::polish::{newton, polish};
use super::stop::{Found, Limits, Stop};
use super::{levenberg, trust_region};
use crate::error::{Error, Result};
use crate::fit::formula::{Parameter, RobustLoss};
use crate::fit::pass::{Bad, Objective};
use crate::fit::rows::Problem;

/// Evaluations of a search in single precision: one that takes more is lost in rounding errors.
const MOST_IN_SINGLE: usize = 200;
/// An expected shift, in standard errors, that is no convergence.
const STUCK: f64 = 1e-2;
/// A step that changes the model by less than this share of what the parameters make of it is rounding errors.
const ROUNDING: f64 = 1e-12;

/// How the minimum of one objective is searched.
pub(crate) struct Search {
    method: Method,
    pub bounds: Bounds,
    pub pattern: Pattern,
    limits: Limits,
    is_absolute: bool,
}

impl Search {
    /// For the parameters of a problem at the places `free`, over all its rows.
    pub(crate) fn of(problem: &Problem<'_>, free: &[usize], options: &SolveOptions) -> Result<Self> {
        let search = Self::over(problem, free, problem.rows(), options)?;
        Ok(Self { pattern: Pattern::of(problem, free), ..search })
    }

    /// The same over some of the rows, those of one group.
    pub(crate) fn over(problem: &Problem<'_>, free: &[usize], rows: usize, options: &SolveOptions) -> Result<Self> {
        let bound = |pick: fn(&Parameter) -> f64| {
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
    pub(crate) fn in_single_precision(self) -> Self {
        let Limits { evaluations, dof, .. } = self.limits;
        let evaluations = evaluations.min(MOST_IN_SINGLE);
        let limits = Limits { evaluations, shift: 1e-3, cost: 1e-7, step: 1e-6, noise: 1e-7, dof };
        Self { limits, ..self }
    }

    /// The search alone.
    pub(crate) fn run(&self, objective: &dyn Objective, start: &DVector<f64>) -> std::result::Result<Found, Bad> {
        match self.method {
            Method::TrustRegion => trust_region::search(objective, (&self.pattern, &self.bounds), start, &self.limits),
            Method::LevenbergMarquardt => levenberg::search(objective, &self.pattern, start, &self.limits),
        }
    }

    /// The search, then the last digits. Also returns how far the parameters would move in one more step, in standard errors.
    pub(crate) fn solve(
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
    pub(crate) fn variance(&self, found: &Found) -> f64 {
        match self.limits.dof {
            _ if self.is_absolute => 1.0,
            0 => f64::INFINITY,
            dof => 2.0 * found.normal.cost / dof as f64,
        }
    }
}

/// Whether a step changes the model by rounding errors only: where residuals are no more than that, so are the step and the standard errors. The
/// decrement is |J step|², the effects are x² |J|² of each parameter.
pub(crate) fn is_rounding(decrement: f64, effects: impl Iterator<Item = f64>) -> bool {
    decrement <= ROUNDING * ROUNDING * effects.fold(0.0, f64::max)
}

/// √(gᵀ H⁻¹ g / s²), the first of which is the decrement; `None` if s² is 0 or unknown.
fn shift(decrement: f64, cost: f64, dof: usize) -> Option<f64> {
    Some((decrement * dof as f64 / (2.0 * cost)).sqrt()).filter(|shift| shift.is_finite() && dof > 0)
}
