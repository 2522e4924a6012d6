//! Layers over masked numbers: rational functions with learnt coefficients, standardisation of columns, softmax along rows, and the
//! gradient policy of a layer.

use std::rc::Rc;

use super::pointwise::{both, only_where};
use super::policy::Policy;
use super::{Masked, fused};
use crate::autograd::{Backward, Op, Var, apply};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::kernels::masked::Planes;
use crate::kernels::rational::Rational;
use crate::ops::{self, OpRecord, attribute};
use crate::program::expr;
use crate::tensor::{Form, Tensor};

/// P(x) / Q(x) with coefficients w: [p_0, …, q_0, …] by channels, 1 or as many as x's last axis; ⊥ where x is, where |Q| is not above the
/// form's epsilon, and where value or slope is not a float.
#[track_caller]
pub fn rational(x: &Masked, w: &Var, form: &Rational, policy: Policy) -> Masked {
    let (value, bits) = ops::rational(x.value(), w, form);
    let made = Masked { value, planes: Some((Planes::Bottom, bits)), is_traced: false };
    let made = if x.planes.is_none() { made } else { fused(&[&made, x], |v| both(v[0], v[1])) };
    with_gradient_policy(&made, policy)
}

/// Normalises the columns of x: [rows, columns] to mean 0 and variance 1, ignoring ⊥; population variance, plus `epsilon`. A column of
/// variance 0 is all ⊥ (without an epsilon).
#[track_caller]
pub fn norm(x: &Masked, epsilon: f32, policy: Policy) -> Masked {
    // Gradients of x are added here, before a launch that replaces a sum too large for a float by 0.
    let x = x.canonicalized();
    with_gradient_policy(&standardize(&x, &Moments::of(&x), epsilon), policy)
}

/// Mean and variance of the columns of a matrix, [1, columns] each.
pub struct Moments {
    /// The mean.
    pub mean: Masked,
    /// The population variance.
    pub variance: Masked,
}

impl Moments {
    /// Moments of x: [rows, columns], ignoring ⊥; ⊥ for a column without values, and where a square or a sum is not a float.
    #[track_caller]
    pub fn of(x: &Masked) -> Self {
        let x = x.canonicalized();
        let (rows, bottoms) = (x.shape().sizes()[0] as f32, x.bottoms());
        let down = |x: &Var| Masked::from(&ops::sum(x, 0..1));
        let missing = down(&bottoms);
        let mean = fused(&[&down(x.value()), &missing], |v| v[0] / (rows - v[1]));
        let squares = fused(&[&Masked::from(x.value()), &mean, &Masked::from(&bottoms)], |v| {
            let centred = v[0] - v[1];
            centred * centred * (1.0 - v[2])
        });
        // An ignored element adds 0, but a square that is not a float must make the sum ⊥.
        let variance = fused(&[&down(squares.value()), &missing, &down(&squares.bottoms())], |v| {
            only_where(v[0] / (rows - v[1]), expr::eq(v[2], 0.0))
        });
        Self { mean, variance }
    }
}

/// (x - mean) / √(variance + `epsilon`); ⊥ in a column where the root is 0.
#[track_caller]
pub fn standardize(x: &Masked, moments: &Moments, epsilon: f32) -> Masked {
    fused(&[x, &moments.mean, &moments.variance], |v| {
        let spread = v[2] + epsilon;
        only_where((v[0] - v[1]) / expr::sqrt(spread), expr::gt(spread, 0.0))
    })
}

/// Probabilities of each row of x: [rows, columns], and a mark per row, [rows, 1]: 1 if it holds a ⊥. Such a row is 1 at the largest of its
/// other values (at the first place if it has none) and 0 elsewhere, without a gradient.
#[track_caller]
pub fn softmax(x: &Masked, policy: Policy) -> (Var, Var) {
    let x = x.canonicalized();
    let bottoms = x.bottoms();
    let is_bottom = ops::fused(&[&ops::sum(&bottoms, 1..2)], |v| expr::gt(v[0], 0.0));
    let plain = ops::softmax(x.value());
    // Below every logit, but finite.
    let logits = ops::fused(&[x.value(), &bottoms], |v| expr::select(v[1], -3.0e38, v[0])).detach();
    let columns = x.shape().sizes()[1];
    let places: Vec<f32> = (0..columns).map(|column| column as f32).collect();
    let places = Tensor::constant(x.value().value().device(), [1, columns], &places);
    let best = ops::cast(&ops::argmax(&logits, 1), crate::tensor::DType::F32);
    let only = ops::eq(&Var::constant(places), &best);
    let made = ops::fused(&[&plain, &only, &is_bottom], |v| expr::select(v[2], v[1], v[0]));
    let rows = Masked::from(&is_bottom);
    let with_policy = apply(Rc::new(WithGradientPolicy(policy)), &[&made, &rows.value]);
    (with_policy, is_bottom)
}

/// The same numbers, with a policy applied to their gradient. Which elements are ⊥ is fixed here, in the forward pass.
#[must_use]
pub fn with_gradient_policy(x: &Masked, policy: Policy) -> Masked {
    Masked { value: apply(Rc::new(WithGradientPolicy(policy)), &[x.value(), &x.bottoms()]), ..x.clone() }
}

/// The identity in the forward pass; applies its policy in the backward pass. Its second input is 1 where ⊥, broadcast over the values.
struct WithGradientPolicy(Policy);

pub(super) static WITH_GRADIENT_POLICY: OpRecord = OpRecord {
    name: "with_gradient_policy",
    inputs: (2, 2),
    read: |attributes, _| Ok(Rc::new(WithGradientPolicy(attribute(attributes, "policy")?))),
    onnx: |_, _, inputs, _| Ok(inputs[0].clone()),
    text: None,
};

impl Op for WithGradientPolicy {
    fn name(&self) -> &'static str {
        "with_gradient_policy"
    }

    fn forward(&self, inputs: &[&Tensor]) -> Tensor {
        inputs[0].clone()
    }

    fn form(&self, inputs: &[Form]) -> Result<Form> {
        inputs.iter().try_for_each(|input| input.require(None))?;
        if inputs[1].shape.try_joined(&inputs[0].shape)? != inputs[0].shape {
            return Err(Error::new(format!(
                "got marks {}, expected a shape that broadcasts to {}",
                inputs[1].shape, inputs[0].shape
            )));
        }
        Ok(inputs[0].clone())
    }

    fn attributes(&self) -> Result<Json> {
        Ok(Json::fields([("policy", self.0.to_json())]))
    }

    fn backward(&self, step: &Backward<'_>) -> Result<Vec<Option<Var>>> {
        let kept = |g: &dyn Fn(crate::program::Expr) -> crate::program::Expr| {
            ops::fused(&[step.gradient, &step.inputs[1]], |v| expr::select(v[1], 0.0, g(v[0])))
        };
        let gradient = match self.0 {
            Policy::Passthrough => step.gradient.clone(),
            Policy::Project => kept(&|g| g),
            Policy::Clamp { low, high } => kept(&|g| expr::clamp(g, low, high)),
            Policy::Reject => ops::fused(&[step.gradient], |v| 0.0 * v[0]),
        };
        Ok(vec![Some(gradient), None])
    }
}
