//! The methods of the domain: the formula, perceptrons of several sizes, and models with numerator and denominator.

use super::measure::{Responses, direct, known, masked};
use super::powers::{log_transfer, power_law};
use crate::description::Role;
use crate::net::{Extra, Net, Start};
use crate::subject::{Kind, Method};
use crate::terms::{columns, mean, mse, row};
use meromorph::autograd::Var;
use meromorph::model::Batch;
use meromorph::nn::{Activation, Layout, Spec};
use meromorph::ops;
use meromorph::program::expr;

/// A smaller |Q(jw)| is ⊥.
const TINY: f32 = 1e-8;
/// The penalty per share of ⊥.
const BOTTOM_PENALTY: f32 = 1e4;
/// Degree of the polynomials of the decoupled model.
const DEGREE: usize = 6;

pub(super) fn all() -> Vec<Method<Responses>> {
    let baseline = |name, about, nets| Method::learnt(name, about, Role::Baseline, nets, direct);
    let projective = |name, about, nets| Method::learnt(name, about, Role::Projective, nets, masked);
    vec![
        Method { name: "formula", about: "the resonator's own formula", role: Role::Oracle, kind: Kind::Known(known) },
        baseline("mlp", "perceptron 2x256, silu, to (Re H, Im H)", || vec![perceptron(&[256; 2], Activation::silu())]),
        baseline("mlp-deep", "perceptron 4x512, silu", || vec![perceptron(&[512; 4], Activation::silu())]),
        baseline("mlp-relu", "perceptron 2x256, relu", || vec![perceptron(&[256; 2], Activation::relu())]),
        baseline("mlp-iso", "perceptron 2x128, silu: as many parameters as the projective models", || {
            vec![perceptron(&[128; 2], Activation::silu())]
        }),
        projective("decoupled", "a perceptron's one output through two rationals 6/6, Re and Im apart", || {
            vec![decoupled()]
        }),
        projective("transfer", "coefficients of H(s) from (w0, Q) alone, one denominator kept positive", || {
            vec![transfer()]
        }),
        projective("rational-transfer", "coefficients of H(s) from all inputs, degrees 2/2", || {
            vec![rational_transfer()]
        }),
        projective("log-transfer", "logarithms of the coefficients, relative error of pairs: meromorph's own", || {
            vec![log_transfer()]
        }),
        projective("power-law", "the same from straight lines alone, a family that contains the formula", || {
            vec![power_law()]
        }),
    ]
}

fn perceptron(hidden: &[usize], function: Activation) -> Net {
    Net {
        body: Spec::mlp(3, hidden, 2, function),
        extras: Vec::new(),
        head: Box::new(|parts, x| vec![parts.body(x)]),
        loss: Box::new(|z, batch| mse(&z[0], &batch.y, &batch.weight)),
        adjust: None,
    }
}

/// Squared error plus a penalty on the share of ⊥, which has no gradient and only shows in the loss.
fn with_penalty(z: &[Var], batch: &Batch) -> Var {
    let error = mse(&z[0], &batch.y, &batch.weight);
    let share = mean(&z[1], &batch.weight);
    ops::fused(&[&error, &share], |v| v[0] + BOTTOM_PENALTY * v[1])
}

/// (Re, Im) side by side of two columns.
fn side_by_side(real: &Var, imaginary: &Var) -> Var {
    ops::fused(&[real, imaginary, &row(real, &[1.0, 0.0]), &row(real, &[0.0, 1.0])], |v| v[0] * v[2] + v[1] * v[3])
}

/// (a + jb) / (c + jd), 0 and marked ⊥ where |c + jd| < 1e-8: [rows, 2] and [rows, 1].
pub(super) fn divided([a, b]: [&Var; 2], [c, d]: [&Var; 2]) -> Vec<Var> {
    let size = ops::fused(&[c, d], |v| v[0] * v[0] + v[1] * v[1]);
    let bottom = ops::fused(&[&size], |v| expr::lt(v[0], TINY * TINY)).detach();
    let part = |x: &Var, y: &Var, sign: f32| {
        ops::fused(&[a, b, x, y, &size, &bottom], |v| {
            let safe = expr::select(v[5], 1.0, v[4]);
            expr::select(v[5], 0.0, (v[0] * v[2] + sign * (v[1] * v[3])) / safe)
        })
    };
    // (a + jb)(c - jd) = (ac + bd) + j(bc - ad)
    let real = part(c, d, 1.0);
    let imaginary = ops::neg(&part(d, c, -1.0));
    vec![side_by_side(&real, &imaginary), bottom]
}

/// 10^x of a column.
pub(super) fn power_of_ten(x: &Var, column: usize) -> Var {
    ops::fused(&[&columns(x, column, 1)], |v| expr::exp(std::f32::consts::LN_10 * v[0]))
}

/// H = p0 / (q0 + q1 s + q2 s²) with q = softplus of the perceptron's outputs; q2 = softplus(1), as published.
fn transfer() -> Net {
    Net {
        body: Spec::mlp(2, &[128, 128], 3, Activation::silu()),
        extras: Vec::new(),
        head: Box::new(|parts, x| {
            let z = parts.body(&columns(x, 1, 2));
            let w = power_of_ten(x, 0);
            let [p, q0, q1] = [0, 1, 2].map(|at| columns(&z, at, 1));
            let leading = 1.0_f32.exp().ln_1p();
            let real = ops::fused(&[&q0, &w], |v| expr::softplus(v[0]) - leading * (v[1] * v[1]));
            let imaginary = ops::fused(&[&q1, &w], |v| expr::softplus(v[0]) * v[1]);
            let nothing = ops::fused(&[&p], |_| 0.0.into());
            divided([&p, &nothing], [&real, &imaginary])
        }),
        loss: Box::new(with_penalty),
        adjust: Some(gentle),
    }
}

/// The last layer's weights times 0.01, and 1 as q0's bias.
fn gentle(layout: &Layout, flat: &mut [f32]) {
    let count = layout.parameters.len();
    let (weight, bias) = (&layout.parameters[count - 2], &layout.parameters[count - 1]);
    flat[weight.offset..weight.offset + weight.shape.len()].iter_mut().for_each(|value| *value *= 0.01);
    flat[bias.offset + 1] = 1.0;
}

/// H = (p0 + p1 s + p2 s²) / (q0 + q1 s + s²), all coefficients from the perceptron.
fn rational_transfer() -> Net {
    Net {
        body: Spec::mlp(3, &[128, 128], 5, Activation::relu()),
        extras: Vec::new(),
        head: Box::new(|parts, x| {
            let z = parts.body(x);
            let w = power_of_ten(x, 0);
            let [p0, p1, p2, q0, q1] = [0, 1, 2, 3, 4].map(|at| columns(&z, at, 1));
            let a = ops::fused(&[&p0, &p2, &w], |v| v[0] - v[1] * v[2] * v[2]);
            let c = ops::fused(&[&q0, &w], |v| v[0] - v[1] * v[1]);
            divided([&a, &ops::mul(&p1, &w)], [&c, &ops::mul(&q1, &w)])
        }),
        loss: Box::new(with_penalty),
        adjust: None,
    }
}

/// Re and Im each a rational of the perceptron's output z over T_0..T_6; ⊥ where a denominator is within 1e-12 of 0.
fn decoupled() -> Net {
    let numerator = || (0..=DEGREE).map(|_| Extra { shape: [1, 1].into(), start: Start::Normal(0.01) });
    let denominator = || {
        (0..=DEGREE).map(|at| {
            let value = if at == 0 { 1.0 } else { 0.0 };
            Extra { shape: [1, 1].into(), start: Start::Values(vec![value]) }
        })
    };
    Net {
        body: Spec::mlp(3, &[128, 128], 1, Activation::relu()),
        extras: numerator().chain(denominator()).chain(numerator()).chain(denominator()).collect(),
        head: Box::new(|parts, x| {
            let z = parts.body(x);
            let sums: Vec<Var> =
                parts.extras.chunks(DEGREE + 1).map(|coefficients| chebyshev(&z, coefficients)).collect();
            let bottom = ops::fused(&[&sums[1], &sums[3]], |v| {
                expr::or(expr::le(expr::abs(v[0]), 1e-12), expr::le(expr::abs(v[1]), 1e-12))
            });
            let bottom = bottom.detach();
            let part = |p: &Var, q: &Var| {
                ops::fused(&[p, q, &bottom], |v| expr::select(v[2], 0.0, v[0] / expr::select(v[2], 1.0, v[1])))
            };
            let (real, imaginary) = (part(&sums[0], &sums[1]), part(&sums[2], &sums[3]));
            vec![side_by_side(&real, &imaginary), bottom]
        }),
        loss: Box::new(with_penalty),
        adjust: None,
    }
}

/// Σ_k c_k T_k(z) for k = 0..6, in two kernels: a kernel takes seven inputs.
fn chebyshev(z: &Var, c: &[Var]) -> Var {
    let low = ops::fused(&[z, &c[0], &c[1], &c[2], &c[3]], |v| {
        let z = v[0];
        v[1] + v[2] * z + v[3] * (2.0 * z * z - 1.0) + v[4] * ((4.0 * z * z - 3.0) * z)
    });
    ops::fused(&[z, &c[4], &c[5], &c[6], &low], |v| {
        let (z, square) = (v[0], v[0] * v[0]);
        let t4 = 8.0 * square * square - 8.0 * square + 1.0;
        let t5 = ((16.0 * square - 20.0) * square + 5.0) * z;
        let t6 = ((32.0 * square - 48.0) * square + 18.0) * square - 1.0;
        v[4] + v[1] * t4 + v[2] * t5 + v[3] * t6
    })
}
