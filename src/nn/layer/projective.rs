//! Projective heads as the last layer: numerators and denominators.

use crate::autograd::Var;
use crate::error::Result;
use crate::graph::Init;
use crate::nn::activation::Activation;
pub use crate::nn::head::Head;
use crate::nn::head::{Basis, HeadForm, PairNormalization};
use crate::nn::kind::{LayerKind, NewParameter, wrong};
use crate::nn::pass::Forward;
use crate::ops;
use crate::program::expr::{cos, gt, select, sin, softplus, sqrt};
use crate::tensor::Tensor;

impl LayerKind for Head {
    fn kind(&self) -> &'static str {
        "projective"
    }

    fn text(&self) -> String {
        match self.form {
            HeadForm::Linear => "projective head".into(),
            HeadForm::Value => "values".into(),
            HeadForm::Rational { numerator, denominator, .. } => format!("rational {numerator}/{denominator} head"),
            HeadForm::Angular { .. } => "angular head".into(),
        }
    }

    fn check(&self, width: usize, path: &str) -> Result<()> {
        Self::check(self).map_err(|error| wrong(path, &error.to_string()))?;
        let features = self.features();
        if width != features {
            return Err(wrong(path, &format!("the head's features: got {width} values, expected {features}")));
        }
        Ok(())
    }

    fn width(&self, _width: usize) -> usize {
        2 * self.outputs
    }

    /// A rational head's coefficients, lowest degree first, one tensor for each degree. It starts near P = a, Q = anchor,
    /// like the linear model below it.
    fn parameters(&self, _width: usize) -> Vec<NewParameter> {
        let HeadForm::Rational { numerator, denominator, .. } = self.form else { return Vec::new() };
        let of = |name: &str, degree: usize, size: usize| {
            let init = if degree == 1 && name == "numerator" { Init::NearOne } else { Init::Small };
            NewParameter::new(format!("{name}.{degree}"), [size], init, (1, 1))
        };
        let above = (0..=numerator).map(|degree| of("numerator", degree, self.outputs));
        above.chain((0..=denominator).map(|degree| of("denominator", degree, self.denominators()))).collect()
    }

    fn forward(&self, pass: &mut Forward<'_>, x: Var, _path: &str, _activation: Option<&Activation>) -> Var {
        pairs(self, pass, &x)
    }
}

/// Numerators and denominators [rows, 2 · outputs] from features.
fn pairs(head: &Head, pass: &mut Forward<'_>, x: &Var) -> Var {
    let (p, q) = if head.form == HeadForm::Value {
        (x.clone(), ops::constant(x, 1.0))
    } else if let HeadForm::Angular { scale } = head.form {
        (ops::fused(&[x], |v| cos(v[0] * scale)), ops::fused(&[x], |v| sin(v[0] * scale)))
    } else {
        let (a, b) = (columns(x, 0, head.outputs), columns(x, head.outputs, head.denominators()));
        let (p, q) = polynomials(head, pass, a, b);
        (p, anchored(head, &q))
    };
    let [rows, outputs] = [x.shape().sizes()[0], head.outputs];
    let q = ops::broadcast_to(&q, &[rows, outputs].into());
    let (p, q) = normalized(head.gauge, p, q);
    let (p, q) = match &pass.rows() {
        Some(bottom) => (
            ops::fused(&[&p, bottom], |v| select(v[1], 1.0, v[0])),
            ops::fused(&[&q, bottom], |v| select(v[1], 0.0, v[0])),
        ),
        None => (p, q),
    };
    let [p, q] = [p, q].map(|part| ops::reshape(&part, [rows, 1, outputs]));
    let is_denominator = numbers(x, [2, 1], &[0.0, 1.0]);
    let pairs = ops::fused(&[&p, &q, &is_denominator], |v| select(v[2], v[1], v[0]));
    ops::reshape(&pairs, [rows, 2 * outputs])
}

fn polynomials(head: &Head, pass: &mut Forward<'_>, a: Var, b: Var) -> (Var, Var) {
    let HeadForm::Rational { numerator, denominator, basis } = head.form else { return (a, b) };
    let p: Vec<Var> = (0..=numerator).map(|_| pass.next()).collect();
    let q: Vec<Var> = (0..=denominator).map(|_| pass.next()).collect();
    (polynomial(basis, &p, &a), polynomial(basis, &q, &b))
}

/// Columns `first..first + count` of [rows, columns], by a product with a matrix of zeros and ones.
fn columns(x: &Var, first: usize, count: usize) -> Var {
    let width = x.shape().sizes()[1];
    let mut pick = vec![0.0; width * count];
    (0..count).for_each(|column| pick[(first + column) * count + column] = 1.0);
    ops::matmul(x, &numbers(x, [width, count], &pick))
}

fn numbers(like: &Var, shape: [usize; 2], values: &[f32]) -> Var {
    Var::constant(Tensor::constant(like.value().device(), shape, values))
}

/// Σ w_k φ_k(x): by Horner's rule, or Clenshaw's (1955) for Chebyshev polynomials.
fn polynomial(basis: Basis, weights: &[Var], x: &Var) -> Var {
    let [rest @ .., last] = weights else { unreachable!("a polynomial has a coefficient of degree 0") };
    let wide = ops::broadcast_to(&ops::reshape(last, [1, last.shape().len()]), x.shape());
    let horner = |sum: Var, w: &Var| ops::fused(&[&sum, x, w], |v| v[0] * v[1] + v[2]);
    match (basis, rest) {
        (_, []) => wide,
        (Basis::Monomial, rest) => rest.iter().rev().fold(wide, horner),
        (Basis::Chebyshev, [lowest, rest @ ..]) => {
            let (mut one, mut two) = (wide, ops::constant(x, 0.0));
            for w in rest.iter().rev() {
                let next = ops::fused(&[&one, &two, x, w], |v| 2.0 * v[2] * v[0] - v[1] + v[3]);
                (one, two) = (next, one);
            }
            ops::fused(&[&one, &two, x, lowest], |v| v[2] * v[0] - v[1] + v[3])
        }
    }
}

/// Q from a free denominator.
fn anchored(head: &Head, q: &Var) -> Var {
    let anchor = head.anchor;
    match head.floor {
        Some(floor) => ops::fused(&[q], |v| softplus(v[0]) + (floor + anchor)),
        None => ops::fused(&[q], |v| v[0] + anchor),
    }
}

/// The pair divided by its length if the head normalises; unchanged if the length is 0.
fn normalized(normalization: PairNormalization, p: Var, q: Var) -> (Var, Var) {
    if normalization == PairNormalization::Free {
        return (p, q);
    }
    let size = ops::fused(&[&p, &q], |v| {
        let square = v[0] * v[0] + v[1] * v[1];
        sqrt(select(gt(square, 0.0), square, 1.0))
    });
    let size = if normalization == PairNormalization::Unit { size.detach() } else { size };
    (ops::div(&p, &size), ops::div(&q, &size))
}
