//! Sums, means, largest values and their indices, along axes or over whole tensors.

use std::rc::Rc;

use super::record::{OpRecord, attribute, finite};
use super::{broadcast_to, div, eq, mul, reshape};
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::reduce::Join;
use crate::program::onnx::Setting;
use crate::tensor::{DType, Form, Shape, Tensor};

/// A reduction along a run of neighbouring axes, which are kept with size 1.
struct Reduce {
    join: Join,
    axes: std::ops::Range<usize>,
    scale: f32,
}

/// Axes and scale of a reduction from its attributes.
fn axes(attributes: &Json) -> Result<std::ops::Range<usize>> {
    let [start, end] = attribute(attributes, "axes")?;
    Ok(start..end)
}

fn read(join: Join, attributes: &Json) -> Result<Rc<dyn Op>> {
    let scale = if join == Join::Sum { attribute(attributes, "scale")? } else { 1.0 };
    Ok(Rc::new(Reduce { join, axes: axes(attributes)?, scale }))
}

fn listed(attributes: &Json) -> Result<Vec<i64>> {
    Ok(axes(attributes)?.map(|axis| axis as i64).collect())
}

pub(super) static SUM: OpRecord = OpRecord {
    name: "sum",
    inputs: (1, 1),
    read: |attributes, _| read(Join::Sum, attributes),
    onnx: |attributes, graph, inputs, _| {
        let (axes, scale) = (graph.list(&listed(attributes)?), attribute(attributes, "scale")?);
        let sum = graph.node("ReduceSum", &[&inputs[0], &axes], &[Setting::Int("keepdims", 1)]);
        let scale = graph.number(scale);
        Ok(graph.op("Mul", &[&sum, &scale]))
    },
    text: None,
};

pub(super) static MAX: OpRecord = OpRecord {
    name: "max",
    inputs: (1, 1),
    read: |attributes, _| read(Join::Max, attributes),
    onnx: |attributes, graph, inputs, _| {
        let axes = graph.list(&listed(attributes)?);
        Ok(graph.node("ReduceMax", &[&inputs[0], &axes], &[Setting::Int("keepdims", 1)]))
    },
    text: None,
};

pub(super) static ARGMAX: OpRecord = OpRecord {
    name: "argmax",
    inputs: (1, 1),
    read: |attributes, _| read(Join::Argmax, attributes),
    onnx: |attributes, graph, inputs, _| {
        let settings = [Setting::Int("axis", axes(attributes)?.start as i64), Setting::Int("keepdims", 1)];
        Ok(graph.node("ArgMax", &[&inputs[0]], &settings))
    },
    text: None,
};

impl Op for Reduce {
    fn name(&self) -> &'static str {
        match self.join {
            Join::Sum => "sum",
            Join::Max => "max",
            Join::Argmax => "argmax",
        }
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let kept = kept(inputs[0].shape(), &self.axes);
        inputs[0].reduce(self.join, self.axes.clone(), self.scale).reshape(kept)
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        inputs[0].require(None)?;
        let (axes, rank) = (&self.axes, inputs[0].shape.rank());
        let is_one = self.join != Join::Argmax || axes.len() == 1;
        if !(axes.start < axes.end && axes.end <= rank && is_one) {
            return Err(Error::new(format!("got axes {axes:?}, expected axes of a tensor with {rank}")));
        }
        let is_empty = axes.clone().any(|axis| inputs[0].sizes()[axis] == 0);
        if is_empty && self.join != Join::Sum {
            return Err(Error::new(format!("got shape {}, which has no largest value", inputs[0].shape)));
        }
        let dtype = if self.join == Join::Argmax { DType::U32 } else { DType::F32 };
        Ok(Form { shape: kept(&inputs[0].shape, axes), dtype })
    }

    fn attributes(&self) -> Result<Json> {
        let mut fields = vec![("axes".to_owned(), [self.axes.start, self.axes.end].to_json())];
        if self.join == Join::Sum {
            fields.push(("scale".to_owned(), finite("sum", self.scale)?));
        }
        Ok(Json::Fields(fields))
    }

    /// sum: dx = scale · dy. max: dx = dy divided equally among the elements where x is the largest.
    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let x = &step.inputs[0];
        match self.join {
            Join::Sum => {
                let scale = super::constant(step.output, self.scale);
                Ok(vec![Some(broadcast_to(&mul(step.gradient, &scale), x.shape()))])
            }
            Join::Max => {
                let is_largest = eq(x, step.output).detach();
                let count = join(&is_largest, Join::Sum, self.axes.clone(), 1.0);
                Ok(vec![Some(div(&mul(&is_largest, step.gradient), &count))])
            }
            Join::Argmax => Err(Error::new("grad: argmax has no gradient")),
        }
    }
}

fn kept(shape: &Shape, axes: &std::ops::Range<usize>) -> Shape {
    let size = |axis: usize| if axes.contains(&axis) { 1 } else { shape.sizes()[axis] };
    Shape::from((0..shape.rank()).map(size).collect::<Vec<_>>())
}

#[track_caller]
fn join(x: &Var, join: Join, axes: std::ops::Range<usize>, scale: f32) -> Var {
    let rank = x.shape().rank();
    assert!(
        axes.end <= rank && axes.start <= axes.end,
        "{join:?}: got axes {axes:?}, expected axes of a tensor with {rank}"
    );
    if axes.is_empty() && join != Join::Argmax {
        return x.clone();
    }
    apply(Rc::new(Reduce { join, axes, scale }), &[x])
}

/// The sum along a run of neighbouring axes, which are kept with size 1.
#[track_caller]
pub fn sum(x: &Var, axes: std::ops::Range<usize>) -> Var {
    join(x, Join::Sum, axes, 1.0)
}

/// The mean along a run of neighbouring axes, which are kept with size 1.
#[track_caller]
pub fn mean(x: &Var, axes: std::ops::Range<usize>) -> Var {
    let count: usize = x.shape().sizes()[axes.clone()].iter().product();
    join(x, Join::Sum, axes, 1.0 / count as f32)
}

/// The largest value along a run of neighbouring axes, which are kept with size 1.
#[track_caller]
pub fn max(x: &Var, axes: std::ops::Range<usize>) -> Var {
    join(x, Join::Max, axes, 1.0)
}

/// The first index of the largest value along one axis, which is kept with size 1; `U32`, no gradient.
#[track_caller]
pub fn argmax(x: &Var, axis: usize) -> Var {
    join(x, Join::Argmax, axis..axis + 1, 1.0)
}

/// The gradient of a broadcast: sums along the axes along which `shape` was broadcast.
#[track_caller]
pub fn sum_to(x: &Var, shape: &Shape) -> Var {
    if x.shape() == shape {
        return x.clone();
    }
    let (wide, narrow) = (x.shape().dims(), shape.dims());
    let skipped = 4 - x.shape().rank();
    let mut out = x.clone();
    for axis in (0..x.shape().rank()).rev() {
        if wide[axis + skipped] != narrow[axis + skipped] {
            out = sum(&out, axis..axis + 1);
        }
    }
    reshape(&out, shape)
}
