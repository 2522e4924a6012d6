//! Ranges along an axis: part of a value, a value with zeros around it, values one after the other.

use std::ops::Range;
use std::rc::Rc;

use super::add;
use super::record::{OpRecord, attribute};
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::window::{Window, dispatch};
use crate::program::onnx::{Setting, element};
use crate::tensor::{DType, Form, Shape, Tensor};

/// Elements `start..end` along an axis.
struct Slice {
    axis: usize,
    start: usize,
    end: usize,
}

/// Zeros before a value along an axis, and after it up to `size`.
struct Pad {
    axis: usize,
    before: usize,
    size: usize,
}

pub(super) static SLICE: OpRecord = OpRecord {
    name: "slice",
    inputs: (1, 1),
    read: |attributes, _| Ok(Rc::new(Slice::read(attributes)?)),
    onnx: |attributes, graph, inputs, _| {
        let axis = graph.list(&[attribute::<usize>(attributes, "axis")? as i64]);
        let [start, end] = ["start", "end"].map(|name| graph.sizes(&Json::List(vec![attributes.field(name)?.clone()])));
        let (start, end) = (start?, end?);
        Ok(graph.op("Slice", &[&inputs[0], &start, &end, &axis]))
    },
    text: None,
};

pub(super) static PAD: OpRecord = OpRecord {
    name: "pad",
    inputs: (1, 1),
    read: |attributes, _| Ok(Rc::new(Pad::read(attributes)?)),
    onnx: |attributes, graph, inputs, forms| {
        let pad = Pad::read(attributes);
        let Pad { axis, before, size } = pad.map_err(|error| error.within("onnx: pad of rows"))?;
        let (rank, own) = (forms[0].shape.rank(), forms[0].sizes()[axis]);
        let mut pads = vec![0; 2 * rank];
        (pads[axis], pads[rank + axis]) = (before as i64, (size - before - own) as i64);
        let pads = graph.list(&pads);
        let zero = graph.number(0.0);
        let is_index = forms[0].dtype == DType::U32;
        let zero = if is_index { graph.node("Cast", &[&zero], &[Setting::Int("to", element::INT)]) } else { zero };
        Ok(graph.op("Pad", &[&inputs[0], &pads, &zero]))
    },
    text: None,
};

/// The value of a window along `axis` of `x`, in which it has `extent` elements.
fn moved(x: &Tensor, axis: usize, extent: usize, [skip, pad]: [usize; 2]) -> Tensor {
    let out = Tensor::empty(x.device(), resized(x.shape(), axis, extent), x.dtype());
    let sizes = x.shape().sizes();
    let window = Window { extents: [sizes[axis], extent], inner: sizes[axis + 1..].iter().product(), skip, pad };
    out.launch(dispatch(window, x.view().clone(), out.view().clone()));
    out
}

/// A shape with another size of one axis.
fn resized(shape: &Shape, axis: usize, size: usize) -> Shape {
    let mut sizes = shape.sizes().to_vec();
    sizes[axis] = size;
    sizes.into()
}

/// Errors unless a value has such an axis, and words as elements.
fn check(of: &Form, axis: usize) -> Result<usize> {
    if of.dtype == DType::F16 {
        return Err(Error::new("got F16, expected F32 or U32"));
    }
    let size = of.sizes().get(axis).copied();
    size.ok_or_else(|| Error::new(format!("got axis {axis}, expected one of {}", of.shape)))
}

impl Slice {
    fn read(attributes: &Json) -> Result<Self> {
        let [axis, start, end] =
            [attribute(attributes, "axis"), attribute(attributes, "start"), attribute(attributes, "end")];
        Ok(Self { axis: axis?, start: start?, end: end? })
    }
}

impl Op for Slice {
    fn name(&self) -> &'static str {
        "slice"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        moved(inputs[0], self.axis, self.end - self.start, [self.start, 0])
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let Self { axis, start, end } = *self;
        let size = check(&inputs[0], axis)?;
        if start > end || end > size {
            return Err(Error::new(format!(
                "got {start}..{end} of axis {axis}, expected a range within the {size} elements of {}",
                inputs[0].shape
            )));
        }
        Ok(Form { shape: resized(&inputs[0].shape, axis, end - start), dtype: inputs[0].dtype })
    }

    fn attributes(&self) -> Result<Json> {
        let Self { axis, start, end } = self;
        Ok(Json::fields([("axis", axis.to_json()), ("start", start.to_json()), ("end", end.to_json())]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let size = step.inputs[0].shape().sizes()[self.axis];
        let pad = Pad { axis: self.axis, before: self.start, size };
        Ok(vec![Some(apply(Rc::new(pad), &[step.gradient]))])
    }
}

impl Pad {
    fn read(attributes: &Json) -> Result<Self> {
        let [axis, before, size] =
            [attribute(attributes, "axis"), attribute(attributes, "before"), attribute(attributes, "size")];
        Ok(Self { axis: axis?, before: before?, size: size? })
    }
}

impl Op for Pad {
    fn name(&self) -> &'static str {
        "pad"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        moved(inputs[0], self.axis, self.size, [0, self.before])
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let Self { axis, before, size } = *self;
        let own = check(&inputs[0], axis)?;
        if before.checked_add(own).is_none_or(|end| end > size) {
            return Err(Error::new(format!(
                "got {before} zeros before the {own} elements of axis {axis}, expected at most {size} of both"
            )));
        }
        let shape = resized(&inputs[0].shape, axis, size);
        Ok(Form { shape: Form::checked(shape.sizes())?.shape, dtype: inputs[0].dtype })
    }

    fn attributes(&self) -> Result<Json> {
        let Self { axis, before, size } = self;
        Ok(Json::fields([("axis", axis.to_json()), ("before", before.to_json()), ("size", size.to_json())]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let end = self.before + step.inputs[0].shape().sizes()[self.axis];
        Ok(vec![Some(apply(Rc::new(Slice { axis: self.axis, start: self.before, end }), &[step.gradient]))])
    }
}

/// Applies an op to a value that it fits, or panics.
#[track_caller]
fn checked(op: impl Op + 'static, x: &Var) -> Var {
    op.form(&[x.value().form()]).unwrap_or_else(|error| panic!("{}: {error}", op.name()));
    apply(Rc::new(op), &[x])
}

/// The elements of `x` in `range` along `axis`.
///
/// Panics for an axis or a range that `x` does not have.
///
/// ```
/// # use meromorph::{Device, Result, autograd::Var, ops, tensor::Tensor};
/// # fn main() -> Result<()> {
/// let x = Var::constant(Tensor::from_f32(&Device::cpu(1), [2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])?);
/// let last = ops::slice(&x, 1, 1..3);
/// assert_eq!(pollster::block_on(last.value().to_f32())?, [1.0, 2.0, 4.0, 5.0]);
/// assert_eq!(pollster::block_on(ops::pad(&last, 1, 1, 0).value().to_f32())?, [0.0, 1.0, 2.0, 0.0, 4.0, 5.0]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn slice(x: &Var, axis: usize, range: Range<usize>) -> Var {
    if x.shape().sizes().get(axis).is_some_and(|&size| range == (0..size)) {
        return x.clone();
    }
    checked(Slice { axis, start: range.start, end: range.end }, x)
}

/// `x` with so many zeros before and after it along `axis`.
///
/// Panics for an axis that `x` does not have.
#[track_caller]
pub fn pad(x: &Var, axis: usize, before: usize, after: usize) -> Var {
    let own = x.shape().sizes().get(axis).copied();
    if before + after == 0 && own.is_some() {
        return x.clone();
    }
    let own = own.unwrap_or_default();
    checked(Pad { axis, before, size: before + own + after }, x)
}

/// Values of floats one after the other along `axis`; their other sizes are equal.
///
/// ```
/// # use meromorph::{Device, Result, autograd::Var, ops, tensor::Tensor};
/// # fn main() -> Result<()> {
/// let device = Device::cpu(1);
/// let a = Var::constant(Tensor::from_f32(&device, [2, 1], &[1.0, 2.0])?);
/// let b = Var::constant(Tensor::from_f32(&device, [2, 2], &[3.0, 4.0, 5.0, 6.0])?);
/// assert_eq!(pollster::block_on(ops::concat(&[&a, &b], 1).value().to_f32())?, [1.0, 3.0, 4.0, 2.0, 5.0, 6.0]);
/// # Ok(())
/// # }
/// ```
///
/// Panics for no values, indices, an axis that they do not have, and other sizes that differ.
#[track_caller]
pub fn concat(values: &[&Var], axis: usize) -> Var {
    let first = values.first().expect("concat: got no values, expected at least one");
    let mut size = 0;
    for value in values {
        let own = value.shape().sizes().get(axis).copied();
        value.value().form().require(None).unwrap_or_else(|error| panic!("concat: {error}"));
        let own = own.unwrap_or_else(|| panic!("concat: got axis {axis}, expected one of {}", value.shape()));
        let (got, expected) = (resized(value.shape(), axis, 0), resized(first.shape(), axis, 0));
        assert!(
            got == expected,
            "concat: got shapes {} and {}, expected equal ones but for axis {axis}",
            first.shape(),
            value.shape()
        );
        size += own;
    }
    let mut before = 0;
    let padded = values.iter().map(|value| {
        let own = value.shape().sizes()[axis];
        before += own;
        pad(value, axis, before - own, size - before)
    });
    padded.reduce(|all, next| add(&all, &next)).expect("at least one")
}
