//! The methods of the domain: perceptrons that predict a number, that predict class and number, that divide with a guard, and the
//! projective ones, whose denominator decides "censored" and whose numerator decides the side.

use super::data::{POINTS, THRESHOLDS};
use super::measure::{Call, TAU, by_denominator, by_logits, by_number};
use super::odds::{EVEN, odds};
use super::pairs::{
    MIDWAY, PUBLISHED, Variant, angular_net, direction_head, double_angle_head, off_centre, pair, pair_net,
    rational_body,
};
use crate::description::Role;
use crate::net::Net;
use crate::subject::Method;
use crate::terms::{columns, guarded, mean, mse, ratio, row, weighted};
use meromorph::autograd::Var;
use meromorph::model::Batch;
use meromorph::nn::{Activation, Spec};
use meromorph::ops;

/// Inputs per row: concentration and response alternate.
pub(super) const INPUTS: usize = 2 * POINTS;

pub(super) fn all() -> Vec<Method<Call>> {
    let baseline = |name, about, nets, decode| Method::learnt(name, about, Role::Baseline, nets, decode);
    let projective = |name, about, nets| Method::learnt(name, about, Role::Projective, nets, |z| pairs_of(&z[0]));
    vec![
        baseline("clamped", "perceptron 4x256 on the value clamped to the window", || vec![clamped()], number_of),
        baseline("two-stage", "4x256 with a class head and a value head", || vec![two_stage(&[256; 4])], logits_of),
        baseline("two-stage-iso", "the same, of the projective model's size", || vec![two_stage(&[82, 45])], logits_of),
        baseline("rational-eps", "P / (Q + 1e-3 sgn Q), a number for every row", || vec![rational_eps()], number_of),
        projective("projective", "(P, Q), censored where |Q| < τ: ZeroProofML's model and losses", || {
            vec![pair_net(PUBLISHED)]
        }),
        projective("no-shock", "projective without the start near Q = 0", || {
            vec![pair_net(Variant { is_shocked: false, ..PUBLISHED })]
        }),
        projective("no-sign", "projective without the sign loss", || {
            vec![pair_net(Variant { sign: 0.0, ..PUBLISHED })]
        }),
        projective("no-separation", "projective without the separation of |Q|", || {
            vec![pair_net(Variant { separation: 0.0, ..PUBLISHED })]
        }),
        projective("scale-attached", "gradients through the implicit fit's scale", || {
            vec![pair_net(Variant { is_scale_fixed: false, ..PUBLISHED })]
        }),
        projective("norm-attached", "gradients through the pairs' norm", || {
            vec![pair_net(Variant { is_norm_fixed: false, ..PUBLISHED })]
        }),
        projective("anchored", "Q starts at 1 instead of near 0", || {
            vec![pair_net(Variant { anchor: 1.0, is_shocked: false, ..PUBLISHED })]
        }),
        projective("angular", "P = cos θ, Q = sin θ of one output", || vec![angular_net()]),
        projective("direction-head", "projective with two logits for the side", || vec![direction_head()]),
        Method::learnt(
            "double-angle",
            "an angle for (log10 IC50 + 7) / 2, fitted by its double, logits for the side, τ = 0.37: meromorph's own",
            Role::Projective,
            || vec![double_angle_head()],
            |z| off_centre(by_denominator(&z[0], MIDWAY)),
        ),
        Method::learnt(
            "odds",
            "Q is the chance that there is a number, P / Q the number, logits for the side, τ = 1/2: meromorph's own",
            Role::Projective,
            || vec![odds()],
            |z| off_centre(by_denominator(&z[0], EVEN)),
        ),
    ]
}

fn number_of(nets: &[Vec<Vec<f32>>]) -> Call {
    by_number(&nets[0][0])
}

fn logits_of(nets: &[Vec<Vec<f32>>]) -> Call {
    by_logits(&nets[0])
}

fn pairs_of(outputs: &[Vec<f32>]) -> Call {
    by_denominator(outputs, TAU)
}

/// A column of the targets.
pub(super) fn target(batch: &Batch, at: usize) -> Var {
    columns(&batch.y, at, 1)
}

fn perceptron(hidden: &[usize], outputs: usize) -> Spec {
    Spec::mlp(INPUTS, hidden, outputs, Activation::silu())
}

fn clamped() -> Net {
    Net {
        body: perceptron(&[256; 4], 1),
        extras: Vec::new(),
        head: Box::new(|parts, x| vec![parts.body(x)]),
        loss: Box::new(|z, batch| mse(&z[0], &target(batch, 2), &batch.weight)),
        adjust: None,
    }
}

/// Three logits and a value; cross-entropy plus the squared error of the values inside.
fn two_stage(hidden: &[usize]) -> Net {
    Net {
        body: perceptron(hidden, 4),
        extras: Vec::new(),
        head: Box::new(|parts, x| {
            let z = parts.body(x);
            vec![columns(&z, 0, 3), columns(&z, 3, 1)]
        }),
        loss: Box::new(|z, batch| {
            let class = target(batch, 1);
            let entropy = cross_entropy(&z[0], &class, 3, &batch.weight);
            let inside = ops::fused(&[&class, &batch.weight], |v| is(v[0], 1.0) * v[1]);
            let value = target(batch, 0);
            let squares = ops::fused(&[&z[1], &value, &inside], |v| v[2] * (v[0] - v[1]) * (v[0] - v[1]));
            weighted(&[(1.0, &entropy), (1.0, &ratio(&squares, &inside))])
        }),
        adjust: None,
    }
}

pub(super) fn is(value: meromorph::program::Expr, expected: f32) -> meromorph::program::Expr {
    meromorph::program::expr::eq(value, expected)
}

/// The mean of -log p of a row's class, for class numbers [rows, 1].
fn cross_entropy(logits: &Var, class: &Var, classes: usize, weight: &Var) -> Var {
    let numbers: Vec<f32> = (0..classes).map(|class| class as f32).collect();
    let own = ops::eq(class, &row(logits, &numbers));
    let log_p = ops::log_softmax(logits);
    let each = ops::sum(&ops::fused(&[&log_p, &own], |v| -(v[0] * v[1])), 1..2);
    mean(&each, weight)
}

/// Learns the value inside, and the threshold of its class outside.
fn rational_eps() -> Net {
    let (body, extras) = rational_body(0);
    Net {
        body,
        extras,
        head: Box::new(|parts, x| {
            let [p, q] = pair(&parts.body(x), parts.extras);
            vec![guarded(&p, &q, 1e-3)]
        }),
        loss: Box::new(|z, batch| {
            let [low, high] = THRESHOLDS.map(|threshold| threshold as f32);
            let expected = ops::fused(&[&target(batch, 0), &target(batch, 1)], |v| {
                is(v[1], 0.0) * low + is(v[1], 1.0) * v[0] + is(v[1], 2.0) * high
            });
            mse(&z[0], &expected, &batch.weight)
        }),
        adjust: None,
    }
}
