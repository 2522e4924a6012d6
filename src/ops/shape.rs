//! Ops that only move elements: reshape, broadcast, permute, stack.

use std::rc::Rc;

use super::record::{OpRecord, attribute};
use super::{slice, sum_to};
use crate::autograd::{Backward, Op, Var, apply};
use crate::device::View;
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::pointwise::natural;
use crate::program::Program;
use crate::program::onnx::Setting;
use crate::tensor::{DType, Form, Shape, Tensor};

struct Reshape(Shape);

/// The sizes of a shape among the attributes of an op.
fn sizes(attributes: &Json) -> Result<Shape> {
    Ok(Form::checked(&attribute::<Vec<usize>>(attributes, "shape")?)?.shape)
}

pub(super) static RESHAPE: OpRecord = OpRecord {
    name: "reshape",
    inputs: (1, 1),
    read: |attributes, _| Ok(Rc::new(Reshape(sizes(attributes)?))),
    onnx: |attributes, graph, inputs, _| {
        let shape = graph.sizes(attributes.field("shape")?)?;
        Ok(graph.op("Reshape", &[&inputs[0], &shape]))
    },
    text: None,
};

impl Op for Reshape {
    fn name(&self) -> &'static str {
        "reshape"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        inputs[0].reshape(self.0.clone())
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        if self.0.len() != inputs[0].shape.len() {
            return Err(Error::new(format!("got shape {}, expected as many elements as {}", self.0, inputs[0].shape)));
        }
        Ok(Form { shape: self.0.clone(), dtype: inputs[0].dtype })
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("shape", self.0.sizes().to_vec().to_json())]))
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

pub(super) static BROADCAST_TO: OpRecord = OpRecord {
    name: "broadcast_to",
    inputs: (1, 1),
    read: |attributes, _| Ok(Rc::new(Broadcast(sizes(attributes)?))),
    onnx: |attributes, graph, inputs, _| {
        let shape = graph.sizes(attributes.field("shape")?)?;
        Ok(graph.op("Expand", &[&inputs[0], &shape]))
    },
    text: None,
};

impl Op for Broadcast {
    fn name(&self) -> &'static str {
        "broadcast_to"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let copy = Program::build(1, |values| values[0]);
        Tensor::map(inputs[0].device(), copy, inputs, &self.0)
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        inputs[0].require(None)?;
        if inputs[0].shape.try_joined(&self.0)? != self.0 {
            return Err(Error::new(format!(
                "got shape {}, expected one that {} broadcasts to",
                self.0, inputs[0].shape
            )));
        }
        Ok(Form::floats(&self.0))
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("shape", self.0.sizes().to_vec().to_json())]))
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

pub(super) static PERMUTE: OpRecord = OpRecord {
    name: "permute",
    inputs: (1, 1),
    read: |attributes, _| Ok(Rc::new(Permute(attribute(attributes, "order")?))),
    onnx: |attributes, graph, inputs, _| {
        let order: Vec<usize> = attribute(attributes, "order")?;
        let order: Vec<i64> = order.iter().map(|&axis| axis as i64).collect();
        Ok(graph.node("Transpose", &[&inputs[0]], &[Setting::Ints("perm", &order)]))
    },
    text: None,
};

impl Permute {
    fn shape(&self, of: &Shape) -> Shape {
        Shape::from(self.0.iter().map(|&from| of.sizes()[from]).collect::<Vec<_>>())
    }

    /// Whether it is an order of the axes of a shape.
    fn fits(&self, shape: &Shape) -> bool {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.iter().copied().eq(0..shape.rank())
    }
}

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
        Tensor::strided(x.device(), Program::build(1, |values| values[0]), inputs, &[strides], &self.shape(x.shape()))
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        inputs[0].require(None)?;
        if !self.fits(&inputs[0].shape) {
            let (got, shape) = (&self.0, &inputs[0].shape);
            return Err(Error::new(format!("got {got:?}, expected a permutation of the axes of {shape}")));
        }
        Ok(Form::floats(self.shape(&inputs[0].shape)))
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("order", self.0.to_json())]))
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
    let permute = Permute(order.to_vec());
    assert!(permute.fits(x.shape()), "permute: got {order:?}, expected a permutation of the axes of {}", x.shape());
    apply(Rc::new(permute), &[x])
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

pub(super) static STACK: OpRecord = OpRecord {
    name: "stack",
    inputs: (1, usize::MAX),
    read: |_, _| Ok(Rc::new(Stack)),
    onnx: |_, graph, inputs, _| {
        let first = graph.list(&[0]);
        let parts: Vec<String> = inputs.iter().map(|input| graph.op("Unsqueeze", &[input, &first])).collect();
        Ok(graph.node("Concat", &parts.iter().collect::<Vec<_>>(), &[Setting::Int("axis", 0)]))
    },
    text: None,
};

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

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        for input in inputs {
            input.require(None)?;
            if input.shape != inputs[0].shape {
                let (got, expected) = (&input.shape, &inputs[0].shape);
                return Err(Error::new(format!("got shapes {expected} and {got}, expected equal ones")));
            }
        }
        Form::checked(&[&[inputs.len()], inputs[0].sizes()].concat())
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let count = step.inputs.len();
        let gradient = |at: usize| reshape(&slice(step.gradient, 0, at..at + 1), step.inputs[at].shape());
        Ok((0..count).map(|at| step.wants(at).then(|| gradient(at))).collect())
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
