//! Negative log-likelihood of a number y under a normal distribution of mean m and variance v, without its constant: (ln v + (m - y)²/v)/2 (Nix and
//! Weigend 1994). A row has all means, then for each of them an output s with ln v = FLOOR + softplus(s - FLOOR), which is s but never below
//! FLOOR. So v stays above 1e-6, e^(-ln v) does not overflow, and the gradient of s does not vanish at once, as it would with a clamp.

use super::pairs::{halves, joined};
use super::sums::total;
use super::{Compared, Link, LossRecord, Rule, Target, mean::of_numbers, mean::of_softplus};
use crate::autograd::Var;
use crate::ops;
use crate::program::Expr;
use crate::program::expr::{exp, ln, softplus, square};

pub(super) static LOSS: LossRecord = LossRecord {
    name: "gaussian_nll",
    doc: "Likelihood under a normal distribution: predicts a number and its standard deviation",
    target: Target::NUMBERS,
    link: &Link {
        outputs: |values| 2 * values,
        values: |outputs| outputs / 2,
        deviation: Some(deviation),
        // Variance 1.
        inverse: |means| means.iter().map(|mean| *mean as f32).chain(means.iter().map(|_| 0.0)).collect(),
        mean: of_models,
        exported: &[
            ("output", Some(|z| halves(z).0)),
            ("deviation", Some(|z| ops::fused(&[&halves(z).1], |v| deviation_of(v[0])))),
        ],
        doc: "value = mean + scale * output, with standard deviation scale * deviation",
        ..Link::IDENTITY
    },
    constants: &[],
    rule: Rule::Row { sums: |rows, _| (total(&each(rows)), total(rows.rows)), mean, fused: None },
};

/// ln 1e-6: the smallest variance of torch's loss. The targets of a table have variance 1.
const FLOOR: f64 = -13.815_510_557_964_274;

/// The weighted losses [rows, targets]: `z` is [rows, 2 · targets], `y` [rows, targets].
fn each(rows: &Compared<'_>) -> Var {
    let (mean, spread) = halves(rows.z);
    let share = 0.5 / rows.y.shape().sizes()[1] as f32;
    ops::fused(&[&mean, &spread, rows.y, rows.rows], |v| {
        let log_variance = log_variance(v[1]);
        v[3] * share * (log_variance + square(v[0] - v[2]) * exp(-log_variance))
    })
}

fn log_variance(spread: Expr) -> Expr {
    softplus(spread - FLOOR) + FLOOR
}

/// The standard deviation that an output s says, as a formula.
fn deviation_of(spread: Expr) -> Expr {
    exp(0.5 * log_variance(spread))
}

/// Mean and variance of the mixture of the models' distributions, with equal shares (Lakshminarayanan et al. 2017).
fn of_models(models: &[Var]) -> Var {
    let parts: Vec<(Var, Var)> = models.iter().map(halves).collect();
    let middle = of_numbers(&parts.iter().map(|(mean, _)| mean.clone()).collect::<Vec<_>>());
    let around = |(mean, spread): &(Var, Var)| {
        ops::fused(&[mean, spread, &middle], |v| exp(log_variance(v[1])) + square(v[0] - v[2]))
    };
    let variance = of_numbers(&parts.iter().map(around).collect::<Vec<_>>());
    let spread = ops::fused(&[&variance], |v| of_softplus(ln(v[0]) - FLOOR, 1e-4) + FLOOR);
    joined(&middle, &spread)
}

/// The standard deviation that an output s says, in f64.
fn deviation(spread: f32) -> f64 {
    let above = f64::from(spread) - FLOOR;
    // softplus, so that neither side overflows.
    (0.5 * (FLOOR + above.max(0.0) + (-above.abs()).exp().ln_1p())).exp()
}

/// The mean loss of outputs [rows, 2 · targets] against targets [rows, targets].
fn mean(z: &[f32], y: &[f32], outputs: usize) -> f64 {
    let targets = outputs / 2;
    let row = |(z, y): (&[f32], &[f32])| {
        let (means, spreads) = z.split_at(targets);
        let one = |((mean, spread), y): ((&f32, &f32), &f32)| {
            let deviation = deviation(*spread);
            deviation.ln() + 0.5 * ((f64::from(*mean) - f64::from(*y)) / deviation).powi(2)
        };
        means.iter().zip(spreads).zip(y).map(one).sum::<f64>()
    };
    let rows = z.chunks_exact(2 * targets.max(1)).zip(y.chunks_exact(targets.max(1)));
    rows.map(row).sum::<f64>() / y.len().max(1) as f64
}
