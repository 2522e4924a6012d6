//! Kullback-Leibler divergence of predicted probabilities from those of the target: Σ_c y_c (ln y_c - ln p_c) with p the softmax of a row's
//! outputs, and y ln y = 0 at y = 0. The mean over rows is torch's KLDivLoss with the reduction `batchmean`.

use super::sums::total;
use super::{Compared, Link, LossRecord, Rule, Target};
use crate::autograd::Var;
use crate::ops;
use crate::program::expr::{gt, ln, max, select};

pub(super) static LOSS: LossRecord = LossRecord {
    name: "kl",
    doc: "Divergence of shares of classes, one in each target column, whose sum is 1",
    target: Target::SHARES,
    link: &Link {
        exported: &[("output", Some(|z| ops::softmax(z)))],
        doc: "the share of each column",
        ..Link::SOFTMAX
    },
    constants: &[],
    rule: Rule::Row { sums: |rows, _| (total(&each(rows)), total(rows.rows)), mean, fused: None },
};

/// Replaces 0 in a logarithm whose value is not used.
const LEAST: f32 = f32::MIN_POSITIVE;

/// The weighted terms of row losses: `z` and `y` are [rows, classes].
fn each(rows: &Compared<'_>) -> Var {
    let log_p = ops::log_softmax(rows.z);
    ops::fused(&[&log_p, rows.y, rows.rows], |v| {
        let own = select(gt(v[1], 0.0), v[1] * ln(max(v[1], LEAST)), 0.0);
        v[2] * (own - v[1] * v[0])
    })
}

/// The mean over rows.
fn mean(z: &[f32], y: &[f32], classes: usize) -> f64 {
    let row = |(z, y): (&[f32], &[f32])| {
        let top = z.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mass: f64 = z.iter().map(|&z| f64::from(z - top).exp()).sum();
        let term = |(&z, &y): (&f32, &f32)| f64::from(y) * (f64::from(y).ln() - f64::from(z - top) + mass.ln());
        z.iter().zip(y).filter(|(_, y)| **y > 0.0).map(term).sum::<f64>()
    };
    let rows = z.chunks_exact(classes).zip(y.chunks_exact(classes));
    rows.map(row).sum::<f64>() / (y.len() / classes.max(1)).max(1) as f64
}
