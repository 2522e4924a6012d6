//! Pointwise ops: programs of scalar ops over broadcast inputs. A program's gradient is another program, so a single op implements all.

use std::rc::Rc;

use super::record::{OpRecord, attribute, finite};
use super::{broadcast_to, sum_to};
use crate::autograd::{Backward, Op, Var, apply, is_tracing};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::pointwise::MAX_INPUTS;
use crate::program::{Expr, Instruction, Program, op};
use crate::tensor::{Form, Shape, Tensor};

/// A program of scalar ops as an op.
struct Map(Program);

impl Map {
    /// Errors if a constant is not a finite number of 32 bits, which neither a file nor a shader can hold.
    fn check(&self) -> Result<()> {
        let constants = self.0.code.iter().filter_map(|step| match step {
            Instruction::Constant(value) => Some(*value as f32),
            _ => None,
        });
        constants.filter(|value| !value.is_finite()).try_for_each(|value| finite("map", value).map(drop))
    }
}

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
        self.check()?;
        inputs.iter().try_for_each(|input| input.require(None))?;
        let none = Shape::from([]);
        let shape = inputs.iter().try_fold(none, |shape, input| shape.try_joined(&input.shape))?;
        Form::checked(shape.sizes())
    }

    fn attributes(&self) -> Result<Json> {
        self.check()?;
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
    ($($name:ident($($arg:ident),+) $row:ident $doc:literal;)+) => {$(
        #[doc = $doc]
        #[track_caller]
        pub fn $name($($arg: &Var),+) -> Var {
            run(Program::op(&op::$row), &[$($arg),+])
        }
    )+};
}

pointwise! {
    add(a, b) ADD "a + b, broadcast.";
    sub(a, b) SUB "a - b, broadcast.";
    mul(a, b) MUL "a · b, broadcast.";
    div(a, b) DIV "a / b, broadcast.";
    min(a, b) MIN "The smaller, broadcast.";
    maximum(a, b) MAX "The larger, broadcast.";
    pow(a, b) POW "a to the power b, for a > 0 or an integer b.";
    lt(a, b) LT "1 where a < b, else 0.";
    le(a, b) LE "1 where a <= b, else 0.";
    gt(a, b) GT "1 where a > b, else 0.";
    ge(a, b) GE "1 where a >= b, else 0.";
    eq(a, b) EQ "1 where a = b, else 0.";
    ne(a, b) NE "1 where a ≠ b, else 0.";
    and(a, b) AND "1 where both are not 0.";
    or(a, b) OR "1 where either is not 0.";
    not(x) NOT "1 where x = 0.";
    select(c, a, b) SELECT "a where c ≠ 0, else b.";
    clamp(x, low, high) CLAMP "x within [low, high].";
    neg(x) NEG "-x.";
    recip(x) RECIP "1 / x.";
    abs(x) ABS "|x|.";
    sign(x) SIGN "-1, 0 or 1.";
    square(x) SQUARE "x².";
    sqrt(x) SQRT "√x.";
    rsqrt(x) RSQRT "1 / √x.";
    floor(x) FLOOR "Largest integer not above x.";
    ceil(x) CEIL "Smallest integer not below x.";
    round(x) ROUND "Nearest integer, ties to even.";
    exp(x) EXP "e^x.";
    exp2(x) EXP2 "2^x.";
    expm1(x) EXPM1 "e^x - 1, exact near 0.";
    ln(x) LN "Natural logarithm.";
    log2(x) LOG2 "Logarithm to base 2.";
    log1p(x) LOG1P "ln(1 + x), exact near 0.";
    sin(x) SIN "Sine, radians.";
    cos(x) COS "Cosine, radians.";
    tan(x) TAN "Tangent, radians.";
    asin(x) ASIN "Arc sine, radians.";
    acos(x) ACOS "Arc cosine, radians.";
    atan(x) ATAN "Arc tangent, radians.";
    atan2(a, b) ATAN2 "The angle of the point (b, a), radians, broadcast.";
    hypot(a, b) HYPOT "√(a² + b²), broadcast.";
    sinh(x) SINH "Hyperbolic sine.";
    cosh(x) COSH "Hyperbolic cosine.";
    tanh(x) TANH "Hyperbolic tangent.";
    erf(x) ERF "Error function.";
    erfc(x) ERFC "1 - erf(x), exact in the tail.";
    sinc(x) SINC "sin(x) / x, 1 at 0.";
    gamma(x) GAMMA "Γ(x).";
    lgamma(x) LGAMMA "ln |Γ(x)|.";
    j0(x) J0 "Bessel function of the first kind, order 0.";
    j1(x) J1 "Bessel function of the first kind, order 1.";
    sigmoid(x) SIGMOID "1 / (1 + e^-x).";
    softplus(x) SOFTPLUS "ln(1 + e^x).";
    relu(x) RELU "max(x, 0).";
}
