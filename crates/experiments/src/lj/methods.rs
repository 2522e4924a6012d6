//! The methods of the domain: the formula, a perceptron, radial basis functions, a network of sines, and three with
//! knowledge of poles: a rational function, one whose numerator has the larger degree, and one that is given the hard wall.

use super::data::{DISTANCES, SCALE};
use super::measure::{Potentials, direct, known, strict};
use super::powers::powers;
use crate::description::Role;
use crate::net::{Extra, Net, Start};
use crate::subject::{Kind, Method};
use crate::terms::{GAMMA, columns, decoded, mse, polynomial, renormalise, row, weighted};
use meromorph::autograd::Var;
use meromorph::loss::pairs::{self, Pairs};
use meromorph::model::Batch;
use meromorph::nn::{Activation, Init, Layer, Linear, Spec};
use meromorph::ops;
use meromorph::program::expr;

/// The smallest |Q| that the decoded loss divides by.
const TAU_TRAIN: f32 = 1e-4;
/// Radial basis functions.
const CENTRES: usize = 64;
/// Frequency of the first sines.
const OMEGA: f32 = 30.0;

pub(super) fn all() -> Vec<Method<Potentials>> {
    let learnt = Method::learnt;
    vec![
        Method {
            name: "formula",
            about: "the potential itself, from u in f32",
            role: Role::Oracle,
            kind: Kind::Known(known),
        },
        learnt("mlp", "perceptron 1-64-64-1 of u, silu", Role::Baseline, || vec![perceptron()], direct),
        learnt("rbf", "64 Gaussians over r with learnt heights", Role::Baseline, || vec![radial()], direct),
        learnt("siren", "two layers of 64 sines of u, ω = 30", Role::Baseline, || vec![siren()], direct),
        learnt(
            "rational",
            "(P, Q) of u, degrees 8/4, decoded and implicit fit",
            Role::Projective,
            || vec![rational()],
            strict,
        ),
        learnt(
            "improper",
            "(P, Q) of a learnt increasing z(u), degrees 4/2, Q = softplus + 1e-4",
            Role::Projective,
            || vec![improper()],
            strict,
        ),
        learnt(
            "powers",
            "eight powers of u with learnt exponents: a pole of learnt order, meromorph's own",
            Role::Projective,
            || vec![powers()],
            direct,
        ),
        learnt("hard-wall", "4 / r^12 given, the rest a perceptron", Role::Informed, || vec![hard_wall()], direct),
    ]
}

/// u = 0.8 / r.
pub(super) fn inverse(x: &Var) -> Var {
    columns(x, 0, 1)
}

pub(super) fn squared(z: &[Var], batch: &Batch) -> Var {
    mse(&z[0], &batch.y, &batch.weight)
}

fn perceptron() -> Net {
    Net {
        body: Spec::mlp(1, &[64, 64], 1, Activation::silu()),
        extras: Vec::new(),
        head: Box::new(|parts, x| vec![parts.body(&inverse(x))]),
        loss: Box::new(squared),
        adjust: None,
    }
}

/// Σ_k h_k exp(-(r - c_k)² / (2Δ²)) + b, centres c_k evenly Δ apart over the training distances.
fn radial() -> Net {
    Net {
        body: Spec {
            inputs: CENTRES,
            layers: vec![Layer::Linear(Linear { outputs: 1, bias: true, init: Init::Linear })],
        },
        extras: Vec::new(),
        head: Box::new(|parts, x| {
            let [low, high, _] = DISTANCES.map(|r| (r / DISTANCES[1]) as f32);
            let step = (high - low) / (CENTRES - 1) as f32;
            let centres: Vec<f32> = (0..CENTRES).map(|at| low + step * at as f32).collect();
            let r = columns(x, 1, 1);
            let bumps =
                ops::fused(&[&r, &row(&r, &centres)], |v| expr::exp(expr::square((v[0] - v[1]) * (1.0 / step)) * -0.5));
            vec![parts.body(&bumps)]
        }),
        loss: Box::new(squared),
        adjust: None,
    }
}

/// W3 sin(W2' sin(ω W1 u + b1) + b2) + b3 with the initial values of Sitzmann et al. 2020.
fn siren() -> Net {
    let width = 64;
    let spread = (6.0 / width as f64).sqrt();
    let uniform =
        |rows: usize, columns: usize, bound: f64| Extra { shape: [rows, columns].into(), start: Start::Uniform(bound) };
    Net {
        // The sines are the head; the perceptron only scales u.
        body: Spec {
            inputs: 1,
            layers: vec![Layer::Linear(Linear { outputs: width, bias: true, init: Init::Linear })],
        },
        extras: vec![uniform(width, width, spread), uniform(1, width, spread), uniform(width, 1, spread / 30.0)],
        head: Box::new(|parts, x| {
            let first = ops::fused(&[&parts.body(&inverse(x))], |v| expr::sin(OMEGA * v[0]));
            let inner = ops::add(&ops::matmul(&first, &parts.extras[0]), &parts.extras[1]);
            vec![ops::matmul(&ops::sin(&inner), &parts.extras[2])]
        }),
        loss: Box::new(squared),
        adjust: None,
    }
}

/// Decoded squared error plus a tenth of the implicit fit of pairs of unit norm.
fn pair_loss(z: &[Var], batch: &Batch) -> Var {
    let ones = ops::fused(&[&batch.y], |_| 1.0.into());
    let all = Pairs { p: &z[0], q: &z[1], yn: &batch.y, yd: &ones, rows: &batch.weight };
    let fit = mse(&decoded(&z[0], &z[1], TAU_TRAIN), &batch.y, &batch.weight);
    let implied = pairs::implicit(&all, GAMMA, true);
    weighted(&[(1.0, &fit), (0.1, &implied)])
}

/// P of degree 8 and Q = 1 + v_1 u + … of degree 4, in u itself.
fn rational() -> Net {
    let coefficient = |deviation| Extra { shape: [1, 1].into(), start: Start::Normal(deviation) };
    Net {
        // An empty perceptron: all parameters belong to the head.
        body: Spec { inputs: 1, layers: Vec::new() },
        extras: (0..13).map(|_| coefficient(0.01)).collect(),
        head: Box::new(|parts, x| {
            let u = parts.body(&inverse(x));
            let c = parts.extras;
            let low = polynomial(&u, &c[..5]);
            let high = polynomial(&u, &c[5..9]);
            let p = ops::fused(&[&low, &high, &u], |v| {
                let square = v[2] * v[2];
                v[0] + v[1] * (square * square * v[2])
            });
            let q = polynomial(&u, &c[9..13]);
            let q = ops::fused(&[&q, &u], |v| 1.0 + v[0] * v[1]);
            renormalise(&p, &q).into()
        }),
        loss: Box::new(pair_loss),
        adjust: None,
    }
}

/// z = u + softplus(f(u)) with f a perceptron; P of degree 4 in z, Q = softplus(of degree 2) + 1e-4.
fn improper() -> Net {
    let coefficient = |_| Extra { shape: [1, 1].into(), start: Start::Normal(0.01) };
    Net {
        body: Spec::mlp(1, &[64, 64], 1, Activation::silu()),
        extras: (0..8).map(coefficient).collect(),
        head: Box::new(|parts, x| {
            let u = inverse(x);
            let z = ops::fused(&[&u, &parts.body(&u)], |v| v[0] + expr::softplus(v[1]));
            let p = polynomial(&z, &parts.extras[..5]);
            let q = ops::fused(&[&polynomial(&z, &parts.extras[5..])], |v| expr::softplus(v[0]) + 1e-4);
            renormalise(&p, &q).into()
        }),
        loss: Box::new(pair_loss),
        adjust: None,
    }
}

/// 4 (σ/r)^12 plus a perceptron of u.
fn hard_wall() -> Net {
    Net {
        body: Spec::mlp(1, &[64, 64], 1, Activation::silu()),
        extras: Vec::new(),
        head: Box::new(|parts, x| {
            let u = inverse(x);
            let height = (4.0 / DISTANCES[0].powi(12) / SCALE) as f32;
            let rest = parts.body(&u);
            vec![ops::fused(&[&u, &rest], |v| {
                let third = v[0] * v[0] * v[0];
                let sixth = third * third;
                height * (sixth * sixth) + v[1]
            })]
        }),
        loss: Box::new(squared),
        adjust: None,
    }
}
