//! Statistics over seeds: means, percentiles, bootstrap intervals.

use serde::Serialize;

use super::random::{Purpose, Stream};
pub use meromorph::internal::math::mean;
use meromorph::internal::math::quantile_of_sorted;

/// Bootstrap resamples.
const RESAMPLES: usize = 2000;
/// Seed of the resampling, fixed so that the same values always have the same interval.
const SEED: u64 = 0x6d65_726f;

/// A mean and its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean of the values.
    pub mean: f64,
    /// 2.5th percentile of the means of resamples.
    pub low: f64,
    /// 97.5th percentile of the means of resamples.
    pub high: f64,
    /// Number of values.
    pub count: usize,
}

impl Estimate {
    /// Estimates the mean of the values by 2000 resamples with replacement (percentile bootstrap, Efron 1979). Absent without values; a
    /// single value has an interval of width 0.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let mut stream = Stream::new(SEED, Purpose::Bootstrap);
        let mut resample = || (0..values.len()).map(|_| values[stream.below(values.len())]).sum::<f64>();
        let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resample() / values.len() as f64).collect();
        means.sort_by(f64::total_cmp);
        let [low, high] = [0.025, 0.975].map(|share| quantile_of_sorted(&means, share));
        Some(Self { mean: mean(values), low, high, count: values.len() })
    }

    /// Estimates the mean of the paired differences a[k] - b[k].
    pub fn of_differences(a: &[f64], b: &[f64]) -> Option<Self> {
        let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        Self::of(&differences)
    }
}

/// The quantile at `share` (0 to 1), linear between neighbouring values; absent without values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| quantile_of_sorted(&sorted, share))
}
