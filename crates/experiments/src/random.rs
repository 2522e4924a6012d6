//! Random numbers for experiments, in f64: Threefry-2x32-20 at counters. A stream is (seed, purpose): its k-th word pair is
//! threefry(key = seed, counter = (k, 2^31 + purpose)), so the draws of one purpose never change those of another, and the
//! counters are disjoint from those of the initial weights.

use meromorph::internal::kernels::random::threefry;

/// The purpose of a stream. Domains offset the seeds of their data, so one seed can serve all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The rows of a data set.
    Data = 1,
    /// Initial weights of a head, which the model's initialisers do not cover.
    Weights = 2,
    /// The order of the training rows.
    Order = 3,
    /// Resampling of results.
    Bootstrap = 4,
}

/// A stream of random numbers; a clone continues from the same position.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    stream: u32,
    place: u32,
}

impl Stream {
    /// The stream of a seed for a purpose, from its start.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32], stream: 0x8000_0000 | purpose as u32, place: 0 }
    }

    /// 64 random bits: one place of the stream.
    pub fn bits(&mut self) -> u64 {
        let [low, high] = threefry(self.key, [self.place, self.stream]);
        self.place = self.place.wrapping_add(1);
        u64::from(high) << 32 | u64::from(low)
    }

    /// Uniform in [0, 1) in steps of 2^-53: one position.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in [low, high): one position.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform in the logarithm, between two numbers above 0: one position.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + self.uniform() * (high / low).ln()).exp()
    }

    /// Mean 0, variance 1 (Box and Muller 1958): √(-2 ln(1 - u)) cos(2π v), two positions.
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// An index with probability proportional to its weight: one position.
    pub fn choice(&mut self, weights: &[f64]) -> usize {
        let mut left = self.uniform() * weights.iter().sum::<f64>();
        for (at, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return at;
            }
        }
        weights.len() - 1
    }

    /// A whole number below `count`: one position. The bias is below count / 2^64.
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// 0..count in a random order (Fisher and Yates): count - 1 positions.
    pub fn permutation(&mut self, count: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count as u32).collect();
        for at in (1..count).rev() {
            let pick = self.below(at + 1);
            order.swap(at, pick);
        }
        order
    }
}
