//! What a loss of a model's outputs is: everything that is known about it.

use super::{Link, Target};
use crate::autograd::Var;
use crate::kernels::mlp::RowGoal;
use crate::program::Expr;
use crate::program::constants::{Constant, Values};

/// Everything about a loss of a model's outputs: one file defines it, one word in the list of `mod.rs` makes it known.
#[derive(Debug)]
pub struct LossRecord {
    /// Its name.
    pub name: &'static str,
    /// Its description in one line.
    pub doc: &'static str,
    /// What it takes as targets.
    pub target: Target,
    /// How outputs become predictions.
    pub link: &'static Link,
    /// Its constants that a user may set.
    pub constants: &'static [Constant],
    /// How it is computed.
    pub rule: Rule,
}

/// How the loss of a row is computed.
#[derive(Debug)]
pub enum Rule {
    /// The mean over the outputs of a function of prediction p and target y.
    Pointwise {
        /// The function.
        formula: fn(Expr, Expr, &Values) -> Expr,
        /// The same in plain f64, written independently of `formula`, for comparison in cases.
        oracle: fn(f64, f64, &Values) -> f64,
    },
    /// A function of all outputs of the row.
    Row {
        /// The weighted sum of row losses and the sum of weights, both of shape [1].
        sums: fn(&Compared<'_>, &Values) -> (Var, Var),
        /// The mean over rows of weight 1 in f64, from outputs [rows, outputs] and targets.
        mean: fn(&[f32], &[f32], usize) -> f64,
        /// The loss in the fused step, if that takes it.
        fused: Option<fn(&Values) -> RowGoal>,
    },
}

/// Outputs and what they are compared with.
pub struct Compared<'a> {
    /// [rows, outputs].
    pub z: &'a Var,
    /// The targets: [rows, values], or class indices [rows, 1].
    pub y: &'a Var,
    /// The weight of each row, [rows, 1].
    pub rows: &'a Var,
    /// The weight of each class, [1, classes].
    pub classes: &'a Var,
}
