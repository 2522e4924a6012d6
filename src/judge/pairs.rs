//! Metrics of predicted pairs, computed in f64: the loss by its formulas, errors of decoded values, and how well ⊥ is predicted.

use super::metrics::{Metrics, Pair, Pairs, Predicted, Scored};
use crate::kernels::strict;
use crate::loss::PairLoss;
use crate::nn::Head;

/// Metrics of pairs `z` against lifted targets `y`, both [rows, 2 · outputs]. `scale` turns a scaled error into target units.
pub(crate) fn metrics(head: &Head, loss: &PairLoss, z: &[f32], y: &[f32], scale: f64) -> Metrics {
    let all = pairs(head, z, y);
    let numbers = all.iter().filter(|pair| pair.yd != 0.0).filter_map(|pair| Some([pair.value?.0, pair.yn])).collect();
    let (rows, loss) = (z.len() / (2 * head.outputs), total(loss, &all));
    Metrics::of_scored(&Scored { rows, loss, scale, predicted: Predicted::Pairs(Pairs { all, numbers }) })
}

fn pairs(head: &Head, z: &[f32], y: &[f32]) -> Vec<Pair> {
    let pair = |[p, q, yn, yd]: [f32; 4]| {
        let value = strict::decode(&head.decoding, p, q).map(|(value, is_gap)| (f64::from(value), is_gap));
        let [p, q, yn, yd] = [p, q, yn, yd].map(f64::from);
        Pair { p, q, yn, yd, value }
    };
    with_targets(head.outputs, z, y).map(pair).collect()
}

/// The pair of each predicted value, and that of its target: pairs `z` and `y`, both [rows, 2 · outputs], numerators before denominators.
pub(crate) fn with_targets<'a>(outputs: usize, z: &'a [f32], y: &'a [f32]) -> impl Iterator<Item = [f32; 4]> + 'a {
    (0..z.len() / 2).map(move |at| {
        let (row, column) = (at / outputs, at % outputs);
        let [n, d] = [2 * row * outputs + column, (2 * row + 1) * outputs + column];
        [z[n], z[d], y[n], y[d]]
    })
}

/// The formulas of `loss::pairs`, at the middle of the thresholds.
fn total(loss: &PairLoss, pairs: &[Pair]) -> f64 {
    let tau = f64::midpoint(f64::from(loss.tau[0]), f64::from(loss.tau[1]));
    let gamma = f64::from(loss.gamma);
    let mean = |of: &dyn Fn(&Pair) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
    let among = |is_counted: &dyn Fn(&Pair) -> bool, of: &dyn Fn(&Pair) -> f64| {
        let counted: Vec<f64> = pairs.iter().filter(|pair| is_counted(pair)).map(of).collect();
        counted.iter().sum::<f64>() / counted.len().max(1) as f64
    };
    let finite = |pair: &Pair| pair.yd != 0.0;
    let squared = |x: f64| x.max(0.0).powi(2);
    let implicit = |pair: &Pair| {
        let Pair { p, q, yn, yd, .. } = pair;
        (p * yd - q * yn).powi(2) / ((q * yd).powi(2) + (p * yn).powi(2) + gamma)
    };
    let chordal = |pair: &Pair| {
        let Pair { p, q, yn, yd, .. } = pair;
        (p * yd - q * yn).powi(2) / ((p * p + q * q) * (yn * yn + yd * yd) + gamma)
    };
    let decoded = |pair: &Pair| {
        let bounded = pair.q.abs().max(tau) * if pair.q >= 0.0 { 1.0 } else { -1.0 };
        if finite(pair) { (pair.p / bounded - pair.yn).powi(2) } else { 0.0 }
    };
    let sign = |pair: &Pair| {
        let Pair { p, q, yn, yd, .. } = pair;
        let sizes = (p * p + q * q + gamma).sqrt() * (yn * yn + yd * yd + gamma).sqrt();
        let is_counted = yd.abs() <= f64::from(loss.sign_within);
        if is_counted { 1.0 - ((p * yn + q * yd) / sizes).clamp(-1.0, 1.0) } else { 0.0 }
    };
    let [tau_bottom, tau_finite] = [loss.tau_bottom, loss.tau_finite].map(f64::from);
    let covered = |pair: &Pair| 1.0 / (1.0 + ((tau - pair.q.abs()) / f64::from(loss.temperature)).exp());
    let terms = [
        (loss.implicit, mean(&implicit)),
        (loss.chordal, mean(&chordal)),
        (loss.decoded, mean(&decoded)),
        (loss.margin, mean(&|pair| if finite(pair) { squared(tau - pair.q.abs()) } else { 0.0 })),
        (loss.sign, mean(&sign)),
        (loss.bottom, among(&|pair| !finite(pair), &|pair| squared(pair.q.abs() - tau_bottom))),
        (loss.finite, among(&finite, &|pair| squared(tau_finite - pair.q.abs()))),
        (loss.coverage, squared(f64::from(loss.target_coverage) - mean(&covered))),
    ];
    terms.iter().map(|(weight, term)| if *weight == 0.0 { 0.0 } else { f64::from(*weight) * term }).sum()
}
