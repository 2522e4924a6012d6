//! Pairs by odds: the denominator is the probability that a curve has a number, the numerator that probability times the number.
//! P = q v and Q = q with q = σ(a), so P / Q = v, Q = 0 is "censored", and at τ = 1/2 both errors have the same weight.

use super::methods::{INPUTS, target};
use super::pairs::{CENTRE, direction};
use crate::net::Net;
use crate::terms::{columns, mean, ratio, row, weighted};
use meromorph::autograd::Var;
use meromorph::model::Batch;
use meromorph::nn::{Activation, Spec};
use meromorph::ops;
use meromorph::program::expr;

/// A curve with a smaller probability of a number is predicted censored.
pub(super) const EVEN: f64 = 0.5;

/// A factor on the perceptron's outputs for probability and number: it lets the published forty steps move them far enough.
const GAIN: f32 = 4.0;

/// The weight of the probability relative to number and side.
const CHANCE: f32 = 4.0;

/// Errors up to this (in half-windows) are squared, larger ones are linear.
const NARROW: f32 = 0.05;

/// A perceptron of centred inputs gives log-odds, the number in half-windows from the middle, and two logits for the side.
pub(super) fn odds() -> Net {
    Net {
        body: Spec::mlp(INPUTS, &[64, 62], 4, Activation::silu()),
        extras: Vec::new(),
        head: Box::new(|parts, x| {
            let z = parts.body(&centred(x));
            let [odds, value] = [0, 1].map(|at| ops::fused(&[&columns(&z, at, 1)], |v| GAIN * v[0]));
            let chance = ops::sigmoid(&odds);
            vec![ops::mul(&chance, &value), chance, columns(&z, 2, 2), odds, value]
        }),
        loss: Box::new(loss),
        adjust: None,
    }
}

/// log10 c from the middle of the window in half-windows, responses from 1/2 in halves.
fn centred(x: &Var) -> Var {
    let [middle, half] = CENTRE;
    let each = |pair: [f32; 2]| row(x, &pair.repeat(INPUTS / 2));
    ops::fused(&[x, &each([middle, 0.5]), &each([1.0 / half, 2.0])], |v| (v[0] - v[1]) * v[2])
}

/// Cross-entropy of the probability, √(1 + (error / d)²) - 1 in units of 1 / d over finite curves, cross-entropy of the side.
fn loss(z: &[Var], batch: &Batch) -> Var {
    let (yn, yd) = (target(batch, 3), target(batch, 4));
    let [middle, half] = CENTRE;
    let chance = ops::fused(&[&z[3], &yd], |v| expr::softplus(v[0]) - v[1] * v[0]);
    let finite = ops::mul(&yd, &batch.weight);
    let off = ops::fused(&[&z[4], &yn, &finite], |v| {
        let off = (v[0] - (v[1] - middle) * (1.0 / half)) * (1.0 / NARROW);
        v[2] * (expr::sqrt(1.0 + off * off) - 1.0) * NARROW
    });
    let chance = mean(&chance, &batch.weight);
    weighted(&[(CHANCE, &chance), (1.0, &ratio(&off, &finite)), (1.0, &direction(&z[2], batch))])
}
