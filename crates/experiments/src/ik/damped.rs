//! A damped pole: the joint step is P / Q with P = s A e + Q B e and Q = s² + ε² c, linear in the desired step e of the hand. Where
//! s = 0 an undamped inverse would divide by zero; ε bends it back. A, B and c are the sum of a perceptron and a straight line, s is a
//! straight line, all of the sines and cosines of θ1, θ2 and θ1 + θ2; ε is learnt.

use crate::net::{Extra, Net, Start};
use crate::terms::{columns, mean, row, weighted};
use meromorph::autograd::Var;
use meromorph::model::Batch;
use meromorph::nn::{Activation, Layout, Spec};
use meromorph::ops;
use meromorph::program::expr;
use meromorph::tensor::Tensor;

/// Sines and cosines.
const WAVES: usize = 6;
/// Entries of A, entries of B, c.
const PARTS: usize = 9;
/// A factor on the straight line: it lets the published 38 steps move it far enough.
const GAIN: f32 = 5.0;
/// The initial ε, as large as s: it avoids false poles while their places are unknown.
const DAMPING: f32 = 1.0;
/// A factor on the learnt logarithm of ε.
const FALL: f32 = 5.0;
/// Errors up to this are squared, larger ones are linear: steps near a pole are fifty times as large as others.
const NARROW: f32 = 0.1;
/// The weight of the squared error.
const PLAIN: f32 = 0.01;
/// Standard deviation of the initial weights of s: the places of the poles are learnt.
const ANYWHERE: f64 = 0.3;

pub(super) fn damped() -> Net {
    let zeros = |rows: usize, columns: usize| Extra {
        shape: [rows, columns].into(),
        start: Start::Values(vec![0.0; rows * columns]),
    };
    let anywhere = Extra { shape: [WAVES, 1].into(), start: Start::Normal(ANYWHERE) };
    Net {
        body: Spec::mlp(WAVES, &[64, 52], PARTS, Activation::silu()),
        extras: vec![zeros(WAVES, PARTS), zeros(1, PARTS), zeros(1, 1), anywhere],
        head: Box::new(|parts, x| {
            let waves = waves(x);
            let line = ops::add(&ops::matmul(&waves, &parts.extras[0]), &parts.extras[1]);
            let z = ops::fused(&[&parts.body(&waves), &line], |v| v[0] + GAIN * v[1]);
            pair(&z, &ops::matmul(&waves, &parts.extras[3]), &parts.extras[2], &columns(x, 2, 2))
        }),
        loss: Box::new(loss),
        adjust: Some(quiet),
    }
}

/// (sin, cos) of θ1, θ2 and θ1 + θ2.
fn waves(x: &Var) -> Var {
    let sums = [[1.0, 1.0, 0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0, 1.0], [0.0; WAVES], [0.0; WAVES]].concat();
    let sums = Tensor::from_f32(x.value().device(), [4, WAVES], &sums).expect("a choice of sums can be uploaded");
    let angles = ops::matmul(x, &Var::constant(sums));
    let is_sine = row(x, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    ops::fused(&[&angles, &is_sine], |v| expr::select(v[1], expr::sin(v[0]), expr::cos(v[0])))
}

/// (P, Q), each [rows, 2], one Q for both joints.
fn pair(z: &Var, s: &Var, logarithm: &Var, step: &Var) -> Vec<Var> {
    let [dx, dy] = [0, 1].map(|at| columns(step, at, 1));
    // The two entries of a matrix column are adjacent.
    let applied = |first: usize| {
        let (of_x, of_y) = (columns(z, first, 2), columns(z, first + 2, 2));
        ops::fused(&[&of_x, &of_y, &dx, &dy], |v| v[0] * v[2] + v[1] * v[3])
    };
    let (a, b) = (applied(0), applied(4));
    let q = ops::fused(&[s, &columns(z, 8, 1), logarithm], |v| {
        let epsilon = DAMPING * expr::exp(FALL * v[2]);
        v[0] * v[0] + epsilon * epsilon * expr::softplus(v[1])
    });
    let p = ops::fused(&[s, &q, &a, &b], |v| v[0] * v[2] + v[1] * v[3]);
    let q = ops::broadcast_to(&q, p.shape());
    vec![p, q]
}

fn loss(z: &[Var], batch: &Batch) -> Var {
    let bent = ops::fused(&[&z[0], &z[1], &batch.y], |v| {
        let off = (v[0] / v[1] - v[2]) * (1.0 / NARROW);
        (expr::sqrt(1.0 + off * off) - 1.0) * (NARROW * NARROW)
    });
    let squares = ops::fused(&[&z[0], &z[1], &batch.y], |v| expr::square(v[0] / v[1] - v[2]));
    weighted(&[(1.0, &mean(&bent, &batch.weight)), (PLAIN, &mean(&squares, &batch.weight))])
}

/// A hundredth of the perceptron's last layer: A, B start near 0.
fn quiet(layout: &Layout, flat: &mut [f32]) {
    let heads = layout.parameters.len() - 4;
    for parameter in &layout.parameters[heads - 2..heads] {
        flat[parameter.offset..parameter.offset + parameter.shape.len()].iter_mut().for_each(|value| *value *= 0.01);
    }
}
