//! The methods of the domain: perceptrons that guess a number, that guess class and number, that divide with a guard, and the
//! projective ones, whose denominator says "censored" and whose numerator then says on which side.

use super::measure::{Call, TAU, by_denominator, by_logits, by_number};
use super::{POINTS, THRESHOLDS};
use crate::autograd::Var;
use crate::experiment::harness::{Method, Role};
use crate::experiment::net::{Batch, Extra, Net, Start};
use crate::experiment::terms::{
    GAMMA, columns, double_angle, guarded, mean, mse, on_circle, polynomial, ratio, renormalise, row, sign, weighted,
};
use crate::loss::pairs::{self, Pairs};
use crate::nn::{Activation, Layout, Spec};
use crate::ops;

/// Numbers that go in: concentration and response in turn.
const INPUTS: usize = 2 * POINTS;
/// Censored rows are pushed below the first, others above the second.
const SEPARATION: [f32; 2] = [1e-2, 5e-2];
/// What a first |Q| is scaled by, so that training starts from "censored".
const SHOCK: f32 = 1e-2;

pub(super) fn all() -> Vec<Method<Call>> {
    let baseline = |name, about, nets, decode| Method::learnt(name, about, Role::Baseline, nets, decode);
    let projective = |name, about, nets| Method::learnt(name, about, Role::Projective, nets, |z| pairs_of(&z[0]));
    vec![
        baseline("clamped", "perceptron 4x256 on the value clamped to the window", || vec![clamped()], number_of),
        baseline("two-stage", "4x256 with a class head and a value head", || vec![two_stage(&[256; 4])], logits_of),
        baseline("two-stage-iso", "the same, of the projective model's size", || vec![two_stage(&[82, 45])], logits_of),
        baseline("rational-eps", "P / (Q + 1e-3 sgn Q), a number for every row", || vec![rational_eps()], number_of),
        projective("projective", "(P, Q), censored where |Q| < τ: ZeroProofML's model and losses", || {
            vec![pair_net(1.0, Some(shock))]
        }),
        projective("no-shock", "projective without the start near Q = 0", || vec![pair_net(1.0, None)]),
        projective("no-sign", "projective without the sign loss", || vec![pair_net(0.0, Some(shock))]),
        projective("direction-head", "projective with two logits for the side", || vec![direction_head()]),
        Method::learnt(
            "double-angle",
            "direction-head on (log10 IC50 + 7) / 2, fitted by the double angle, τ = 0.37: meromorph's own",
            Role::Projective,
            || vec![double_angle_head()],
            |z| off_centre(by_denominator(&z[0], MIDWAY)),
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
fn target(batch: &Batch, at: usize) -> Var {
    columns(&batch.y, at, 1)
}

fn perceptron(hidden: &[usize], outputs: usize) -> Spec {
    Spec::mlp(INPUTS, hidden, outputs, Activation::Silu)
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

fn is(value: crate::kernels::program::E, wanted: f32) -> crate::kernels::program::E {
    crate::kernels::scalar::expr::eq(value, wanted)
}

/// The mean of -log p of a row's class, for class numbers [rows, 1].
fn cross_entropy(logits: &Var, class: &Var, classes: usize, weight: &Var) -> Var {
    let numbers: Vec<f32> = (0..classes).map(|class| class as f32).collect();
    let own = ops::eq(class, &row(logits, &numbers));
    let log_p = ops::log_softmax(logits);
    let each = ops::sum(&ops::fused(&[&log_p, &own], |v| -(v[0] * v[1])), 1..2);
    mean(&each, weight)
}

/// The perceptron 20-64-64 (relu) to (z_den, z_num, more), then P = Σ w_k z_num^k (degree 3) and Q = Σ v_k z_den^k (degree 2).
fn rational_body(more: usize) -> (Spec, Vec<Extra>) {
    let body = Spec::mlp(INPUTS, &[64, 64], 2 + more, Activation::Relu);
    let coefficient = || Extra { shape: [1, 1].into(), start: Start::Normal(0.01) };
    (body, (0..7).map(|_| coefficient()).collect())
}

fn raw_pair(features: &Var, extras: &[Var]) -> [Var; 2] {
    let q = polynomial(&columns(features, 0, 1), &extras[4..7]);
    let p = polynomial(&columns(features, 1, 1), &extras[..4]);
    [p, q]
}

/// (P, Q) of unit norm from the features.
fn pair(features: &Var, extras: &[Var]) -> [Var; 2] {
    let [p, q] = raw_pair(features, extras);
    renormalise(&p, &q)
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
            let wanted = ops::fused(&[&target(batch, 0), &target(batch, 1)], |v| {
                is(v[1], 0.0) * low + is(v[1], 1.0) * v[0] + is(v[1], 2.0) * high
            });
            mse(&z[0], &wanted, &batch.weight)
        }),
        adjust: None,
    }
}

/// The implicit fit with its scale held fixed, separation of |Q|, and the sign of P on censored rows.
fn pair_net(sign_weight: f32, adjust: Option<fn(&Layout, &mut [f32])>) -> Net {
    let (body, extras) = rational_body(0);
    Net {
        body,
        extras,
        head: Box::new(|parts, x| pair(&parts.body(x), parts.extras).into()),
        loss: Box::new(move |z, batch| pair_loss(z, batch, sign_weight)),
        adjust,
    }
}

/// Middle and half-width of the window: what a centred target is measured from and in.
const CENTRE: [f32; 2] = [-7.0, 2.0];

/// Half of the smallest |Q| of a centred target inside: 1 / √(1 + 0.9²) = 0.74.
const MIDWAY: f64 = 0.37;

/// Another geometry for the model with a direction head. Values near -7 ask for P / Q near -7, next to Q = 0; measured from the
/// middle of the window they lie around (P, Q) = (0, 1), and Q = 0 is as far as can be. The fit is by the double angle: "below"
/// and "above" are one point, so a curve that might be either is still no finite one, and no wall of height 1 / γ stands at
/// P = 0 as it does in the implicit fit. Pairs start at (0, 1); logits say which side.
fn double_angle_head() -> Net {
    Net {
        extras: [0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0].map(starting_at).into(),
        head: Box::new(|parts, x| {
            let features = parts.body(x);
            let [p, q] = raw_pair(&features, parts.extras);
            let [p, q] = on_circle(&p, &q);
            vec![p, q, columns(&features, 2, 2)]
        }),
        loss: Box::new(|z, batch| {
            let (yn, yd) = (target(batch, 3), target(batch, 4));
            let [middle, half] = CENTRE;
            let yn = ops::fused(&[&yn, &yd], |v| v[0] + v[1] * ((v[0] - middle) * (1.0 / half) - v[0]));
            let [wanted_p, wanted_q] = on_circle(&yn, &yd);
            let fit = double_angle([&z[0], &z[1]], [&wanted_p, &wanted_q], &batch.weight);
            weighted(&[(1.0, &fit), (1.0, &direction(&z[2], batch))])
        }),
        adjust: None,
        ..direction_head()
    }
}

/// Centred values back in log10.
fn off_centre(call: Call) -> Call {
    let [middle, half] = CENTRE.map(f64::from);
    Call { value: call.value.iter().map(|value| middle + half * value).collect(), ..call }
}

/// A coefficient that starts at a value.
fn starting_at(value: f32) -> Extra {
    Extra { shape: [1, 1].into(), start: Start::Values(vec![value]) }
}

fn pair_loss(z: &[Var], batch: &Batch, sign_weight: f32) -> Var {
    let (yn, yd, weight) = (target(batch, 3), target(batch, 4), &batch.weight);
    let censored = ops::fused(&[&yd], |v| is(v[0], 0.0));
    let all = Pairs { p: &z[0], q: &z[1], yn: &yn, yd: &yd, rows: weight };
    let fit = pairs::implicit(&all, GAMMA, true);
    let [down, up] = pairs::separation(&all, SEPARATION[0], SEPARATION[1]);
    let side = sign([&z[0], &z[1]], [&yn, &yd], &censored, weight);
    weighted(&[(1.0, &fit), (1.0, &down), (1.0, &up), (sign_weight, &side)])
}

/// The projective model with two more outputs of the perceptron, whose cross-entropy on censored rows weighs both sides alike.
fn direction_head() -> Net {
    let (body, extras) = rational_body(2);
    Net {
        body,
        extras,
        head: Box::new(|parts, x| {
            let features = parts.body(x);
            let [p, q] = pair(&features, parts.extras);
            vec![p, q, columns(&features, 2, 2)]
        }),
        loss: Box::new(|z, batch| weighted(&[(1.0, &pair_loss(z, batch, 1.0)), (1.0, &direction(&z[2], batch))])),
        adjust: Some(shock),
    }
}

/// Cross-entropy of two logits over the censored rows, the mean of "below" weighing as much as that of "above".
fn direction(logits: &Var, batch: &Batch) -> Var {
    let class = target(batch, 1);
    let log_p = ops::log_softmax(logits);
    let half = |column: usize, number: f32| {
        let mark = ops::fused(&[&class, &batch.weight], |v| is(v[0], number) * v[1]);
        let own = columns(&log_p, column, 1);
        ratio(&ops::fused(&[&own, &mark], |v| -(v[0] * v[1])), &mark)
    };
    weighted(&[(0.5, &half(0, 0.0)), (0.5, &half(1, 2.0))])
}

/// Scales what makes Q: the row of z_den in the last linear layer, its bias to 0, and the denominator's coefficients.
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
