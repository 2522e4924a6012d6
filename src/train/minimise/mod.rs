//! Minimisers of a whole loss on the host, in f64: L-BFGS, and Newton's method with the diagonal of the Hessian. They suit small deterministic
//! problems; a `Trainer` takes batches.
//!
//! A function to minimise is an async closure from a point to its value and gradient. One that only computes returns at once; [`FlatLoss`] makes
//! one from a loss over `Var`, which waits for the device. An error of the function ends the search. A value that is not finite is a step too far.

mod flat;
mod lbfgs;
mod newton;
mod wolfe;

pub use flat::FlatLoss;
pub use lbfgs::{Lbfgs, lbfgs};
pub use newton::{Diagonal, NewtonDiagonal, newton_diagonal};

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The gradient is small enough.
    Gradient,
    /// No smaller value was found: what is left is rounding error.
    Rounding,
    /// The limit of iterations.
    Iterations,
}

/// Where a search ended.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// The point.
    pub x: Vec<f64>,
    /// The function there.
    pub value: f64,
    /// Its gradient there.
    pub gradient: Vec<f64>,
    /// Accepted steps.
    pub iterations: usize,
    /// Evaluations of the function.
    pub evaluations: usize,
    /// Why it ended.
    pub ending: Ending,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The largest absolute value.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, value| most.max(value.abs()))
}
