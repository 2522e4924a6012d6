//! Sweeps of the decoding threshold: for each τ the share of values decoded to ⊥, separately for numbers and poles, and the error of the
//! others. Values are sorted once by nearness to a pole; each threshold is then a binary search and a precomputed sum.

use serde::Serialize;

use super::pairs::with_targets;
use crate::error::{Error, Result};
use crate::nn::{Head, Threshold};

/// The effect of one threshold. Shares of empty groups are absent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ThresholdRow {
    /// The threshold: values nearer to a pole are ⊥.
    pub tau: f64,
    /// Share of all values that are ⊥.
    pub bottom: f64,
    /// Share of the finite targets whose prediction is ⊥.
    pub refused: Option<f64>,
    /// Share of the pole targets whose prediction is a number.
    pub missed: Option<f64>,
    /// Root mean squared error of the predicted numbers, in target units.
    pub rmse: Option<f64>,
}

/// A value and its nearness to a pole.
#[derive(Clone, Copy, Debug)]
pub struct NearPole {
    /// The number compared with the threshold: the sine of an angle, or |Q|.
    pub nearness: f64,
    /// The absolute error of the quotient P / Q, in target units; `None` if the target is a pole.
    pub error: Option<f64>,
}

/// One row per threshold. Errors if `values` or `taus` is empty, a value is NaN, or a threshold is not a finite number above 0.
pub fn sweep(values: &[NearPole], taus: &[f64]) -> Result<Vec<ThresholdRow>> {
    if values.is_empty() || taus.is_empty() {
        let (values, taus) = (values.len(), taus.len());
        return Err(Error::new(format!("sweep: {values} values and {taus} thresholds; expected at least one of each")));
    }
    let is_odd = |value: &NearPole| value.nearness.is_nan() || value.error.is_some_and(f64::is_nan);
    if let Some(at) = values.iter().position(is_odd) {
        return Err(Error::new(format!("sweep: value {at} has a nearness or an error that is not a number")));
    }
    if let Some(tau) = taus.iter().find(|tau| !(tau.is_finite() && **tau > 0.0)) {
        return Err(Error::new(format!("sweep: tau is {tau}, expected a finite number above 0")));
    }
    let mut numbers: Vec<[f64; 2]> =
        values.iter().filter_map(|value| Some([value.nearness, value.error?.powi(2)])).collect();
    numbers.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let mut poles: Vec<f64> = values.iter().filter(|value| value.error.is_none()).map(|value| value.nearness).collect();
    poles.sort_by(f64::total_cmp);
    let beyond = sums_beyond(&numbers);
    let one = |&tau: &f64| {
        let (refused, found) =
            (numbers.partition_point(|value| value[0] < tau), poles.partition_point(|near| *near < tau));
        let share = |count: usize, of: usize| (of > 0).then(|| count as f64 / of as f64);
        let given = numbers.len() - refused;
        ThresholdRow {
            tau,
            bottom: (refused + found) as f64 / values.len() as f64,
            refused: share(refused, numbers.len()),
            missed: share(poles.len() - found, poles.len()),
            rmse: (given > 0).then(|| (beyond[refused] / given as f64).sqrt()),
        }
    };
    Ok(taus.iter().map(one).collect())
}

/// Σ of the squares from each value on, summed from the farthest from a pole: huge errors near poles affect only their own sums.
fn sums_beyond(numbers: &[[f64; 2]]) -> Vec<f64> {
    let mut sums = vec![0.0; numbers.len() + 1];
    for (at, [_, square]) in numbers.iter().enumerate().rev() {
        sums[at] = sums[at + 1] + square;
    }
    sums
}

/// Pairs `z` and lifted targets `y`, both [rows, 2 · outputs], as values to sweep. `scale` turns an error into target units.
///
/// Errors if a pair is not finite: it is a fault at any threshold.
pub fn nearness(head: &Head, z: &[f32], y: &[f32], scale: f64) -> Result<Vec<NearPole>> {
    let near = |(at, pairs): (usize, [f32; 4])| {
        let [p, q, yn, yd] = pairs.map(f64::from);
        if !(p.is_finite() && q.is_finite()) {
            let row = at / head.outputs;
            return Err(Error::new(format!(
                "sweep: the pair of row {row} is ({p}, {q}), which is a fault at any threshold"
            )));
        }
        let length = p.hypot(q);
        let nearness = match head.decoding.threshold {
            Threshold::Denominator => q.abs(),
            Threshold::Angle if length > 0.0 => q.abs() / length,
            Threshold::Angle => 0.0,
        };
        // A quotient by 0 is ⊥ at any threshold.
        let error = if q == 0.0 { f64::INFINITY } else { (p / q - yn).abs() * scale };
        Ok(NearPole { nearness, error: (yd != 0.0).then_some(error) })
    };
    with_targets(head.outputs, z, y).enumerate().map(near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::strict;
    use crate::nn::Decoding;

    #[test]
    fn a_sweep_by_hand() {
        let near = |nearness, error| NearPole { nearness, error };
        let values =
            [near(0.3, Some(1.0)), near(0.1, None), near(0.2, Some(7.0)), near(0.5, None), near(0.0, Some(9.0))];
        let swept = sweep(&values, &[0.01, 0.2, 0.25, 0.9]).unwrap();
        let row = |tau, bottom, refused, missed, rmse: Option<f64>| ThresholdRow {
            tau,
            bottom,
            refused: Some(refused),
            missed: Some(missed),
            rmse,
        };
        let expected = [
            row(0.01, 0.2, 1.0 / 3.0, 1.0, Some(5.0)),
            row(0.2, 0.4, 1.0 / 3.0, 0.5, Some(5.0)),
            row(0.25, 0.6, 2.0 / 3.0, 0.5, Some(1.0)),
            row(0.9, 1.0, 1.0, 0.0, None),
        ];
        assert_eq!(swept, expected);
        assert_eq!(sweep(&values[1..2], &[0.2]).unwrap()[0].refused, None);
    }

    #[test]
    fn the_sweep_counts_what_decoding_decides() {
        let mut state = 1_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / 8_388_608.0 - 1.0
        };
        for threshold in [Threshold::Angle, Threshold::Denominator] {
            let head = Head { decoding: Decoding { threshold, ..Decoding::default() }, ..Head::linear(2) };
            let z: Vec<f32> = (0..4000).map(|_| draw()).collect();
            let y: Vec<f32> =
                (0..4000).map(|at| if at % 4 < 2 { draw() } else { f32::from(u8::from(at % 3 > 0)) }).collect();
            let values = nearness(&head, &z, &y, 2.0).unwrap();
            for swept in sweep(&values, &[1e-3, 0.03, 0.4]).unwrap() {
                let decoding = Decoding { threshold, tau_infer: swept.tau as f32, tau_train: None };
                let (mut bottom, mut missed, mut squares, mut given) = (0, 0, 0.0, 0);
                for at in 0..2000 {
                    let [n, d] = [4 * (at / 2) + at % 2, 4 * (at / 2) + 2 + at % 2];
                    match strict::decode(&decoding, z[n], z[d]) {
                        None => bottom += 1,
                        Some(_) if y[d] == 0.0 => missed += 1,
                        Some((value, _)) => {
                            given += 1;
                            squares += (2.0 * f64::from(value - y[n])).powi(2);
                        }
                    }
                }
                let poles = values.iter().filter(|value| value.error.is_none()).count();
                assert_eq!((swept.bottom, swept.missed), (bottom as f64 / 2000.0, Some(missed as f64 / poles as f64)));
                let rmse = (squares / given as f64).sqrt();
                assert!((swept.rmse.unwrap() - rmse).abs() < 1e-5 * rmse, "{swept:?} {rmse}");
            }
        }
    }

    #[test]
    fn messages() {
        let near = |nearness, error| NearPole { nearness, error };
        let cases = [
            (sweep(&[], &[0.1]), "sweep: 0 values and 1 thresholds; expected at least one of each"),
            (sweep(&[near(0.1, None)], &[]), "sweep: 1 values and 0 thresholds; expected at least one of each"),
            (sweep(&[near(0.1, None)], &[0.0]), "sweep: tau is 0, expected a finite number above 0"),
            (sweep(&[near(f64::NAN, None)], &[0.1]), "sweep: value 0 has a nearness or an error that is not a number"),
        ];
        for (got, expected) in cases {
            assert_eq!(got.unwrap_err().to_string(), expected);
        }
        let got = nearness(&Head::linear(1), &[1.0, f32::NAN], &[0.0, 1.0], 1.0).unwrap_err().to_string();
        assert_eq!(got, "sweep: the pair of row 0 is (1, NaN), which is a fault at any threshold");
    }
}
