//! When a search ends, why, and where.

use nalgebra::DVector;

use crate::fit::pass::Normal;

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
    /// The cost rises to both sides of one parameter, such as the place of a bend, and the others converged.
    Corner,
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
            Self::Corner => "corner",
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
pub(crate) struct Limits {
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
    pub(crate) fn is_shift_small(&self, decrement: f64, cost: f64) -> bool {
        self.dof > 0 && decrement * self.dof as f64 <= self.shift * self.shift * 2.0 * cost
    }
}

/// Where a search ended.
pub(crate) struct Found {
    pub x: DVector<f64>,
    pub normal: Normal,
    pub evaluations: usize,
    pub stop: Stop,
    /// The cost at the start and after each step.
    pub history: Vec<f64>,
}
