//! The op of this module: a program of scalar ops in masked form. Its gradient is the program's vector-Jacobian product in masked form, of which
//! only the values are kept: a gradient that is not defined or not representable is 0.

use std::rc::Rc;

use super::Masked;
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::Result;
use crate::kernels::masked::{Operand, Planes, dispatch, planes_words};
use crate::kernels::pointwise::{IterationSpace, MAX_INPUTS};
use crate::ops;
use crate::program::{Expr, Program};
use crate::tensor::{DType, Shape, Tensor};

/// Planes of a tensor: a tensor of words.
type Marked = (Planes, Tensor);

struct Total {
    program: Program,
    planes: Vec<Option<Marked>>,
    /// Destination of the result's planes.
    made: Marked,
}

impl Op for Total {
    fn name(&self) -> &'static str {
        "masked"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let shape = joined(inputs.iter().map(|input| input.shape()));
        let out = Tensor::empty(inputs[0].device(), &shape, DType::F32);
        let mut space = IterationSpace { dims: shape.dims(), strides: [[0; 4]; MAX_INPUTS] };
        for (strides, input) in space.strides.iter_mut().zip(inputs) {
            assert_eq!(input.dtype(), DType::F32, "masked: got {:?}, expected f32", input.dtype());
            *strides = input.shape().broadcast_strides(&shape);
        }
        let operand = |(input, planes): (&&Tensor, &Option<Marked>)| Operand {
            values: input.view().clone(),
            planes: planes.as_ref().map(|(kind, words)| (*kind, words.view().clone())),
        };
        let operands: Vec<Operand> = inputs.iter().zip(&self.planes).map(operand).collect();
        let (kind, words) = &self.made;
        let is_traced = *kind == Planes::Fault;
        let (values, bits) = (out.view().clone(), words.view().clone());
        out.launch(dispatch(self.program.clone(), space, &operands, values, bits, is_traced));
        out
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        Ok((0..step.inputs.len()).map(|at| step.wants(at).then(|| self.gradient(step, at))).collect())
    }
}

impl Total {
    /// The gradient for input `at`. The result's mask includes those of all inputs, so only it is read, besides the upstream gradient.
    fn gradient(&self, step: &Backward<'_>, at: usize) -> Var {
        let shape = step.inputs[at].shape();
        let Some(program) = self.program.vjp(at) else {
            return ops::broadcast_to(&ops::constant(step.output, 0.0), shape);
        };
        let (program, used) = program.compacted();
        let upstream = step.inputs.len();
        let place = |&input: &usize| {
            if input == upstream {
                Masked { value: step.gradient.clone(), planes: Some(self.made.clone()), is_traced: false }
            } else {
                Masked::from(&step.inputs[input])
            }
        };
        let inputs: Vec<Masked> = used.iter().map(place).collect();
        let wide = run(program, &inputs.iter().collect::<Vec<_>>()).value;
        if wide.shape() == shape {
            return wide;
        }
        // The gradient of a broadcast is a sum, which may overflow.
        let sum = ops::sum_to(&ops::broadcast_to(&wide, step.output.shape()), shape);
        fused(&[&Masked::from(&sum)], |v| v[0]).value
    }
}

#[track_caller]
fn joined<'a>(shapes: impl Iterator<Item = &'a Shape>) -> Shape {
    shapes.cloned().reduce(|a, b| a.joined(&b)).expect("a masked program has an input")
}

#[track_caller]
fn run(program: Program, inputs: &[&Masked]) -> Masked {
    let is_traced = inputs.iter().any(|input| input.is_traced);
    let kind = if is_traced { Planes::Fault } else { Planes::Bottom };
    let count = joined(inputs.iter().map(|input| input.shape())).len();
    let words = Tensor::empty(inputs[0].value.value().device(), [planes_words(kind, count)], DType::U32);
    let made = (kind, words);
    let planes = inputs.iter().map(|input| input.planes.clone()).collect();
    let op = Total { program, planes, made: made.clone() };
    let values: Vec<&Var> = inputs.iter().map(|input| &input.value).collect();
    Masked { value: apply(Rc::new(op), &values), planes: Some(made), is_traced }
}

/// An expression over masked numbers as one launch, inputs broadcast: `fused(&[x, y], |v| v[0] / v[1] + 1.0)`. Computes values and mask
/// in one pass. Inputs and their masks, where they exist, are at most six buffers.
#[track_caller]
pub fn fused(inputs: &[&Masked], body: impl FnOnce(&[Expr]) -> Expr) -> Masked {
    run(Program::build(inputs.len(), body), inputs)
}
