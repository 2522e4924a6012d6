//! What an optimisation method is: its formula, and how the parameters move by it.

use crate::kernels::optimise::{ParameterPiece, RATES};
use crate::program::Expr;
use crate::program::constants::{Constant, Values};

/// An optimisation method.
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// Its description in one line.
    pub doc: &'static str,
    /// Its constants that a user may set. Every method has a `weight_decay`.
    pub constants: &'static [Constant],
    /// The rates of step `step`, counted from 1, at a learning rate.
    pub rates: fn(&Values, f64, u64) -> [f64; RATES],
    /// The new [p, m, v, a].
    pub update: fn(&State<Expr>, &Values) -> [Expr; 4],
    /// A hand-written CPU version, where measurements justify it.
    pub by_hand: Option<fn(&Values, [f32; RATES], ParameterPiece<'_>)>,
    /// What `update` returns in place of the new p, and how the parameters then move.
    pub motion: Motion,
    /// The same in plain f64, for comparison in cases.
    pub oracle: fn(&State<f64>, &Values) -> [f64; 4],
}

/// How the parameters move. The first of the rates is the learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// `update` returns the new p.
    ByValue,
    /// `update` returns a direction u, along which each tensor moves by the learning rate times |p| / |u|.
    ByTensor,
    /// `update` returns a direction u. Those of hidden matrices, whose second and third rates are 0, are made orthogonal first. Then each parameter
    /// is multiplied by the last of the rates and moves by the learning rate times -u.
    Orthogonal,
    /// `update` returns the gradient, and all else follows by [`Adafactor`](super::Adafactor). The rates: the learning rate, the weight of new squares, the step in
    /// proportion to the parameter, the factor of the parameter.
    Factored,
}

/// The inputs of an update of one parameter.
#[derive(Clone, Copy)]
pub struct State<T> {
    /// The gradient of the batch's mean loss.
    pub g: T,
    /// The parameter.
    pub p: T,
    /// The first moment, initially 0.
    pub m: T,
    /// The second moment, initially 0.
    pub v: T,
    /// A mean of the parameter over steps less the parameter, initially 0. Methods without one leave it as it is.
    pub a: T,
    /// The rates of the step.
    pub rates: [T; RATES],
}
