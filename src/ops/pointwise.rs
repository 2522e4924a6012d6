//! Pointwise ops: programs of scalar ops over broadcast inputs. A program's gradient is another program, so a single op implements all.

use std::rc::Rc;

use super::record::{OpRecord, attribute, check_constants, finite};
use super::{broadcast_to, sum_to};
use crate::autograd::{Backward, Op, Var, apply, is_tracing};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::pointwise::MAX_INPUTS;
use crate::program::{Expr, Instruction, Program, op};
use crate::tensor::{Form, Shape, Tensor};

/// A program of scalar ops as an op.
struct Map(Program);

pub(super) static MAP: OpRecord = OpRecord {
    name: "map",
    inputs: (1, MAX_INPUTS),
    read: |attributes, _| Ok(Rc::new(Map(attribute(attributes, "program")?))),
    onnx: |attributes, graph, inputs, _| {
        let program: Program = attribute(attributes, "program")?;
        let mut value = program.onnx(graph, inputs)?.remove(0);
        // An input that is not read still counts for the shape.
        for (_, input) in inputs.iter().enumerate().filter(|(at, _)| !program.uses(*at)) {
            let shape = graph.op("Shape", &[input]);
            value = graph.op("Expand", &[&value, &shape]);
        }
        Ok(value)
    },
    text: Some(|attributes, inputs| {
        let program: Program = attribute(attributes, "program")?;
        Ok(program.text(inputs))
    }),
};

/// A constant scalar on the device of its input, whose values do not matter.
pub(super) struct Constant(pub f32);

pub(super) static CONSTANT: OpRecord = OpRecord {
    name: "constant",
    inputs: (1, 1),
    read: |attributes, _| Ok(Rc::new(Constant(attribute(attributes, "value")?))),
    onnx: |attributes, graph, _, _| Ok(graph.number(attribute(attributes, "value")?)),
    text: Some(|attributes, _| Ok(attribute::<f32>(attributes, "value")?.to_string())),
};

impl Op for Constant {
    fn name(&self) -> &'static str {
        "constant"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        Tensor::scalar(inputs[0].device(), self.0)
    }

    fn form(&self, _inputs: &[Form]) -> Result<Form> {
        Ok(Form::floats([]))
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("value", finite("constant", self.0)?)]))
    }

    fn is_barrier(&self) -> bool {
        true
    }

    fn backward(&self, _step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        Ok(vec![None])
    }
}

/// A constant on the device of `like`.
pub fn constant(like: &Var, value: f32) -> Var {
    if is_tracing() {
        return apply(Rc::new(Constant(value)), &[like]);
    }
    Var::constant(Tensor::scalar(like.value().device(), value))
}

impl Op for Map {
    fn name(&self) -> &'static str {
        "map"
    }

    #[track_caller]
    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        let shape = inputs.iter().map(|input| input.shape().clone()).reduce(|a, b| a.joined(&b));
        let shape = shape.unwrap_or_else(|| Shape::from([]));
        Tensor::map(inputs[0].device(), self.0.clone(), inputs, &shape)
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        if self.0.inputs != inputs.len() || self.0.results.len() != 1 {
            let (got, expected) = (inputs.len(), self.0.inputs);
            return Err(Error::new(format!("got {got} inputs, expected {expected} and a program of one result")));
        }
        check_constants("map", &self.0)?;
        inputs.iter().try_for_each(|input| input.require(None))?;
        let none = Shape::from([]);
        let shape = inputs.iter().try_fold(none, |shape, input| shape.try_joined(&input.shape))?;
        Form::checked(shape.sizes())
    }

    fn attributes(&self) -> Result<Json> {
        check_constants("map", &self.0)?;
        Ok(Json::fields([("program", self.0.to_json())]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let gradient = |at: usize| {
            let shape = step.inputs[at].shape();
            let Some(program) = self.0.vjp(at) else { return broadcast_to(&constant(step.output, 0.0), shape) };
            // Bind only inputs that the program reads, so that a value without other readers can be fused.
            let (program, used) = program.compacted();
            let all: Vec<&Var> = step.inputs.iter().chain([step.gradient]).collect();
            let inputs: Vec<&Var> = used.iter().map(|&input| all[input]).collect();
            let wide = match &inputs[..] {
                [] => fused(&[step.gradient], |_| program.emit(&[])),
                [only] if program.is_identity() => (*only).clone(),
                _ => run(program, &inputs),
            };
            sum_to(&broadcast_to(&wide, step.output.shape()), shape)
        };
        Ok((0..step.inputs.len()).map(|at| step.wants(at).then(|| gradient(at))).collect())
    }
}

#[track_caller]
pub(super) fn run(program: Program, inputs: &[&Var]) -> Var {
    if inputs.len() > MAX_INPUTS { in_steps(&program, inputs) } else { apply(Rc::new(Map(program)), inputs) }
}

/// A program of more inputs than a launch can bind, one launch for each of its operations; plans merge them again as far as a launch can bind.
#[track_caller]
fn in_steps(program: &Program, inputs: &[&Var]) -> Var {
    let mut values: Vec<Option<Var>> = Vec::with_capacity(program.code.len());
    for instruction in &program.code {
        values.push(match *instruction {
            Instruction::Input(at) => Some(inputs[usize::from(at)].clone()),
            // Part of the launches that use it.
            Instruction::Constant(_) => None,
            Instruction::Op(op, arguments) => {
                let arguments = &arguments[..op.arguments.len()];
                let read: Vec<&Var> = arguments.iter().filter_map(|&a| values[usize::from(a)].as_ref()).collect();
                let step = Program::build(read.len(), |given| {
                    let mut given = given.iter();
                    let taken = arguments.iter().map(|&a| match program.code[usize::from(a)] {
                        Instruction::Constant(value) => Expr::from(value),
                        _ => *given.next().expect("as many inputs as arguments that are no constants"),
                    });
                    Expr::op(op, &taken.collect::<Vec<_>>())
                });
                Some(apply(Rc::new(Map(step)), &read))
            }
        });
    }
    let constant = |value: f64| constant(inputs[0], value as f32);
    let result = usize::from(program.result());
    let value = values[result].take().unwrap_or_else(|| match program.code[result] {
        Instruction::Constant(value) => constant(value),
        _ => unreachable!("only constants have no value of their own"),
    });
    let shape = inputs.iter().map(|input| input.shape().clone()).reduce(|a, b| a.joined(&b));
    broadcast_to(&value, &shape.unwrap_or_else(|| Shape::from([])))
}

/// An expression over tensors: `fused(&[x, y], |v| v[0] * v[1] + 1.0)`. It is one kernel if it has at most seven inputs, as many as a GPU can bind.
///
/// Panics if there is no input, or if their shapes do not broadcast.
#[track_caller]
pub fn fused(inputs: &[&Var], body: impl FnOnce(&[Expr]) -> Expr) -> Var {
    assert!(!inputs.is_empty(), "fused: got no inputs, expected at least one");
    run(Program::build(inputs.len(), body), inputs)
}

macro_rules! pointwise {
    ($($(#[$doc:meta])* $row:ident $name:ident($($arg:ident),+);)+) => {
        /// The scalar operations of the formula language by their names, broadcast.
        #[allow(unreachable_pub, reason = "the room has a `max` of its own")]
        pub(super) mod named {
            use super::{Program, Var, op, run};

            $($(#[$doc])*
            #[track_caller]
            pub fn $name($($arg: &Var),+) -> Var {
                run(Program::op(&op::$row), &[$($arg),+])
            })+
        }
    };
}

op::each_op!(pointwise);

/// The larger, broadcast. [`max`](super::max) is that along axes.
#[track_caller]
pub fn maximum(a: &Var, b: &Var) -> Var {
    named::max(a, b)
}
