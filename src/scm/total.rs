//! The op of this module: a program of scalar ops in masked form. Its gradient is the program's vector-Jacobian product in masked form, of which
//! only the values are kept: a gradient that is not defined or not representable is 0.

use std::cell::OnceCell;
use std::rc::Rc;

use super::Masked;
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::masked::{Operand, Planes, dispatch, planes_words};
use crate::kernels::pointwise::{IterationSpace, MAX_INPUTS};
use crate::ops::{self, OpRecord, attribute, check_constants, no_bottom};
use crate::program::{Expr, Program};
use crate::tensor::{DType, Form, Shape, Tensor};

/// A program in masked form. Its inputs are those of the program, then the planes of those that have any.
struct Total {
    program: Program,
    /// The planes of each input of the program.
    planes: Vec<Planes>,
    /// Whether faults are distinguished.
    is_traced: bool,
    /// The planes of the value, the second result.
    made: OnceCell<Tensor>,
}

pub(super) static MASKED: OpRecord = OpRecord {
    name: "masked",
    inputs: (1, MAX_INPUTS),
    read: |attributes, _| {
        let planes: Vec<Planes> = attribute(attributes, "planes")?;
        let (program, is_traced) = (attribute(attributes, "program")?, attribute(attributes, "traced")?);
        Ok(Rc::new(Total { program, planes, is_traced, made: OnceCell::new() }))
    },
    onnx: no_bottom,
    text: Some(|attributes, inputs| {
        Ok(format!("total({})", attribute::<Program>(attributes, "program")?.text(inputs)))
    }),
};

impl Total {
    /// The planes of the value.
    fn kind(&self) -> Planes {
        if self.is_traced { Planes::Fault } else { Planes::Bottom }
    }

    /// For each input of the program where its planes are among those of the op.
    fn places(&self) -> impl Iterator<Item = Option<usize>> {
        self.planes.iter().scan(self.planes.len(), |next, planes| {
            let own = (*planes != Planes::Bare).then_some(*next);
            *next += usize::from(own.is_some());
            Some(own)
        })
    }
}

impl Op for Total {
    fn name(&self) -> &'static str {
        "masked"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let values = &inputs[..self.planes.len()];
        let shape = joined(values.iter().map(|input| input.shape()));
        let device = inputs[0].device();
        let out = Tensor::empty(device, &shape, DType::F32);
        let mut space = IterationSpace { dims: shape.dims(), strides: [[0; 4]; MAX_INPUTS] };
        for (strides, input) in space.strides.iter_mut().zip(values) {
            assert_eq!(input.dtype(), DType::F32, "masked: got {:?}, expected f32", input.dtype());
            *strides = input.shape().broadcast_strides(&shape);
        }
        let operand = |((input, planes), place): ((&&Tensor, &Planes), Option<usize>)| Operand {
            values: input.view().clone(),
            planes: place.map(|at| (*planes, inputs[at].view().clone())),
        };
        let operands: Vec<Operand> = values.iter().zip(&self.planes).zip(self.places()).map(operand).collect();
        let words = planes_words(self.kind(), shape.len());
        let bits = self.made.get_or_init(|| Tensor::empty(device, [words], DType::U32)).view().clone();
        out.launch(dispatch(self.program.clone(), space, &operands, out.view().clone(), bits, self.is_traced));
        out
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let (program, count) = (&self.program, self.planes.len());
        let all = self.places().flatten().last().map_or(count, |last| last + 1);
        let got = inputs.len();
        if program.inputs != count || got != all {
            return Err(Error::new(format!("got {got} inputs for a program of {}, expected {all}", program.inputs)));
        }
        if all >= MAX_INPUTS {
            return Err(Error::new(format!("got {all} inputs and masks, expected fewer than {MAX_INPUTS}")));
        }
        let last = program.code.len().checked_sub(1);
        if program.results.len() != 1 || last != Some(usize::from(program.result())) {
            return Err(Error::new("got a program with other results than its last step"));
        }
        check_constants("masked", program)?;
        let (values, planes) = inputs.split_at(count);
        values.iter().try_for_each(|input| input.require(None))?;
        for ((value, kind), place) in values.iter().zip(&self.planes).zip(self.places()) {
            let Some(place) = place else { continue };
            let expected = planes_words(*kind, value.shape.len());
            let got = &planes[place - count];
            if got.dtype != DType::U32 || got.sizes() != [expected] {
                return Err(Error::new(format!(
                    "got a mask of {}, expected [{expected}] words for {}",
                    got.shape, value.shape
                )));
            }
        }
        let none = Shape::from([]);
        let shape = values.iter().try_fold(none, |shape, input| shape.try_joined(&input.shape))?;
        Form::checked(shape.sizes())
    }

    fn second(&self) -> Option<Tensor> {
        self.made.get().cloned()
    }

    fn second_form(&self, inputs: &[Form]) -> Result<Form> {
        let words = planes_words(self.kind(), self.form(inputs)?.shape.len());
        Ok(Form { shape: [words].into(), dtype: DType::U32 })
    }

    fn attributes(&self) -> Result<Json> {
        check_constants("masked", &self.program)?;
        Ok(Json::fields([
            ("program", self.program.to_json()),
            ("planes", self.planes.to_json()),
            ("traced", self.is_traced.to_json()),
        ]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let count = self.planes.len();
        let one = |at: usize| if at < count && step.wants(at) { self.gradient(step, at).map(Some) } else { Ok(None) };
        (0..step.inputs.len()).map(one).collect()
    }
}

impl Total {
    /// The gradient for input `at`. The result's mask includes those of all inputs, so only it is read, besides the upstream gradient.
    fn gradient(&self, step: &Backward<'_>, at: usize) -> Result<Var> {
        let shape = step.inputs[at].shape();
        let Some(program) = self.program.vjp(at) else {
            return Ok(ops::broadcast_to(&ops::constant(step.output, 0.0), shape));
        };
        let (program, used) = program.compacted();
        let upstream = self.planes.len();
        let made = self.second().ok_or_else(|| Error::internal("masked numbers have no planes"))?;
        let place = |&input: &usize| {
            if input == upstream {
                Masked { value: step.gradient.clone(), planes: Some((self.kind(), made.clone())), is_traced: false }
            } else {
                Masked::from(&step.inputs[input])
            }
        };
        let inputs: Vec<Masked> = used.iter().map(place).collect();
        let wide = run(program, &inputs.iter().collect::<Vec<_>>()).value;
        if wide.shape() == shape {
            return Ok(wide);
        }
        // The gradient of a broadcast is a sum, which may overflow.
        let sum = ops::sum_to(&ops::broadcast_to(&wide, step.output.shape()), shape);
        Ok(fused(&[&Masked::from(&sum)], |v| v[0]).value)
    }
}

#[track_caller]
fn joined<'a>(shapes: impl Iterator<Item = &'a Shape>) -> Shape {
    shapes.cloned().reduce(|a, b| a.joined(&b)).expect("a masked program has an input")
}

#[track_caller]
fn run(program: Program, inputs: &[&Masked]) -> Masked {
    let is_traced = inputs.iter().any(|input| input.is_traced);
    let planes = inputs.iter().map(|input| input.planes.as_ref().map_or(Planes::Bare, |(kind, _)| *kind)).collect();
    let op = Rc::new(Total { program, planes, is_traced, made: OnceCell::new() });
    let bits: Vec<Var> =
        inputs.iter().filter_map(|input| Some(Var::constant(input.planes.as_ref()?.1.clone()))).collect();
    let values: Vec<&Var> = inputs.iter().map(|input| &input.value).chain(&bits).collect();
    let value = apply(op.clone(), &values);
    let made = op.second().expect("the launch makes it");
    Masked { value, planes: Some((op.kind(), made)), is_traced }
}

/// An expression over masked numbers as one launch, inputs broadcast: `fused(&[x, y], |v| v[0] / v[1] + 1.0)`. Computes values and mask
/// in one pass. Inputs and their masks, where they exist, are at most six buffers.
#[track_caller]
pub fn fused(inputs: &[&Masked], body: impl FnOnce(&[Expr]) -> Expr) -> Masked {
    run(Program::build(inputs.len(), body), inputs)
}
