//! Ops whose gradient is not the derivative of their value, or is given by the caller.

use std::rc::Rc;

use super::record::{Inner, OpRecord, attribute, finite, passed};
use super::{constant, mul};
use crate::autograd::{Backward, Body, Detach, Op, Var, apply, is_tracing};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::tensor::{DType, Form, Tensor};

/// A gradient for each input of a custom op: from its inputs, its value and the gradient by its value. `None` where nothing flows back.
type Rule = dyn Fn(&[Var], &Var, &Var) -> Result<Vec<Option<Var>>>;

/// Its first input is its value; the others are what the gradients are for.
struct Custom {
    name: String,
    /// Absent in an op from a file that does not hold it.
    rule: Option<Box<Rule>>,
    /// The inputs that have a gradient, once the rule is traced or read.
    given: Vec<bool>,
    traced: Vec<Body>,
    read: Option<Rc<dyn Inner>>,
}

/// The rule that a file holds as a function from the inputs, the value and its gradient to the gradients that are not `None`.
fn rule_of(body: Rc<dyn Inner>, given: Vec<bool>) -> Box<Rule> {
    Box::new(move |inputs, value, gradient| {
        let mut found = body.run(&[inputs, &[value.clone(), gradient.clone()]].concat())?.into_iter();
        Ok(given.iter().map(|is_given| if *is_given { found.next() } else { None }).collect())
    })
}

pub(super) static CUSTOM: OpRecord = OpRecord {
    name: "custom",
    inputs: (1, usize::MAX),
    read: |attributes, reading| {
        let read = if reading.bodies.is_empty() { None } else { Some(reading.body()?) };
        let given: Vec<bool> = if read.is_some() { attribute(attributes, "gradients")? } else { Vec::new() };
        let rule = read.clone().map(|body| rule_of(body, given.clone()));
        Ok(Rc::new(Custom { name: attribute(attributes, "name")?, rule, given, traced: Vec::new(), read }))
    },
    onnx: passed,
    text: None,
};

impl Op for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        inputs[0].clone()
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let (value, inputs) = (&inputs[0], &inputs[1..]);
        let Some(read) = &self.read else { return Ok(value.clone()) };
        if self.given.len() != inputs.len() {
            let (got, expected) = (self.given.len(), inputs.len());
            return Err(Error::new(format!("got {got} gradients, expected {expected}, one for each input")));
        }
        let got = read.forms(&[inputs, &[value.clone(), Form::floats(&value.shape)]].concat())?;
        let given = inputs
            .iter()
            .zip(&self.given)
            .filter(|(_, is_given)| **is_given)
            .map(|(input, _)| Form::floats(&input.shape));
        if !got.into_iter().eq(given) {
            return Err(Error::new("got gradients of other shapes than the inputs, expected the same"));
        }
        Ok(value.clone())
    }

    fn attributes(&self) -> Result<Json> {
        let name = ("name", self.name.to_json());
        Ok(match &self.traced[..] {
            [] => Json::fields([name]),
            _ => Json::fields([name, ("gradients", self.given.to_json())]),
        })
    }

    fn has_bodies(&self) -> bool {
        true
    }

    fn bodies(&self) -> &[Body] {
        &self.traced
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let (name, inputs) = (&self.name, &step.inputs[1..]);
        let Some(rule) = &self.rule else {
            return Err(Error::usage(format!(
                "grad: {name}: its gradient is in the program that made the model, not in its file: expected to be trained by that program"
            )));
        };
        let gradients = rule(inputs, step.output, step.gradient)?;
        let (got, expected) = (gradients.len(), inputs.len());
        if got != expected {
            return Err(Error::usage(format!(
                "grad: {name}: got {got} gradients, expected {expected}, one for each input"
            )));
        }
        for (at, (gradient, input)) in gradients.iter().zip(inputs).enumerate() {
            if let Some(gradient) = gradient.as_ref().filter(|gradient| gradient.shape() != input.shape()) {
                let (got, expected) = (gradient.shape(), input.shape());
                return Err(Error::usage(format!(
                    "grad: {name}: the gradient of input {at} has the wrong shape: got {got}, expected {expected}"
                )));
            }
        }
        Ok([None].into_iter().chain(gradients).collect())
    }
}

/// A value with a gradient of the caller's. `value` computes it from the inputs, of any shapes, by any ops; what these ops' gradients would be does not
/// matter. `rule` returns for each input the gradient in the input's shape, or `None`, from the inputs, the value and the gradient by the value; it is
/// made of ops, so that it can be differentiated again.
///
/// `grad` errors if `rule` does, or returns gradients of other numbers or shapes. A file of a model holds the rule as ops too; one that cannot be stored
/// stays in the program, and the file predicts only.
///
/// ```
/// # use meromorph::{Device, Result, autograd::Var, ops, tensor::Tensor};
/// # fn main() -> Result<()> {
/// let device = Device::cpu(1);
/// let x = Var::leaf(Tensor::from_f32(&device, [3], &[-2.0, 0.5, 3.0])?);
/// // A square that claims a slope of 1.
/// let y = ops::custom("square", &[&x], |x| ops::mul(&x[0], &x[0]), |_, _, gradient| Ok(vec![Some(gradient.clone())]));
/// let gradient = ops::grad(&ops::sum(&y, 0..1), &[&x])?[0].clone().expect("a gradient");
/// assert_eq!(pollster::block_on(y.value().to_f32())?, [4.0, 0.25, 9.0]);
/// assert_eq!(pollster::block_on(gradient.value().to_f32())?, [1.0, 1.0, 1.0]);
/// # Ok(())
/// # }
/// ```
pub fn custom(
    name: &'static str,
    inputs: &[&Var],
    value: impl FnOnce(&[Var]) -> Var,
    rule: impl Fn(&[Var], &Var, &Var) -> Result<Vec<Option<Var>>> + 'static,
) -> Var {
    let detached: Vec<Var> = inputs.iter().map(|input| input.detach()).collect();
    let value = value(&detached).detach();
    let all: Vec<&Var> = [&value].into_iter().chain(inputs.iter().copied()).collect();
    let (mut given, mut traced) = (Vec::new(), Vec::new());
    if is_tracing() {
        let gradient = Var::constant(Tensor::empty(value.value().device(), value.shape(), DType::F32));
        let like: Vec<&Var> = inputs.iter().copied().chain([&value, &gradient]).collect();
        let body = Body::of(&like, |arguments| {
            let (inputs, [value, gradient]) = arguments.split_at(inputs.len()) else { return Ok(Vec::new()) };
            let gradients = rule(inputs, value, gradient)?;
            given = gradients.iter().map(Option::is_some).collect();
            Ok(gradients.into_iter().flatten().collect())
        });
        traced.extend(body.ok().map(|body| Body { is_optional: true, ..body }));
    }
    apply(Rc::new(Custom { name: name.to_owned(), rule: Some(Box::new(rule)), given, traced, read: None }), &all)
}

/// The value of its first input; gradients flow to its second one.
struct StraightThrough;

pub(super) static STRAIGHT_THROUGH: OpRecord = OpRecord {
    name: "straight_through",
    inputs: (2, 2),
    read: |_, _| Ok(Rc::new(StraightThrough)),
    onnx: passed,
    text: None,
};

impl Op for StraightThrough {
    fn name(&self) -> &'static str {
        "straight_through"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        inputs[0].clone()
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        let [hard, soft] = [&inputs[0], &inputs[1]];
        if hard.shape != soft.shape {
            return Err(Error::new(format!("got shapes {} and {}, expected equal ones", hard.shape, soft.shape)));
        }
        Ok(hard.clone())
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        Ok(vec![None, Some(step.gradient.clone())])
    }
}

/// The value of `hard`, whose gradient flows to `soft` as if it were its value (the straight-through estimator, Bengio, Léonard and Courville 2013): for
/// rounding, signs and choices. Both have the same shape.
#[track_caller]
pub fn straight_through(hard: &Var, soft: &Var) -> Var {
    assert_eq!(hard.shape(), soft.shape(), "straight_through: both values have the same shape");
    apply(Rc::new(StraightThrough), &[&hard.detach(), soft])
}

/// The same value, whose gradient is multiplied by a factor.
struct ScaleGradient(f32);

pub(super) static SCALE_GRADIENT: OpRecord = OpRecord {
    name: "scale_gradient",
    inputs: (1, 1),
    read: |attributes, _| Ok(Rc::new(ScaleGradient(attribute(attributes, "factor")?))),
    onnx: passed,
    text: None,
};

impl Op for ScaleGradient {
    fn name(&self) -> &'static str {
        "scale_gradient"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        inputs[0].clone()
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        Ok(inputs[0].clone())
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("factor", finite("scale_gradient", self.0)?)]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        Ok(vec![Some(mul(step.gradient, &constant(step.gradient, self.0)))])
    }
}

/// The same value, whose gradient is multiplied by `factor` on its way back.
pub fn scale_gradient(x: &Var, factor: f32) -> Var {
    apply(Rc::new(ScaleGradient(factor)), &[x])
}

/// The same value, whose gradient is turned around and multiplied by `factor` (Ganin and Lempitsky 2015): what comes before learns the opposite of what
/// comes after.
pub fn reverse_gradient(x: &Var, factor: f32) -> Var {
    scale_gradient(x, -factor)
}

pub(super) static DETACH: OpRecord =
    OpRecord { name: "detach", inputs: (1, 1), read: |_, _| Ok(Rc::new(Detach)), onnx: passed, text: None };
