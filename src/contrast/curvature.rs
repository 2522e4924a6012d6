//! Where R comes from, the weight of all distances of a window: a number, a field, or a tensor of rank 4 that is contracted with the inverse of the metric,
//! σ = (1/n²) Σ ginv[μ, ρ] ginv[ν, τ] R4[μ, ν, ρ, τ] and R = sqrt(|σ| + ε).

use super::field::Field;
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::model::StateBlock;
use crate::ops;
use crate::program::expr::{abs, sqrt};
use crate::record;
use crate::tensor::Tensor;

/// Where R comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Curvature {
    /// The same for all windows.
    Constant(f32),
    /// R before each step of a window.
    Each(Vec<f32>),
    /// The mean of |T| before each step.
    Field(Field),
    /// A tensor, contracted with the inverse of the metric as it is before the window.
    Collapse(Collapse),
}

record! { enum Curvature { Constant(_), Each(_), Field(_), Collapse(_) } }

/// A tensor of rank 4 that gives R.
#[derive(Clone, Debug, PartialEq)]
pub struct Collapse {
    /// R4 [n, n, n, n].
    pub tensor: Vec<f32>,
    /// ε.
    pub epsilon: f32,
}

record! { Collapse { tensor, epsilon } }

/// R during a window.
pub(super) struct Curved {
    /// R before each step, [1, 1]; a single one if it does not change.
    pub each: Vec<Var>,
    /// The blocks after the window.
    pub blocks: Vec<Var>,
}

impl Curvature {
    /// Errors if it does not fit windows of so many steps in so many coordinates.
    pub(super) fn check(&self, steps: usize, coordinates: usize) -> Result<()> {
        let wrong = |what: String| Err(Error::usage(format!("contrast: curvature: {what}")));
        match self {
            Self::Constant(r) if !is_weight(*r) => wrong(format!("got {r}, expected a finite number of at least 0")),
            Self::Each(each) if each.len() != steps => {
                wrong(format!("got {} numbers, expected one for each of {steps} steps", each.len()))
            }
            Self::Each(each) => match each.iter().position(|r| !is_weight(*r)) {
                Some(at) => wrong(format!("step {at}: got {}, expected a finite number of at least 0", each[at])),
                None => Ok(()),
            },
            Self::Field(field) => field.check(),
            Self::Collapse(Collapse { tensor, epsilon }) => {
                let expected = coordinates.pow(4);
                if tensor.len() != expected {
                    let got = tensor.len();
                    return wrong(format!("got a tensor of {got} numbers, expected {expected}, {coordinates}^4"));
                }
                if let Some(at) = tensor.iter().position(|x| !x.is_finite()) {
                    return wrong(format!("number {at} of the tensor: got {}, expected a finite number", tensor[at]));
                }
                let is_positive = *epsilon > 0.0 && epsilon.is_finite();
                if is_positive {
                    Ok(())
                } else {
                    wrong(format!("epsilon: got {epsilon}, expected a finite number above 0"))
                }
            }
            Self::Constant(_) => Ok(()),
        }
    }

    /// The blocks that it keeps.
    pub(super) fn state(&self) -> Vec<StateBlock> {
        if let Self::Field(field) = self { field.state() } else { Vec::new() }
    }

    /// R before the first step of a window, [1, 1]. `inverse` makes the inverse of the metric, [n, n].
    pub(super) fn first(&self, blocks: &[Var], like: &Var, inverse: impl FnOnce() -> Var) -> Var {
        match self {
            Self::Field(field) => field.mean_modulus(&blocks[0]),
            still => still.of_window(blocks, 1, like, inverse).each.swap_remove(0),
        }
    }

    /// R during a window of so many steps. `inverse` makes the inverse of the metric, [n, n].
    pub(super) fn of_window(&self, blocks: &[Var], steps: usize, like: &Var, inverse: impl FnOnce() -> Var) -> Curved {
        let number = |r: f32| Var::constant(Tensor::constant(like.value().device(), [1, 1], &[r]));
        let still = |each: Vec<Var>| Curved { each, blocks: Vec::new() };
        match self {
            Self::Constant(r) => still(vec![number(*r)]),
            Self::Each(each) => still(each.iter().map(|&r| number(r)).collect()),
            Self::Field(field) => {
                let mut each = Vec::new();
                let blocks = field.advanced(blocks, steps, &mut |value| each.push(field.mean_modulus(value)));
                Curved { each, blocks }
            }
            Self::Collapse(Collapse { tensor, epsilon }) => {
                let tensor = Var::constant(Tensor::constant(like.value().device(), [1, tensor.len()], tensor));
                still(vec![collapsed(&tensor, &inverse(), *epsilon)])
            }
        }
    }
}

/// Whether distances can be multiplied by it.
fn is_weight(r: f32) -> bool {
    r >= 0.0 && r.is_finite()
}

/// R = sqrt(|σ| + ε) of each row, [rows, 1], for tensors [rows, n⁴] and an inverse metric [n, n].
#[must_use]
pub fn collapsed(tensor: &Var, inverse: &Var, epsilon: f32) -> Var {
    let n = inverse.shape().sizes()[0];
    let pairs = ops::mul(&ops::reshape(inverse, [n, 1, n, 1]), &ops::reshape(inverse, [1, n, 1, n]));
    rooted(&ops::matmul(tensor, &ops::reshape(&pairs, [n.pow(4), 1])), n, epsilon)
}

/// The same for the diagonal of an inverse metric, [n]: only the n² entries [μ, ν, μ, ν] count.
#[must_use]
pub fn collapsed_diagonal(tensor: &Var, inverse: &Var, epsilon: f32) -> Var {
    let n = inverse.shape().sizes()[0];
    let places: Vec<u32> = (0..n * n).map(|at| (at * (n * n + 1)) as u32).collect();
    let places = Tensor::indices(inverse.value().device(), [n * n], &places);
    let entries = ops::take_rows(&ops::transpose(tensor), &places);
    let pairs = ops::mul(&ops::reshape(inverse, [n, 1]), &ops::reshape(inverse, [1, n]));
    rooted(&ops::product(&entries, &ops::reshape(&pairs, [n * n, 1]), true, false), n, epsilon)
}

fn rooted(sum: &Var, n: usize, epsilon: f32) -> Var {
    let share = 1.0 / (n * n) as f32;
    ops::fused(&[sum], |v| sqrt(abs(share * v[0]) + epsilon))
}
