//! A pole of learnt order: V = Σ_k c_k u^(n_k) with u = 0.8 σ / r, n_k > 0. With N the largest n_k this equals the pair
//! P = Σ_k c_k u^(n_k - N), Q = u^-N, and Q = 0 is r = 0. The exponents are learnt; the true ones are in the family.

use super::methods::{inverse, squared};
use crate::net::{Extra, Net, Start};
use crate::terms::{mean, row, weighted};
use meromorph::autograd::Var;
use meromorph::model::Batch;
use meromorph::nn::Spec;
use meromorph::ops;
use meromorph::program::expr;

/// Terms.
const TERMS: usize = 8;
/// The first and last initial exponents; the others are spaced evenly in the logarithm.
const EXPONENTS: [f32; 2] = [1.0, 24.0];
/// Factors on the learnt heights and on the learnt logarithms of exponents.
const GAINS: [f32; 2] = [60.0, 6.0];
/// Errors are absolute below this V / scale and relative above it.
const FLOOR: f32 = 0.05;

pub(super) fn powers() -> Net {
    let nothing = || Extra { shape: [1, TERMS].into(), start: Start::Values(vec![0.0; TERMS]) };
    Net {
        // An empty perceptron: all parameters belong to the head.
        body: Spec { inputs: 1, layers: Vec::new() },
        extras: vec![nothing(), nothing()],
        head: Box::new(|parts, x| {
            let u = parts.body(&inverse(x));
            let [low, high] = EXPONENTS;
            let place = |at: usize| low * (high / low).powf(at as f32 / (TERMS - 1) as f32);
            let first = row(&u, &(0..TERMS).map(place).collect::<Vec<f32>>());
            let [height, order] = GAINS;
            let terms = ops::fused(&[&u, &parts.extras[0], &parts.extras[1], &first], |v| {
                height * v[1] * expr::exp(v[3] * expr::exp(order * v[2]) * expr::ln(v[0]))
            });
            vec![ops::sum(&terms, 1..2)]
        }),
        loss: Box::new(loss),
        adjust: None,
    }
}

/// The squared error and the squared relative error: V spans five decades over the training rows.
fn loss(z: &[Var], batch: &Batch) -> Var {
    let share = ops::fused(&[&z[0], &batch.y], |v| expr::square(v[0] - v[1]) / (v[1] * v[1] + FLOOR * FLOOR));
    weighted(&[(1.0, &mean(&share, &batch.weight)), (1.0, &squared(z, batch))])
}
