//! Coefficients by their logarithms: H = p / (q0 + q1 s + s²) with p, q0, q1 > 0, whose logarithms are learnt from the logarithms
//! of the conditions. A power of a condition is then a straight line and extrapolates beyond the training range.

use super::methods::{divided, power_of_ten};
use crate::net::{Extra, Net, Parts, Start};
use crate::terms::{columns, mean, relative};
use meromorph::autograd::Var;
use meromorph::model::Batch;
use meromorph::nn::{Activation, Init, Layer, Layout, Linear, Spec};
use meromorph::ops;
use meromorph::program::expr;

/// e-folds per unit of the perceptron's output; a step of Adam changes a coefficient by a constant share.
const STEEP: f32 = 4.6;
/// The same for straight lines alone: exponents of the size of 1 are reached in a few hundred steps.
const STEEPER: f32 = 20.0;

/// Logarithms from the sum of a perceptron and a straight line.
pub(super) fn log_transfer() -> Net {
    Net {
        body: Spec::mlp(2, &[128, 126], 3, Activation::silu()),
        extras: vec![Extra { shape: [2, 3].into(), start: Start::Values(vec![0.0; 6]) }],
        head: Box::new(|parts, x| {
            let conditions = columns(x, 1, 2);
            let line = ops::matmul(&conditions, &parts.extras[0]);
            response(&ops::add(&parts.body(&conditions), &line), x, STEEP)
        }),
        loss: Box::new(loss),
        adjust: Some(|layout, flat| quiet(layout, flat, 1)),
    }
}

/// Logarithms from a straight line: every coefficient is a product of powers of w0 and Q.
pub(super) fn power_law() -> Net {
    Net {
        body: Spec { inputs: 2, layers: vec![Layer::Linear(Linear { outputs: 3, bias: true, init: Init::Linear })] },
        extras: Vec::new(),
        head: Box::new(|parts: &Parts<'_>, x| response(&parts.body(&columns(x, 1, 2)), x, STEEPER)),
        loss: Box::new(loss),
        adjust: Some(|layout, flat| quiet(layout, flat, 0)),
    }
}

/// H and its mark of ⊥, then numerator and both parts of the denominator, from logarithms [rows, 3].
fn response(logarithms: &Var, x: &Var, steep: f32) -> Vec<Var> {
    let coefficients = ops::fused(&[logarithms], |v| expr::exp(expr::clamp(steep * v[0], -30.0, 30.0)));
    let [p, q0, q1] = [0, 1, 2].map(|at| columns(&coefficients, at, 1));
    let w = power_of_ten(x, 0);
    let real = ops::fused(&[&q0, &w], |v| v[0] - v[1] * v[1]);
    let imaginary = ops::mul(&q1, &w);
    let nothing = ops::fused(&[&p], |_| 0.0.into());
    let mut outputs = divided([&p, &nothing], [&real, &imaginary]);
    outputs.extend([p, real, imaginary]);
    outputs
}

fn loss(z: &[Var], batch: &Batch) -> Var {
    let [real, imaginary] = [0, 1].map(|at| columns(&batch.y, at, 1));
    mean(&relative(&z[2], [&z[3], &z[4]], [&real, &imaginary]), &batch.weight)
}

/// A hundredth of the last layer, in front of `behind` parameters of the head: all coefficients start near 1.
fn quiet(layout: &Layout, flat: &mut [f32], behind: usize) {
    let last = layout.parameters.len() - behind;
    for parameter in &layout.parameters[last - 2..last] {
        flat[parameter.offset..parameter.offset + parameter.shape.len()].iter_mut().for_each(|value| *value *= 0.01);
    }
}
