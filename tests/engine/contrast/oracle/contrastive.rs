//! The rule "contrastive": steps against differences of statistics. g <- clamp(g - eta_g dG, 0.01, 100), theta <- wrap(theta - eta_th dH),
//! and for queries that are masked means of embedded tokens, E <- E - eta_E dGq / B.

use super::{Geometry, Statistics};
use std::f64::consts::{PI, TAU};

/// Learning rates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) metric: f64,
    pub(crate) theta: f64,
}

/// One update, and whether it was made: a number that is not finite leaves everything as it was.
pub(crate) fn descend(geometry: &mut Geometry, gradient: &Statistics, rates: Rates) -> bool {
    if !gradient.is_finite() {
        return false;
    }
    for (metric, gradient) in geometry.metric.iter_mut().zip(&gradient.metric) {
        *metric = clamp(*metric - rates.metric * gradient);
    }
    for (theta, gradient) in geometry.theta.iter_mut().zip(&gradient.angles) {
        *theta = wrap(*theta - rates.theta * gradient);
    }
    true
}

/// The range of the specification for entries of the metric.
pub(crate) fn clamp(metric: f64) -> f64 {
    metric.clamp(0.01, 100.0)
}

/// The same angle in [-pi, pi); one that is there already keeps its bits.
pub(crate) fn wrap(angle: f64) -> f64 {
    if (-PI..PI).contains(&angle) {
        return angle;
    }
    let wrapped = (angle + PI).rem_euclid(TAU) - PI;
    // The remainder of a tiny negative number rounds to the whole period.
    if wrapped >= PI { -PI } else { wrapped }
}

/// q = sum_t mask_t E[id_t] / max(1, sum_t mask_t) for each of B rows of tokens: ids and mask [B, T], E [V, n].
pub(crate) fn pool(embedding: &[f64], n: usize, ids: &[Vec<usize>], mask: &[Vec<f64>]) -> Vec<f64> {
    let mut queries = vec![0.0; ids.len() * n];
    for (row, (ids, mask)) in ids.iter().zip(mask).enumerate() {
        for (id, weight) in ids.iter().zip(shares(mask)) {
            for i in 0..n {
                queries[row * n + i] += weight * embedding[id * n + i];
            }
        }
    }
    queries
}

/// E <- E - rate dGq / B, each row's part going to its tokens by their share of the mean. The loss is a mean over rows, hence 1 / B.
pub(crate) fn scatter(embedding: &mut [f64], ids: &[Vec<usize>], mask: &[Vec<f64>], gradient: &[f64], rate: f64) {
    let (n, rate) = (gradient.len() / ids.len(), rate / ids.len() as f64);
    for (row, (ids, mask)) in ids.iter().zip(mask).enumerate() {
        for (id, weight) in ids.iter().zip(shares(mask)) {
            for i in 0..n {
                embedding[id * n + i] -= rate * weight * gradient[row * n + i];
            }
        }
    }
}

fn shares(mask: &[f64]) -> Vec<f64> {
    let sum = mask.iter().sum::<f64>().max(1.0);
    mask.iter().map(|mask| mask / sum).collect()
}
