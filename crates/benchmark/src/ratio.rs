//! How many times as long one code takes as another, with a bootstrap interval (Efron 1979).

use super::measurement::median;
use meromorph::internal::math::quantile_of_sorted;
use meromorph::internal::math::splitmix::{STEP, mixed};

/// Resamples; their number moves the ends of an interval at a level of 0.95 by about a tenth of its width.
const RESAMPLES: usize = 2000;
/// Fixed, so that the same samples always have the same interval.
const SEED: u64 = 0x6d65_726f;
/// A change of speed that matters: timing noise between runs of a program is often a few percent.
const LIMIT: f64 = 1.1;

/// A ratio of times, new over old: above 1 the new code is slower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The median of the ratios of pairs, or the ratio of medians if there are no pairs.
    pub median: f64,
    /// Where the true ratio begins, with probability `level`.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The probability.
    pub level: f64,
}

/// What a ratio shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval lies below 1 / 1.1.
    Faster,
    /// Neither: no change, or too much noise to see one.
    Unchanged,
    /// The whole interval lies above 1.1.
    Slower(Severity),
}

/// How much slower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// By a factor above 1.1.
    Medium,
    /// By a factor above 4/3: three quarters of the speed.
    High,
    /// By a factor above 2: half of the speed.
    Critical,
}

impl Ratio {
    /// Of the times of pairs, as many of `new` as of `old`, at least one.
    pub(super) fn of_pairs(old: &[f64], new: &[f64], level: f64) -> Self {
        let ratios: Vec<f64> = old.iter().zip(new).map(|(old, new)| new / old).collect();
        Self::bootstrap(level, |draw| median(resampled(&ratios, draw)), median(ratios.clone()))
    }

    /// Of times without pairs, at least one each.
    pub(super) fn of_samples(old: &[f64], new: &[f64], level: f64) -> Self {
        let ratio = median(new.to_vec()) / median(old.to_vec());
        Self::bootstrap(level, |draw| median(resampled(new, draw)) / median(resampled(old, draw)), ratio)
    }

    fn bootstrap(level: f64, ratio: impl Fn(&mut dyn FnMut() -> u64) -> f64, median: f64) -> Self {
        let mut state = SEED;
        let mut draw = || {
            state = state.wrapping_add(STEP);
            mixed(state)
        };
        let mut ratios: Vec<f64> = (0..RESAMPLES).map(|_| ratio(&mut draw)).collect();
        ratios.sort_by(f64::total_cmp);
        let [low, high] = [0.5 - 0.5 * level, 0.5 + 0.5 * level].map(|share| quantile_of_sorted(&ratios, share));
        Self { median, low, high, level }
    }

    /// What it shows.
    pub fn verdict(&self) -> Verdict {
        match self.low {
            low if low > 2.0 => Verdict::Slower(Severity::Critical),
            low if low > 4.0 / 3.0 => Verdict::Slower(Severity::High),
            low if low > LIMIT => Verdict::Slower(Severity::Medium),
            _ if self.high < 1.0 / LIMIT => Verdict::Faster,
            _ => Verdict::Unchanged,
        }
    }
}

/// As many values, drawn with replacement.
fn resampled(values: &[f64], draw: &mut dyn FnMut() -> u64) -> Vec<f64> {
    let count = values.len();
    let place = |word: u64| ((u128::from(word) * count as u128) >> 64) as usize;
    (0..count).map(|_| values[place(draw())]).collect()
}
