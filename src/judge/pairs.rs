//! Metrics of predicted pairs, computed in f64: the loss by its formulas, errors of decoded values, and how well ⊥ is predicted.

use super::metrics::Metrics;
use crate::kernels::strict;
use crate::loss::PairLoss;
use crate::math::median;
use crate::nn::Head;

/// A predicted pair and its target.
struct Pair {
    p: f64,
    q: f64,
    yn: f64,
    yd: f64,
    /// The decoded value and whether it is near a pole; `None` for ⊥.
    value: Option<(f64, bool)>,
}

/// Metrics of pairs `z` against lifted targets `y`, both [rows, 2 · outputs]. `scale` turns a scaled error into target units.
pub(crate) fn metrics(head: &Head, loss: &PairLoss, z: &[f32], y: &[f32], scale: f64) -> Metrics {
    let pairs = pairs(head, z, y);
    let share = |count: usize, of: usize| (of > 0).then(|| count as f64 / of as f64);
    let (finite, bottom): (Vec<&Pair>, Vec<&Pair>) = pairs.iter().partition(|pair| pair.yd != 0.0);
    let given: Vec<[f64; 2]> = finite.iter().filter_map(|pair| Some([pair.value?.0, pair.yn])).collect();
    let count = given.len() as f64;
    let mean = |of: &dyn Fn(&[f64; 2]) -> f64| (!given.is_empty()).then(|| given.iter().map(of).sum::<f64>() / count);
    let squares = mean(&|[z, y]| (z - y) * (z - y));
    let middle = mean(&|[_, y]| *y).unwrap_or(0.0);
    let spread = mean(&|[_, y]| (y - middle) * (y - middle)).filter(|spread| *spread > 0.0);
    let decoded = pairs.iter().filter(|pair| pair.value.is_some()).count();
    let gaps = pairs.iter().filter(|pair| matches!(pair.value, Some((_, true)))).count();
    Metrics {
        rows: z.len() / (2 * head.outputs),
        loss: total(loss, &pairs),
        mse: squares.map(|mse| mse * scale * scale),
        mae: mean(&|[z, y]| (z - y).abs()).map(|mae| mae * scale),
        r2: squares.zip(spread).map(|(squares, spread)| 1.0 - squares / spread),
        median: median(given.iter().map(|[z, y]| (z - y).abs()).collect()).map(|error| error * scale),
        coverage: share(decoded, pairs.len()),
        gap: share(gaps, pairs.len()),
        refused: share(finite.iter().filter(|pair| pair.value.is_none()).count(), finite.len()),
        found: share(bottom.iter().filter(|pair| pair.value.is_none()).count(), bottom.len()),
        ..Metrics::default()
    }
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
