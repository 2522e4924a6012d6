//! Ops that only move elements: reshape, broadcast, permute, stack.

use std::rc::Rc;

use super::{sum_to, take_rows};
use crate::autograd::{Backward, Op, Var, apply};
use crate::device::View;
use crate::error::Result;
use crate::kernels::pointwise::natural;
use crate::program::Program;
use crate::tensor::{DType, Shape, Tensor};

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

struct Stack;

impl Op for Stack {
    fn name(&self) -> &'static str {
        "stack"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let sizes: Vec<usize> = [inputs.len()].into_iter().chain(inputs[0].shape().sizes().iter().copied()).collect();
        let out = Tensor::empty(inputs[0].device(), sizes, DType::F32);
        for (at, input) in inputs.iter().enumerate() {
            let words = input.len();
            input.copy_into(&View { buffer: out.view().buffer.clone(), offset: out.view().offset + at * words, words });
        }
        out
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let count = step.inputs.len();
        let table = reshape(step.gradient, [count, step.gradient.shape().len() / count]);
        let device = table.value().device().clone();
        let gradient = |at: usize| {
            let index = Tensor::from_u32(&device, [1], &[at as u32])?;
            Ok(Some(reshape(&take_rows(&table, &index), step.inputs[at].shape())))
        };
        (0..count).map(|at| if step.wants(at) { gradient(at) } else { Ok(None) }).collect()
    }
}

/// Values of the same shape along a new first axis.
#[track_caller]
pub fn stack(values: &[&Var]) -> Var {
    let first = values.first().expect("stack: got no values, expected at least one");
    for value in values {
        let (got, expected) = (value.shape(), first.shape());
        assert!(got == expected, "stack: got shapes {expected} and {got}, expected equal ones");
        assert!(value.value().dtype() == DType::F32, "stack: got {:?}, expected F32", value.value().dtype());
    }
    apply(Rc::new(Stack), values)
}
