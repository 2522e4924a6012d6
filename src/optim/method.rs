//! What an optimisation method is: its formula, and how the parameters move by it.

use crate::autograd::Var;
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
    /// The learning rate that suits most models.
    pub usual_rate: f64,
    /// Whether its default weight decay suits it better than that of a model.
    pub has_own_decay: bool,
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
    /// `update` returns a direction u, and what each parameter moves by is made of whole tensors, in launches of their own.
    OfTensors(&'static TensorMotion),
}

/// What parameters move by, made of whole tensors by ops.
#[derive(Debug)]
pub struct TensorMotion {
    /// Whether only hidden weight matrices, in whose updates the second and the third rate are 0, move by `moved`; other parameters move by u.
    pub is_of_matrices: bool,
    /// The shapes of what is kept from update to update of a parameter of these sizes, initially 0; of every parameter.
    pub kept: fn(&[usize]) -> Vec<Vec<usize>>,
    /// What comes new to each of them in an update.
    pub fresh: fn(&Moving<'_>) -> Vec<Var>,
    /// The next value of what is kept, from its value, what comes new and the rates.
    pub mixed: fn(Expr, Expr, [Expr; RATES]) -> Expr,
    /// What the parameter moves by, from what is kept by then.
    pub moved: fn(&Moving<'_>) -> Var,
    /// The new parameter, from the parameter, what it moves by and the rates.
    pub step: fn(Expr, Expr, [Expr; RATES]) -> Expr,
}

impl PartialEq for TensorMotion {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for TensorMotion {}

/// A parameter that moves.
pub struct Moving<'m> {
    /// What `update` returned, in the parameter's shape.
    pub direction: &'m Var,
    /// The parameter.
    pub value: &'m Var,
    /// What is kept of it.
    pub kept: &'m [Var],
    /// The constants of the method.
    pub constants: &'m Values,
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
