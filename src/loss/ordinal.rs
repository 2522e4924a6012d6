//! Likelihood of classes in order, such as ratings, by the chances that a row is above each class: P(class > k) = σ(a_k), with a_0 the first output and
//! a_k = a_(k-1) - softplus(z_k) (McCullagh 1980, with thresholds that follow from the row). C classes have C - 1 outputs. The chance of class k is
//! σ(a_(k-1)) - σ(a_k) = σ(a_(k-1)) σ(-a_k) σ(z_k), whose logarithm needs no difference.

use super::cross_entropy::of_classes;
use super::mean::of_softplus;
use super::{Link, LossRecord, Rule, Target};
use crate::autograd::Var;
use crate::math::largest;
use crate::ops;
use crate::program::expr::{select, softplus};
use crate::tensor::Tensor;

pub(super) static LOSS: LossRecord = LossRecord {
    name: "ordinal",
    doc: "Classes in order, such as ratings: a class that is far off costs more than a neighbour",
    target: Target { is_ordered: true, ..Target::CLASSES },
    link: &Link {
        outputs: |classes| classes.saturating_sub(1),
        values: |outputs| outputs + 1,
        probabilities: Some(|row, all| all.extend(logarithms(row).map(f64::exp))),
        class: |row| largest(&logarithms(row).collect::<Vec<f64>>()),
        inverse,
        mean: of_models,
        exported: &[("output", Some(|z| ops::exp(&log_probabilities(z))))],
        doc: "the probability of each level, from the lowest; the largest wins",
        ..Link::SOFTMAX
    },
    constants: &[],
    rule: Rule::Row { sums: |rows, _| of_classes(&log_probabilities(rows.z), rows, 0.0), mean, fused: None },
};

/// A matrix [cuts, columns] of 0 and 1.
fn matrix(z: &Var, columns: usize, is_one: impl Fn(usize, usize) -> bool) -> Var {
    let cuts = z.shape().sizes()[1];
    let values: Vec<f32> =
        (0..cuts * columns).map(|at| f32::from(is_one(at / columns, at % columns))).collect();
    Var::constant(Tensor::constant(z.value().device(), [cuts, columns], &values))
}

/// 1 for the first output, 0 for others, [1, cuts].
fn is_first(z: &Var) -> Var {
    let first: Vec<f32> = (0..z.shape().sizes()[1]).map(|at| f32::from(at == 0)).collect();
    Var::constant(Tensor::constant(z.value().device(), [1, first.len()], &first))
}

/// The logits a_k of the chances that a row is above each class, [rows, classes - 1].
fn logits_above(z: &Var) -> Var {
    let steps = ops::fused(&[z, &is_first(z)], |v| select(v[1], v[0], -softplus(v[0])));
    ops::matmul(&steps, &matrix(z, z.shape().sizes()[1], |from, to| from <= to))
}

/// The outputs whose chances are the mean of those of several models.
fn of_models(models: &[Var]) -> Var {
    let logits = (Link::SIGMOID.mean)(&models.iter().map(logits_above).collect::<Vec<_>>());
    let before = ops::matmul(&logits, &matrix(&logits, logits.shape().sizes()[1], |from, to| from + 1 == to));
    ops::fused(&[&logits, &before, &is_first(&logits)], |v| select(v[2], v[0], of_softplus(v[1] - v[0], 1e-6)))
}

/// The logarithms of the classes' probabilities, [rows, classes], from outputs [rows, classes - 1].
fn log_probabilities(z: &Var) -> Var {
    let (cuts, above, is_first) = (z.shape().sizes()[1], logits_above(z), is_first(z));
    // Of class k: not above k, and for all but the first, above k - 1 and σ(z_k).
    let own = ops::fused(&[&above, z, &is_first], |v| -softplus(v[0]) - select(v[2], 0.0, softplus(-v[1])));
    let next = ops::fused(&[&above], |v| -softplus(-v[0]));
    let (stay, shift) = (matrix(z, cuts + 1, |from, to| from == to), matrix(z, cuts + 1, |from, to| from + 1 == to));
    ops::add(&ops::matmul(&own, &stay), &ops::matmul(&next, &shift))
}

/// The same of one row, in f64.
fn logarithms(z: &[f32]) -> impl Iterator<Item = f64> {
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    let (mut above, mut all) = (f64::INFINITY, Vec::with_capacity(z.len() + 1));
    for (at, z) in z.iter().map(|z| f64::from(*z)).enumerate() {
        let next = if at == 0 { z } else { above - softplus(z) };
        let own = if at == 0 { 0.0 } else { -softplus(-above) - softplus(-z) };
        all.push(own - softplus(next));
        above = next;
    }
    all.push(-softplus(-above));
    all.into_iter()
}

/// The outputs at which the classes have these probabilities.
fn inverse(shares: &[f64]) -> Vec<f32> {
    let least = f64::from(f32::MIN_POSITIVE);
    let logits = (1..shares.len()).map(|class| {
        let [below, above] = [&shares[..class], &shares[class..]].map(|part| part.iter().sum::<f64>().max(least));
        (above / below).ln()
    });
    let logits: Vec<f64> = logits.collect();
    // softplus(z) = d for z = ln(e^d - 1).
    let gap = |pair: &[f64]| (pair[0] - pair[1]).max(1e-6).exp_m1().ln();
    logits.first().copied().into_iter().chain(logits.windows(2).map(gap)).map(|z| z as f32).collect()
}

/// The mean of -ln p of the rows' own classes.
fn mean(z: &[f32], y: &[f32], outputs: usize) -> f64 {
    let own = |(z, y): (&[f32], &f32)| -logarithms(z).nth(*y as usize).unwrap_or(f64::NAN);
    z.chunks_exact(outputs).zip(y).map(own).sum::<f64>() / y.len().max(1) as f64
}
