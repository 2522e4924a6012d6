//! Pair losses, in ops. Formulas from ZeroProofML 0.6 (MIT). All tensors are [rows, outputs] unless said otherwise.

use super::PairLoss;
use crate::autograd::Var;
use crate::ops;
use crate::program::Expr;
use crate::program::expr::{abs, clamp, eq, ge, le, lt, max, ne, relu, select, sigmoid, sqrt, square};
use crate::tensor::Tensor;

/// Predicted and target pairs, and the weight of each row, [rows, 1].
pub struct Pairs<'a> {
    /// Numerators.
    pub p: &'a Var,
    /// Denominators.
    pub q: &'a Var,
    /// Numerators of the targets.
    pub yn: &'a Var,
    /// Denominators of the targets: 0 for ⊥.
    pub yd: &'a Var,
    /// 1 for a row that counts, 0 for one that does not.
    pub rows: &'a Var,
}

/// Splits a tensor [rows, 2 · outputs] of pairs into numerators and denominators, [rows, outputs] each.
pub fn halves(pairs: &Var) -> (Var, Var) {
    let mut halves = parts(pairs, 2).into_iter();
    (halves.next().expect("a half"), halves.next().expect("a half"))
}

/// Splits the columns of a tensor [rows, count · width] into tensors [rows, width].
pub fn parts(values: &Var, count: usize) -> Vec<Var> {
    let [rows, all] = *values.shape().sizes() else { panic!("parts: got {}, expected two axes", values.shape()) };
    let values = ops::reshape(values, [rows, count, all / count]);
    let part = |at: usize| {
        let weights: Vec<f32> = (0..count).map(|place| f32::from(place == at)).collect();
        let pick = Tensor::constant(values.value().device(), [count, 1], &weights);
        ops::reshape(&ops::sum(&ops::mul(&values, &Var::constant(pick)), 1..2), [rows, all / count])
    };
    (0..count).map(part).collect()
}

/// The inverse of [`halves`].
pub fn joined(p: &Var, q: &Var) -> Var {
    let [rows, width] = *p.shape().sizes() else { panic!("joined: got {}, expected two axes", p.shape()) };
    let is_first = Var::constant(Tensor::constant(p.value().device(), [2, 1], &[1.0, 0.0]));
    let [p, q] = [p, q].map(|half| ops::reshape(half, [rows, 1, width]));
    ops::reshape(&ops::fused(&[&p, &q, &is_first], |v| select(v[2], v[0], v[1])), [rows, 2 * width])
}

/// The pairs whose quotient is the mean of those of several models: over the smallest denominator, so that it is ⊥ where one of them is.
pub(super) fn mean_of_models(models: &[Var]) -> Var {
    let pairs: Vec<(Var, Var)> = models.iter().map(halves).collect();
    let smaller =
        |least: Var, (_, q): &(Var, Var)| ops::fused(&[&least, q], |v| select(lt(abs(v[1]), abs(v[0])), v[1], v[0]));
    let least = pairs[1..].iter().fold(pairs[0].1.clone(), smaller);
    let over_least =
        |(p, q): &(Var, Var)| ops::fused(&[p, q, &least], |v| v[0] * select(ne(v[1], 0.0), v[2] / v[1], 1.0));
    joined(&super::mean::of_numbers(&pairs.iter().map(over_least).collect::<Vec<_>>()), &least)
}

/// The loss, a scalar of shape [1], for the threshold `tau` of this step, a scalar.
pub fn total(loss: &PairLoss, pairs: &Pairs<'_>, tau: &Var) -> Var {
    let terms: [(f32, &dyn Fn() -> Var); 7] = [
        (loss.implicit, &|| implicit(pairs, loss.gamma, loss.is_detached)),
        (loss.chordal, &|| chordal(pairs, loss.gamma)),
        (loss.decoded, &|| decoded(pairs, tau)),
        (loss.margin, &|| margin(pairs, tau)),
        (loss.sign, &|| sign(pairs, loss.gamma, loss.sign_within)),
        (loss.bottom.max(loss.finite), &|| {
            let [bottom, finite] = separation(pairs, loss.tau_bottom, loss.tau_finite);
            let share = loss.bottom.max(loss.finite);
            ops::fused(&[&bottom, &finite], |v| v[0] * (loss.bottom / share) + v[1] * (loss.finite / share))
        }),
        (loss.coverage, &|| {
            let missing = missing_coverage(pairs, tau, loss.temperature, loss.target_coverage);
            ops::fused(&[&missing], |v| square(v[0]))
        }),
    ];
    let weighted = terms.iter().filter(|(weight, _)| *weight != 0.0);
    let weighted = weighted.map(|(weight, term)| ops::fused(&[&term()], |v| v[0] * *weight));
    weighted.reduce(|a, b| ops::add(&a, &b)).unwrap_or_else(|| ops::reshape(&ops::constant(pairs.p, 0.0), [1]))
}

/// Mean of c² / (S + gamma), c = P·Yd - Q·Yn, S = Q²·Yd² + P²·Yn²; gradients treat S as a constant if it is detached.
pub fn implicit(pairs: &Pairs<'_>, gamma: f32, is_detached: bool) -> Var {
    let scale = |var: &Var| if is_detached { var.detach() } else { var.clone() };
    let (p, q) = (scale(pairs.p), scale(pairs.q));
    mean(pairs, &[pairs.p, pairs.q, pairs.yn, pairs.yd, &p, &q], |v| {
        let cross = v[0] * v[3] - v[1] * v[2];
        square(cross) / (square(v[5] * v[3]) + square(v[4] * v[2]) + gamma)
    })
}

/// Mean of c² / ((P² + Q²)(Yn² + Yd²) + gamma), c = P·Yd - Q·Yn.
pub fn chordal(pairs: &Pairs<'_>, gamma: f32) -> Var {
    mean(pairs, &[pairs.p, pairs.q, pairs.yn, pairs.yd], |v| {
        let cross = v[0] * v[3] - v[1] * v[2];
        square(cross) / ((square(v[0]) + square(v[1])) * (square(v[2]) + square(v[3])) + gamma)
    })
}

/// Mean of (P / (sgn(Q)·max(|Q|, τ)) - Yn)² over all pairs, with terms of finite targets (Yd ≠ 0) only.
pub fn decoded(pairs: &Pairs<'_>, tau: &Var) -> Var {
    mean(pairs, &[pairs.p, pairs.q, pairs.yn, pairs.yd, tau], |v| {
        let size = max(abs(v[1]), v[4]);
        let bounded = select(ge(v[1], 0.0), size, -size);
        select(ne(v[3], 0.0), square(v[0] / bounded - v[2]), 0.0)
    })
}

/// Mean of max(τ - |Q|, 0)² over all pairs, with terms of finite targets only.
pub fn margin(pairs: &Pairs<'_>, tau: &Var) -> Var {
    mean(pairs, &[pairs.q, pairs.yd, tau], |v| ne(v[1], 0.0) * square(relu(v[2] - abs(v[0]))))
}

/// Mean of 1 - cos of the angle between (P, Q) and (Yn, Yd), where |Yd| <= within.
pub fn sign(pairs: &Pairs<'_>, gamma: f32, within: f32) -> Var {
    // The cosine is the same for (P, Q) / s with gamma / s²; with this scaling no square overflows.
    let scale = ops::fused(&[pairs.p, pairs.q], |v| max(1.0, max(abs(v[0]), abs(v[1])))).detach();
    mean(pairs, &[pairs.p, pairs.q, pairs.yn, pairs.yd, &scale], |v| {
        let (p, q) = (v[0] / v[4], v[1] / v[4]);
        let size = sqrt(square(p) + square(q) + gamma / v[4] / v[4]) * sqrt(square(v[2]) + square(v[3]) + gamma);
        le(abs(v[3]), within) * (1.0 - clamp((p * v[2] + q * v[3]) / size, -1.0, 1.0))
    })
}

/// Means of max(|Q| - `tau_bottom`, 0)² over ⊥ targets and of max(`tau_finite` - |Q|, 0)² over finite ones.
pub fn separation(pairs: &Pairs<'_>, tau_bottom: f32, tau_finite: f32) -> [Var; 2] {
    let [q, yd, rows] = [pairs.q, pairs.yd, pairs.rows];
    let over = |is_counted: fn(Expr) -> Expr, term: &dyn Fn(Expr) -> Expr| {
        let sum = total_of(&ops::fused(&[q, yd, rows], |v| v[2] * is_counted(v[1]) * term(v[0])));
        let count = total_of(&ops::fused(&[yd, rows], |v| v[1] * is_counted(v[0])));
        ops::fused(&[&sum, &count], |v| v[0] / max(v[1], 1.0))
    };
    [
        over(|yd| eq(yd, 0.0), &|q| square(relu(abs(q) - tau_bottom))),
        over(|yd| ne(yd, 0.0), &|q| square(relu(tau_finite - abs(q)))),
    ]
}

/// max(target - mean σ((|Q| - τ) / temperature), 0): the gap between the target coverage and the actual one.
pub fn missing_coverage(pairs: &Pairs<'_>, tau: &Var, temperature: f32, target: f32) -> Var {
    let covered = mean(pairs, &[pairs.q, tau], |v| sigmoid((abs(v[0]) - v[1]) / temperature));
    ops::fused(&[&covered], |v| relu(target - v[0]))
}

/// The mean of a pointwise term over the pairs of rows that count.
fn mean(pairs: &Pairs<'_>, inputs: &[&Var], term: impl FnOnce(&[Expr]) -> Expr) -> Var {
    let each = ops::fused(inputs, term);
    let each = ops::broadcast_to(&each, pairs.p.shape());
    let sum = total_of(&ops::mul(&each, pairs.rows));
    let outputs = pairs.p.shape().sizes()[1] as f32;
    ops::fused(&[&sum, &total_of(pairs.rows)], |v| v[0] / (v[1] * outputs))
}

fn total_of(x: &Var) -> Var {
    ops::reshape(&ops::sum(x, 0..x.shape().rank()), [1])
}
