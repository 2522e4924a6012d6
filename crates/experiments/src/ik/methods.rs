//! The methods of the domain: the formula, a perceptron, guarded divisions (one ε, a learnt one, several averaged), a smooth
//! division, and the projective models with one denominator per joint or one for both.

use super::damped::damped;
use super::data::DAMPING;
use super::measure::{Steps, direct, known, strict};
use crate::description::Role;
use crate::net::{Extra, Net, Start};
use crate::subject::{Kind, Method};
use crate::terms::{GAMMA, columns, decoded, guarded, margin, mse, polynomial, ratio, renormalise, sign, weighted};
use meromorph::autograd::Var;
use meromorph::loss::pairs::{self, Pairs};
use meromorph::model::Batch;
use meromorph::nn::{Activation, Spec};
use meromorph::ops;
use meromorph::program::expr;

/// The smallest |Q| that a decoded loss divides by.
const TAU_TRAIN: f32 = 1e-4;
/// The largest |det J| of a pose that losses treat as singular.
const SINGULAR: f32 = 1e-3;
/// The guards of the ensemble.
const EPSILONS: [f32; 3] = [1e-3, 1e-2, 1e-1];

pub(super) fn all() -> Vec<Method<Steps>> {
    let baseline = |name, about, nets| Method::learnt(name, about, Role::Baseline, nets, direct);
    let projective = |name, about, nets| Method::learnt(name, about, Role::Projective, nets, strict);
    vec![
        Method {
            name: "dls",
            about: "damped least squares itself, from inputs in f32",
            role: Role::Oracle,
            kind: Kind::Known(|x| known(x, DAMPING)),
        },
        baseline("mlp", "perceptron 4-64-64-2, relu", || vec![perceptron()]),
        baseline("rational-eps", "P / (Q + 1e-3 sgn Q), one Q per joint", || {
            vec![quotient(|p, q, _| guarded(p, q, 1e-3))]
        }),
        baseline("smooth", "P Q / (Q² + 1e-2): a division that is smooth through Q = 0", || {
            vec![quotient(|p, q, _| ops::fused(&[p, q], |v| v[0] * v[1] / (v[1] * v[1] + 1e-2)))]
        }),
        baseline("learnt-eps", "P / (Q + ε sgn Q) with ε = softplus of a parameter", || vec![learnt_eps()]),
        baseline("eps-ensemble", "the mean of three, ε = 1e-3, 1e-2, 1e-1", || {
            vec![
                quotient(|p, q, _| guarded(p, q, EPSILONS[0])),
                quotient(|p, q, _| guarded(p, q, EPSILONS[1])),
                quotient(|p, q, _| guarded(p, q, EPSILONS[2])),
            ]
        }),
        projective("projective-basic", "(P, Q), one Q per joint: decoded and implicit fit", || vec![basic()]),
        projective(
            "projective-full",
            "one Q for both joints from a rational 3/2; margin and sign near the poles",
            || vec![full()],
        ),
        projective(
            "damped",
            "linear in the desired step, Q = s² + ε² c, zeros of s learnt: meromorph's own",
            || vec![damped()],
        ),
    ]
}

fn perceptron() -> Net {
    Net {
        body: Spec::mlp(4, &[64, 64], 2, Activation::relu()),
        extras: Vec::new(),
        head: Box::new(|parts, x| vec![parts.body(x)]),
        loss: Box::new(|z, batch| mse(&z[0], &batch.y, &batch.weight)),
        adjust: None,
    }
}

/// The perceptron 4-64-64 (relu) to P and 1 + δ, each [rows, 2].
fn body() -> Spec {
    Spec::mlp(4, &[64, 64], 4, Activation::relu())
}

fn pair(z: &Var) -> [Var; 2] {
    [columns(z, 0, 2), ops::fused(&[&columns(z, 2, 2)], |v| 1.0 + v[0])]
}

/// A model with a division of some kind, trained on its squared error.
fn quotient(divide: fn(&Var, &Var, &[Var]) -> Var) -> Net {
    Net {
        body: body(),
        extras: Vec::new(),
        head: Box::new(move |parts, x| {
            let [p, q] = pair(&parts.body(x));
            vec![divide(&p, &q, parts.extras)]
        }),
        loss: Box::new(|z, batch| mse(&z[0], &batch.y, &batch.weight)),
        adjust: None,
    }
}

fn learnt_eps() -> Net {
    // softplus(-4.6) is about 1e-2.
    let extras = vec![Extra { shape: [1, 1].into(), start: Start::Values(vec![-4.6]) }];
    let divide = |p: &Var, q: &Var, extras: &[Var]| {
        ops::fused(&[p, q, &extras[0]], |v| {
            let epsilon = expr::softplus(v[2]);
            v[0] / (v[1] + expr::select(expr::lt(v[1], 0.0), -epsilon, epsilon))
        })
    };
    Net { extras, ..quotient(divide) }
}

/// Decoded squared error plus a tenth of the implicit fit, on pairs of unit norm.
fn basic() -> Net {
    Net {
        body: body(),
        extras: Vec::new(),
        head: Box::new(|parts, x| {
            let [p, q] = pair(&parts.body(x));
            renormalise(&p, &q).into()
        }),
        loss: Box::new(|z, batch| {
            let ones = ops::fused(&[&batch.y], |_| 1.0.into());
            let all = Pairs { p: &z[0], q: &z[1], yn: &batch.y, yd: &ones, rows: &batch.weight };
            let fit = mse(&decoded(&z[0], &z[1], TAU_TRAIN), &batch.y, &batch.weight);
            let implied = pairs::implicit(&all, GAMMA, false);
            weighted(&[(1.0, &fit), (0.1, &implied)])
        }),
        adjust: None,
    }
}

/// P_o = Σ_k w_ok z_o^k of degree 3 and Q = 1 + Σ_k v_k z_q^k of degree 2, one for both joints; poses with |det J| ≤ 1e-3
/// have three times the weight and a sign loss; elsewhere a margin keeps Q away from 0.
fn full() -> Net {
    let coefficient = |columns| Extra { shape: [1, columns].into(), start: Start::Normal(0.01) };
    Net {
        body: Spec::mlp(4, &[64, 64], 3, Activation::relu()),
        extras: [2, 2, 2, 2, 1, 1, 1].map(coefficient).into(),
        head: Box::new(|parts, x| {
            let z = parts.body(x);
            let p = polynomial(&columns(&z, 1, 2), &parts.extras[..4]);
            let q = polynomial(&columns(&z, 0, 1), &parts.extras[4..]);
            let q = ops::broadcast_to(&ops::fused(&[&q], |v| 1.0 + v[0]), p.shape());
            renormalise(&p, &q).into()
        }),
        loss: Box::new(full_loss),
        adjust: None,
    }
}

fn full_loss(z: &[Var], batch: &Batch) -> Var {
    let weight = &batch.weight;
    let theta2 = columns(&batch.x, 1, 1);
    let near = ops::fused(&[&theta2], |v| expr::le(expr::abs(expr::sin(v[0])), SINGULAR));
    let far = ops::fused(&[&near], |v| 1.0 - v[0]);
    let squares = ops::fused(&[&decoded(&z[0], &z[1], TAU_TRAIN), &batch.y], |v| 0.5 * expr::square(v[0] - v[1]));
    let heavy = ops::fused(&[&near, weight], |v| v[1] * (1.0 + 2.0 * v[0]));
    let fit = ratio(&ops::mul(&squares, &heavy), &heavy);
    let ones = ops::fused(&[&batch.y], |_| 1.0.into());
    let all = Pairs { p: &z[0], q: &z[1], yn: &batch.y, yd: &ones, rows: weight };
    let implied = pairs::implicit(&all, GAMMA, false);
    let kept = margin(&z[1], TAU_TRAIN, &far, weight);
    let side = sign([&z[0], &z[1]], [&batch.y, &ones], &near, weight);
    weighted(&[(1.0, &fit), (0.1, &implied), (0.05, &kept), (1.0, &side)])
}
