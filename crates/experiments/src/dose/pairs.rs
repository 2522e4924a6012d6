//! The projective methods: the denominator decides "censored", the numerator or two logits decide the side.

use super::measure::Call;
use super::methods::{INPUTS, is, target};
use crate::net::{Extra, Net, Start};
use crate::terms::{GAMMA, columns, double_angle, on_circle, polynomial, ratio, renormalise, sign, weighted};
use meromorph::autograd::Var;
use meromorph::loss::pairs::{self, Pairs};
use meromorph::model::Batch;
use meromorph::nn::{Activation, Layout, Spec};
use meromorph::ops;

/// Censored rows are pushed below the first, others above the second.
const SEPARATION: [f32; 2] = [1e-2, 5e-2];
/// A factor on the initial |Q|, so that training starts from "censored".
const SHOCK: f32 = 1e-2;

/// The published model with parts of it switched off.
#[derive(Clone, Copy)]
pub(super) struct Variant {
    /// Weight of the sign loss.
    pub sign: f32,
    /// Weight of both separations.
    pub separation: f32,
    /// Whether the scale of the implicit fit is a constant to gradients.
    pub is_scale_fixed: bool,
    /// Whether the norm of a pair is a constant to gradients.
    pub is_norm_fixed: bool,
    /// Whether training starts from "censored", by scaling the weights of Q.
    pub is_shocked: bool,
    /// Added to Q.
    pub anchor: f32,
}

/// As published.
pub(super) const PUBLISHED: Variant =
    Variant { sign: 1.0, separation: 1.0, is_scale_fixed: true, is_norm_fixed: true, is_shocked: true, anchor: 0.0 };

/// The implicit fit, separation of |Q|, and the sign of P on censored rows.
pub(super) fn pair_net(variant: Variant) -> Net {
    let (body, extras) = rational_body(0);
    Net {
        body,
        extras,
        head: Box::new(move |parts, x| {
            let [p, q] = raw_pair(&parts.body(x), parts.extras);
            let q = ops::fused(&[&q], |v| v[0] + variant.anchor);
            if variant.is_norm_fixed { renormalise(&p, &q).into() } else { on_circle(&p, &q).into() }
        }),
        loss: Box::new(move |z, batch| pair_loss(z, batch, variant)),
        adjust: variant.is_shocked.then_some(shock),
    }
}

/// P = cos θ and Q = sin θ of the perceptron's one output, with the published losses.
pub(super) fn angular_net() -> Net {
    Net {
        body: Spec::mlp(INPUTS, &[64, 64], 1, Activation::relu()),
        extras: Vec::new(),
        head: Box::new(|parts, x| {
            let angle = parts.body(x);
            vec![ops::cos(&angle), ops::sin(&angle)]
        }),
        loss: Box::new(|z, batch| pair_loss(z, batch, PUBLISHED)),
        adjust: None,
    }
}

fn pair_loss(z: &[Var], batch: &Batch, variant: Variant) -> Var {
    let (yn, yd, weight) = (target(batch, 3), target(batch, 4), &batch.weight);
    let censored = ops::fused(&[&yd], |v| is(v[0], 0.0));
    let all = Pairs { p: &z[0], q: &z[1], yn: &yn, yd: &yd, rows: weight };
    let fit = pairs::implicit(&all, GAMMA, variant.is_scale_fixed);
    let [down, up] = pairs::separation(&all, SEPARATION[0], SEPARATION[1]);
    let side = sign([&z[0], &z[1]], [&yn, &yd], &censored, weight);
    let apart = variant.separation;
    weighted(&[(1.0, &fit), (apart, &down), (apart, &up), (variant.sign, &side)])
}

/// The perceptron 20-64-64 (relu) to (z_den, z_num, more), then P = Σ w_k z_num^k (degree 3) and Q = Σ v_k z_den^k (degree 2).
pub(super) fn rational_body(more: usize) -> (Spec, Vec<Extra>) {
    let body = Spec::mlp(INPUTS, &[64, 64], 2 + more, Activation::relu());
    let coefficient = || Extra { shape: [1, 1].into(), start: Start::Normal(0.01) };
    (body, (0..7).map(|_| coefficient()).collect())
}

fn raw_pair(features: &Var, extras: &[Var]) -> [Var; 2] {
    let q = polynomial(&columns(features, 0, 1), &extras[4..7]);
    let p = polynomial(&columns(features, 1, 1), &extras[..4]);
    [p, q]
}

/// (P, Q) of unit norm from the features.
pub(super) fn pair(features: &Var, extras: &[Var]) -> [Var; 2] {
    let [p, q] = raw_pair(features, extras);
    renormalise(&p, &q)
}

/// Middle and half-width of the window: the origin and the unit of a centred target.
pub(super) const CENTRE: [f32; 2] = [-7.0, 2.0];

/// Half of the smallest |Q| of a centred target inside: 1 / √(1 + 0.9²) = 0.74.
pub(super) const MIDWAY: f64 = 0.37;

/// The weight of the mean over finite curves relative to that over censored ones, which only need to be far.
const FINITE: f32 = 4.0;

/// Another geometry. Values near -7 need P / Q near -7, close to Q = 0; measured from the middle of the window they lie around
/// (P, Q) = (sin θ, cos θ) at θ = 0, as far from Q = 0 as possible. The loss is in the double angle: "below" and "above" are one
/// point, so a curve that may be either is still not finite, and there is no barrier of height 1 / γ at P = 0, unlike in the
/// implicit fit. The perceptron outputs θ and two logits for the side.
pub(super) fn double_angle_head() -> Net {
    Net {
        body: Spec::mlp(INPUTS, &[64, 64], 3, Activation::relu()),
        extras: Vec::new(),
        head: Box::new(|parts, x| {
            let features = parts.body(x);
            let angle = columns(&features, 0, 1);
            vec![ops::sin(&angle), ops::cos(&angle), columns(&features, 1, 2)]
        }),
        loss: Box::new(|z, batch| {
            let (yn, yd) = (target(batch, 3), target(batch, 4));
            let [middle, half] = CENTRE;
            let yn = ops::fused(&[&yn, &yd], |v| v[0] + v[1] * ((v[0] - middle) * (1.0 / half) - v[0]));
            let [expected_p, expected_q] = on_circle(&yn, &yd);
            let fit = |rows: &Var| double_angle([&z[0], &z[1]], [&expected_p, &expected_q], rows);
            let finite = fit(&ops::mul(&yd, &batch.weight));
            let censored = fit(&ops::fused(&[&yd, &batch.weight], |v| (1.0 - v[0]) * v[1]));
            weighted(&[(FINITE, &finite), (1.0, &censored), (1.0, &direction(&z[2], batch))])
        }),
        adjust: None,
    }
}

/// Centred values back in log10.
pub(super) fn off_centre(call: Call) -> Call {
    let [middle, half] = CENTRE.map(f64::from);
    Call { value: call.value.iter().map(|value| middle + half * value).collect(), ..call }
}

/// The projective model with two more outputs of the perceptron, whose cross-entropy on censored rows gives both sides the same weight.
pub(super) fn direction_head() -> Net {
    let (body, extras) = rational_body(2);
    Net {
        body,
        extras,
        head: Box::new(|parts, x| {
            let features = parts.body(x);
            let [p, q] = pair(&features, parts.extras);
            vec![p, q, columns(&features, 2, 2)]
        }),
        loss: Box::new(|z, batch| weighted(&[(1.0, &pair_loss(z, batch, PUBLISHED)), (1.0, &direction(&z[2], batch))])),
        adjust: Some(shock),
    }
}

/// Cross-entropy of two logits over the censored rows, with equal weights for the means of "below" and "above".
pub(super) fn direction(logits: &Var, batch: &Batch) -> Var {
    let class = target(batch, 1);
    let log_p = ops::log_softmax(logits);
    let half = |column: usize, number: f32| {
        let mark = ops::fused(&[&class, &batch.weight], |v| is(v[0], number) * v[1]);
        let own = columns(&log_p, column, 1);
        ratio(&ops::fused(&[&own, &mark], |v| -(v[0] * v[1])), &mark)
    };
    weighted(&[(0.5, &half(0, 0.0)), (0.5, &half(1, 2.0))])
}

/// Scales the weights of Q: the row of z_den in the last linear layer, its bias to 0, and the denominator's coefficients.
fn shock(layout: &Layout, flat: &mut [f32]) {
    let heads = layout.parameters.len() - 7;
    let [weight, bias] = [&layout.parameters[heads - 2], &layout.parameters[heads - 1]];
    let inputs = weight.shape.sizes()[1];
    flat[weight.offset..weight.offset + inputs].iter_mut().for_each(|value| *value *= SHOCK);
    flat[bias.offset] = 0.0;
    for parameter in &layout.parameters[heads + 4..] {
        flat[parameter.offset] *= SHOCK;
    }
}
