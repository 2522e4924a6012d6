//! Ops that only move elements: reshape, broadcast, permute.

use std::rc::Rc;

use super::sum_to;
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::Result;
use crate::kernels::pointwise::natural;
use crate::program::Program;
use crate::tensor::{Shape, Tensor};

struct Reshape(Shape);

impl Op for Reshape {
    fn name(&self) -> &'static str {
        "reshape"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        inputs[0].reshape(self.0.clone())
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        Ok(vec![Some(reshape(step.gradient, step.inputs[0].shape()))])
    }
}

/// The same elements in another shape.
#[track_caller]
pub fn reshape(x: &Var, shape: impl Into<Shape>) -> Var {
    let shape = shape.into();
    if *x.shape() == shape { x.clone() } else { apply(Rc::new(Reshape(shape)), &[x]) }
}

struct Broadcast(Shape);

impl Op for Broadcast {
    fn name(&self) -> &'static str {
        "broadcast_to"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let copy = Program::build(1, |values| values[0]);
        Tensor::map(inputs[0].device(), copy, inputs, &self.0)
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        Ok(vec![Some(sum_to(step.gradient, step.inputs[0].shape()))])
    }
}

/// Broadcasts axes of size 1 (and missing outer axes) to `shape`.
#[track_caller]
pub fn broadcast_to(x: &Var, shape: &Shape) -> Var {
    if x.shape() == shape { x.clone() } else { apply(Rc::new(Broadcast(shape.clone())), &[x]) }
}

struct Permute(Vec<usize>);

impl Op for Permute {
    fn name(&self) -> &'static str {
        "permute"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let x = inputs[0];
        let pad = 4 - x.shape().rank();
        let own = natural(x.shape().dims());
        let mut strides = [0; 4];
        for (axis, &from) in self.0.iter().enumerate() {
            strides[pad + axis] = own[pad + from];
        }
        let shape = Shape::from(self.0.iter().map(|&from| x.shape().sizes()[from]).collect::<Vec<_>>());
        Tensor::strided(x.device(), Program::build(1, |values| values[0]), inputs, &[strides], &shape)
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let mut inverse = vec![0; self.0.len()];
        for (axis, &from) in self.0.iter().enumerate() {
            inverse[from] = axis;
        }
        Ok(vec![Some(permute(step.gradient, &inverse))])
    }
}

/// Axis `k` of the result is axis `order[k]` of `x`.
#[track_caller]
pub fn permute(x: &Var, order: &[usize]) -> Var {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    assert!(
        sorted.iter().copied().eq(0..x.shape().rank()),
        "permute: got {order:?}, expected a permutation of the axes of {}",
        x.shape()
    );
    apply(Rc::new(Permute(order.to_vec())), &[x])
}

/// The last two axes swapped.
#[track_caller]
pub fn transpose(x: &Var) -> Var {
    let rank = x.shape().rank();
    assert!(rank >= 2, "transpose: got {}, expected at least two axes", x.shape());
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(rank - 2, rank - 1);
    permute(x, &order)
}
