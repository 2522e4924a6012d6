//! Sampling of rows and weights of loss terms during training: rows drawn by how badly their poles are predicted, linear ramps, and a
//! weight that follows the coverage.

use crate::error::{Error, Result};
use crate::host::number;
use crate::kernels::random::threefry;
use crate::record;

/// Draws rows more often whose ⊥ is predicted badly: p = σ((τ - |Q|) / β), its running mean p̃ = γ p + (1 - γ) p̃, and the weight
/// max(least, 1 + α |p̃ - 1[⊥]|). All weights start at 1.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveSampler {
    /// The threshold of |Q|.
    pub tau: f64,
    /// The width of the transition at the threshold.
    pub beta: f64,
    /// The weight of the newest p in the running mean.
    pub gamma: f64,
    /// The weight of a wrong p.
    pub alpha: f64,
    /// The smallest weight.
    pub least: f64,
    means: Vec<f64>,
    weights: Vec<f64>,
}

impl AdaptiveSampler {
    /// A sampler of `rows` rows with the settings of ZeroProofML: τ 1e-4, β 0.1, γ 0.1, α 1, least 0.1.
    pub fn new(rows: usize) -> Self {
        let (means, weights) = (vec![0.0; rows], vec![1.0; rows]);
        Self { tau: 1e-4, beta: 0.1, gamma: 0.1, alpha: 1.0, least: 0.1, means, weights }
    }

    /// Updates the weights from the denominators of all rows and from which rows are ⊥. Errors if the lengths are wrong or a denominator is
    /// not finite.
    pub fn update(&mut self, q: &[f32], is_bottom: &[bool]) -> Result<()> {
        let rows = self.weights.len();
        if q.len() != rows || is_bottom.len() != rows {
            let (q, marks) = (q.len(), is_bottom.len());
            return Err(Error::new(format!("sampler: {q} denominators and {marks} marks for {rows} rows")));
        }
        if let Some(at) = q.iter().position(|q| !q.is_finite()) {
            return Err(Error::new(format!("sampler: the denominator of row {at} is {}", number(q[at]))));
        }
        for (at, (q, is_bottom)) in q.iter().zip(is_bottom).enumerate() {
            let p = 1.0 / (1.0 + ((f64::from(q.abs()) - self.tau) / self.beta).exp());
            self.means[at] = self.gamma * p + (1.0 - self.gamma) * self.means[at];
            self.weigh(at, *is_bottom);
        }
        Ok(())
    }

    /// A sampler with these running means, as before a checkpoint.
    pub(crate) fn resumed(means: Vec<f64>, is_bottom: &[bool]) -> Self {
        let mut sampler = Self { means, ..Self::new(is_bottom.len()) };
        is_bottom.iter().enumerate().for_each(|(at, is_bottom)| sampler.weigh(at, *is_bottom));
        sampler
    }

    fn weigh(&mut self, at: usize, is_bottom: bool) {
        let wrong = (self.means[at] - f64::from(u8::from(is_bottom))).abs();
        self.weights[at] = (1.0 + self.alpha * wrong).max(self.least);
    }

    /// The running means p̃.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// As many rows as there are, drawn with replacement by weight: an epoch's order, for [`super::Trainer::shuffle_with`].
    pub fn draw(&self, seed: u64, epoch: usize) -> Vec<u32> {
        let mut sums = Vec::with_capacity(self.weights.len());
        let total = self.weights.iter().fold(0.0, |sum, weight| {
            sums.push(sum + weight);
            sum + weight
        });
        let key = [seed as u32, (seed >> 32) as u32];
        let draw = |index: usize| {
            let words = threefry(key, [index as u32, STREAM ^ epoch as u32]);
            let unit = (f64::from(words[0]) + f64::from(words[1] >> 11) / f64::from(1 << 21)) / 4_294_967_296.0;
            sums.partition_point(|sum| *sum <= unit * total).min(sums.len() - 1) as u32
        };
        (0..self.weights.len()).map(draw).collect()
    }
}

/// Different from the random streams of weights and orders.
const STREAM: u32 = 0x5a3e_0000;

/// A number that changes linearly between two epochs, both included, and is constant outside them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearRamp {
    /// Its value up to the first epoch.
    pub from: f64,
    /// Its value from the last epoch on.
    pub to: f64,
    /// The first and the last epoch.
    pub epochs: [usize; 2],
}

record! { LinearRamp { from, to, epochs } }

impl LinearRamp {
    /// Its value at an epoch.
    pub fn at(&self, epoch: usize) -> f64 {
        let [first, last] = self.epochs;
        if epoch >= last {
            return self.to;
        }
        let done = epoch.saturating_sub(first) as f64 / (last - first.min(last)).max(1) as f64;
        self.from + (self.to - self.from) * done
    }
}

/// A weight that rises while the coverage is below its target and falls while it is above: λ += rate (target - coverage) outside a dead
/// band, twice that far below the target, never below its minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoverageController {
    /// The weight.
    pub lambda: f64,
    /// The target share of decoded values.
    pub target: f64,
    /// The rate of change.
    pub rate: f64,
    /// Differences up to this change nothing.
    pub dead_band: f64,
    /// The smallest weight.
    pub least: f64,
}

impl Default for CoverageController {
    fn default() -> Self {
        Self { lambda: 1.0, target: 0.95, rate: 0.01, dead_band: 0.02, least: 0.1 }
    }
}

impl CoverageController {
    /// Updates the weight from a coverage and returns it.
    pub fn update(&mut self, coverage: f64) -> f64 {
        let missing = self.target - coverage;
        if missing.abs() > self.dead_band {
            let boost = if missing > 5.0 * self.dead_band { 2.0 } else { 1.0 };
            self.lambda = (self.lambda + boost * self.rate * missing).max(self.least);
        }
        self.lambda
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_update_is_the_published_one() {
        let mut sampler = AdaptiveSampler::new(2);
        sampler.update(&[0.05, 0.05], &[true, false]).unwrap();
        assert!((sampler.means()[0] - 0.037_777_570_127_268_07).abs() < 1e-9, "{:?}", sampler.means());
        assert!((sampler.weights()[0] - 1.962_222_429_872_732).abs() < 1e-8, "{:?}", sampler.weights());
        assert!(sampler.weights()[1] < 1.1);
        let error = sampler.update(&[0.1], &[true]).unwrap_err().to_string();
        assert_eq!(error, "sampler: 1 denominators and 1 marks for 2 rows");
        let error = sampler.update(&[0.1, f32::NAN], &[true, true]).unwrap_err().to_string();
        assert_eq!(error, "sampler: the denominator of row 1 is NaN");
    }

    #[test]
    fn rows_are_drawn_by_their_weights() {
        let mut sampler = AdaptiveSampler::new(4000);
        let is_bottom: Vec<bool> = (0..4000).map(|row| row < 1000).collect();
        for _ in 0..50 {
            sampler.update(&[5.0; 4000], &is_bottom).unwrap();
        }
        let drawn = sampler.draw(7, 0);
        let share = drawn.iter().filter(|row| **row < 1000).count() as f64 / 4000.0;
        // A quarter of the rows at twice the weight.
        assert!((share - 0.4).abs() < 0.03, "{share}");
        assert_eq!(drawn, sampler.draw(7, 0));
        assert_ne!(drawn, sampler.draw(7, 1));
    }

    #[test]
    fn ramps_and_controllers() {
        let ramp = LinearRamp { from: 0.0, to: 1.0, epochs: [5, 10] };
        assert_eq!([0, 5, 7, 10, 99].map(|epoch| ramp.at(epoch)), [0.0, 0.0, 0.4, 1.0, 1.0]);
        let mut controller = CoverageController::default();
        assert_eq!(controller.update(0.94), 1.0);
        assert!((controller.update(0.9) - 1.000_5).abs() < 1e-12);
        assert!((controller.update(0.45) - 1.010_5).abs() < 1e-12);
        for _ in 0..4000 {
            controller.update(1.0);
        }
        assert_eq!(controller.lambda, 0.1);
    }
}
