//! Ops whose gradient is not the derivative of their value, or is given by the caller.

use std::rc::Rc;

use super::{constant, mul};
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// A gradient for each input of a custom op: from its inputs, its value and the gradient by its value. `None` where nothing flows back.
type Rule = dyn Fn(&[Var], &Var, &Var) -> Result<Vec<Option<Var>>>;

struct Custom {
    name: &'static str,
    value: Tensor,
    rule: Box<Rule>,
}

impl Op for Custom {
    fn name(&self) -> &'static str {
        self.name
    }

    fn forward(&self, _inputs: &[&Tensor]) -> Tensor {
        self.value.clone()
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let gradients = (self.rule)(step.inputs, step.output, step.gradient)?;
        let (got, expected) = (gradients.len(), step.inputs.len());
        if got != expected {
            let name = self.name;
            return Err(Error::usage(format!(
                "grad: {name}: got {got} gradients, expected {expected}, one for each input"
            )));
        }
        for (at, (gradient, input)) in gradients.iter().zip(step.inputs).enumerate() {
            if let Some(gradient) = gradient.as_ref().filter(|gradient| gradient.shape() != input.shape()) {
                let (name, got, expected) = (self.name, gradient.shape(), input.shape());
                return Err(Error::usage(format!(
                    "grad: {name}: the gradient of input {at} has the wrong shape: got {got}, expected {expected}"
                )));
            }
        }
        Ok(gradients)
    }
}

/// A value with a gradient of the caller's. `value` computes it from the inputs, of any shapes, by any ops; what these ops' gradients would be does not
/// matter. `rule` returns for each input the gradient in the input's shape, or `None`, from the inputs, the value and the gradient by the value; it is
/// made of ops, so that it can be differentiated again.
///
/// `grad` errors if `rule` does, or returns gradients of other numbers or shapes.
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
    let value = value(&detached).value().clone();
    apply(Rc::new(Custom { name, value, rule: Box::new(rule) }), inputs)
}

/// The value of `hard`, whose gradient flows to `soft` as if it were its value (the straight-through estimator, Bengio, Léonard and Courville 2013): for
/// rounding, signs and choices. Both have the same shape.
#[track_caller]
pub fn straight_through(hard: &Var, soft: &Var) -> Var {
    assert_eq!(hard.shape(), soft.shape(), "straight_through: both values have the same shape");
    let value = hard.detach();
    custom("straight_through", &[soft], |_| value, |_, _, gradient| Ok(vec![Some(gradient.clone())]))
}

/// The same value, whose gradient is multiplied by `factor` on its way back.
pub fn scale_gradient(x: &Var, factor: f32) -> Var {
    let scaled = move |_: &[Var], _: &Var, gradient: &Var| Ok(vec![Some(mul(gradient, &constant(gradient, factor)))]);
    custom("scale_gradient", &[x], |inputs| inputs[0].clone(), scaled)
}

/// The same value, whose gradient is turned around and multiplied by `factor` (Ganin and Lempitsky 2015): what comes before learns the opposite of what
/// comes after.
pub fn reverse_gradient(x: &Var, factor: f32) -> Var {
    scale_gradient(x, -factor)
}
