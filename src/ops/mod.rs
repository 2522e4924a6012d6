//! The differentiable operations: for each op its shape rule, its kernel and its gradient, which consists of ops.

mod block;
mod cast;
mod custom;
mod index;
mod layer;
mod matmul;
mod normalize;
mod operators;
mod pointwise;
mod random;
mod rational;
mod record;
mod records;
mod reduce;
mod repeat;
mod second;
mod shape;
mod slice;

pub use block::block;
pub(crate) use block::is_free;
pub use cast::cast;
pub use custom::{custom, reverse_gradient, scale_gradient, straight_through};
pub use index::{add_rows, pick, place, take_rows};
pub use layer::layer;
pub use matmul::{matmul, product};
pub use normalize::{layer_norm, log_softmax, logsumexp, softmax};
pub use pointwise::named::*;
pub use pointwise::{constant, fused, maximum};
pub use random::{dropout_mask, normal, uniform, uniform_each_step};
pub(crate) use rational::RATIONAL;
pub use rational::rational;
pub use record::{Inner, Nodes, OpRecord, Reading, Text};
pub(crate) use record::{attribute, check_constants, no_bottom};
pub use records::RECORDS;
pub use reduce::{argmax, max, mean, sum, sum_to};
pub use repeat::{repeat, scan};
pub use second::{
    MOST_PASSES, hessian, hessian_diagonal, hutchinson_diagonal, hvp, jacobian, jvp, per_sample_gradients, vjp,
};
pub use shape::{broadcast_to, permute, reshape, stack, transpose};
pub use slice::{concat, pad, slice};

use crate::autograd::{self, Var};
use crate::error::Result;

/// Gradients of the sum of `output` with respect to `variables`; `None` where no path leads there.
///
/// The gradients are tracked: `grad` of a gradient is the second derivative.
pub fn grad(output: &Var, variables: &[&Var]) -> Result<Vec<Option<Var>>> {
    output.value().device().turn();
    let ones = broadcast_to(&constant(output, 1.0), output.shape());
    grad_with_seed(output, &ones, variables)
}

/// The same for the sum of seed · `output`: a vector-Jacobian product. `seed` has the shape of `output`.
#[track_caller]
pub fn grad_with_seed(output: &Var, seed: &Var, variables: &[&Var]) -> Result<Vec<Option<Var>>> {
    autograd::grad(&[(output, seed)], variables, add)
}
