//! The update rule of an optimiser, as data.

use std::sync::Arc;

use super::limit::{Limit, LossScale, UPDATE_WORDS};
use super::piece::ParameterPiece;
use super::sizes::RATES;
use crate::program::{Expr, Instruction, Program};

/// Update rule of an optimiser: a program of the mean gradient g, the parameter p, its moments m and v, the distance a of a mean of weights from p,
/// and the step's four rates. Its results are the new p, m, v and a, each computed, the gradient, or as it was; the last is neither read nor written.
#[derive(Clone)]
pub struct Rule {
    /// Inputs [g, p, m, v, a, rate 0, …, rate 3]; results [p, m, v, a].
    pub program: Program,
    /// A hand-written CPU version, where measurements justify it.
    pub by_hand: Option<ByHand>,
    /// How gradients are limited, and what happens to those that are not finite.
    pub bounds: GradientBounds,
    /// Whether parameters are in groups with rates of their own.
    pub is_grouped: bool,
}

/// What is done to the gradients of an update before the optimiser sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GradientBounds {
    /// The limit of their norm.
    pub limit: Limit,
    /// The largest size of each, after that.
    pub largest: Option<f32>,
    /// Whether an update with a gradient that is not finite is left out; otherwise it spoils the parameters, which ends a run.
    pub skips: bool,
    /// Whether `fold` sums gradients for another reason, as where several steps make one update.
    pub is_summed: bool,
    /// What the loss was multiplied by.
    pub scale: Option<LossScale>,
}

impl GradientBounds {
    /// Whether the update needs the sums of `fold`.
    pub fn needs_fold(&self) -> bool {
        self.limit != Limit::None || self.skips || self.is_summed
    }
}

/// A hand-written update from the step's rates; cases check that it equals the program.
pub type ByHand = Arc<dyn Fn([f32; RATES], ParameterPiece<'_>) + Send + Sync>;

impl Rule {
    /// Number of inputs of its program.
    pub const INPUTS: usize = 5 + RATES;

    /// A rule without limits.
    pub fn new(program: Program, by_hand: Option<ByHand>) -> Self {
        Self { program, by_hand, bounds: GradientBounds::default(), is_grouped: false }
    }

    /// For the same parameters, a step of this length up the gradient.
    pub fn uphill(&self, length: f32) -> Self {
        self.of_weights(Limit::Length(length), |p, g, _| p + g)
    }

    /// For the same parameters, the step along directions that come in place of gradients: as far as the first rate times the norm of the tensor.
    pub fn along_directions(&self) -> Self {
        self.of_weights(Limit::Trust, |p, direction, rate| p - rate * direction)
    }

    /// For a second launch of the same update, which is made if the first is: only the weights change, by the weight, what comes in place of its
    /// gradient, and the rates.
    pub fn following(&self, change: impl Fn(Expr, Expr, [Expr; RATES]) -> Expr) -> Self {
        let bounds = GradientBounds {
            skips: self.bounds.skips,
            is_summed: self.bounds.needs_fold(),
            ..GradientBounds::default()
        };
        Self { bounds, is_grouped: self.is_grouped, ..Self::new(of_weights(change), None) }
    }

    /// A rule that only changes the weights: by the weight, its gradient and the first rate.
    fn of_weights(&self, limit: Limit, change: impl Fn(Expr, Expr, Expr) -> Expr) -> Self {
        let program = of_weights(|p, g, rates| change(p, g, rates[0]));
        let bounds = GradientBounds { limit, is_summed: self.bounds.is_summed, ..GradientBounds::default() };
        Self { bounds, is_grouped: self.is_grouped, ..Self::new(program, None) }
    }

    /// Whether it keeps a mean of weights.
    pub fn has_mean(&self) -> bool {
        self.changes(3)
    }

    /// Arrays as long as the parameters in `moments`: both moments, and the distance of a mean of weights if there is one; none if nothing is kept.
    pub fn arrays(&self) -> usize {
        match [1, 2, 3].map(|at| self.changes(at)) {
            [_, _, true] => 3,
            [false, false, false] => 0,
            _ => 2,
        }
    }

    /// Words of `moments` for `total` parameters: the arrays, then what updates remember.
    pub fn moment_words(&self, total: usize) -> usize {
        self.arrays() * total + UPDATE_WORDS
    }

    /// Whether result `at` is the gradient.
    pub(crate) fn is_gradient(&self, at: usize) -> bool {
        self.program.code[usize::from(self.program.results[at])] == Instruction::Input(0)
    }

    /// Whether result `at` is not the input that it replaces.
    pub(super) fn changes(&self, at: usize) -> bool {
        let input = Instruction::Input(at as u16 + 1);
        let place = self.program.code.iter().position(|known| *known == input);
        place.is_none_or(|place| place as u16 != self.program.results[at])
    }
}

/// A program that only changes the weights.
fn of_weights(change: impl Fn(Expr, Expr, [Expr; RATES]) -> Expr) -> Program {
    Program::with_results(Rule::INPUTS, |v| vec![change(v[1], v[0], [v[5], v[6], v[7], v[8]]), v[2], v[3], v[4]])
}
