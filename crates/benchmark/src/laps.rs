//! Samples as they come: warm-up first, then those that count.

use super::Benchmark;
use super::measurement::{Measurement, deviation};
use meromorph::error::Result;
use meromorph::internal::math::mean;

/// Which samples are left out at the start, while caches fill and clocks rise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUp {
    /// The first so many.
    Runs(usize),
    /// Those until the coefficient of variation (standard deviation over mean) of the last five is small enough, or until there are too many.
    Stable {
        /// The largest coefficient of variation, such as 0.1.
        variation: f64,
        /// The largest number of samples left out.
        at_most: usize,
    },
}

/// Samples over which the coefficient of variation is taken.
const WINDOW: usize = 5;

impl WarmUp {
    fn is_over(self, left_out: &[f64]) -> bool {
        match self {
            Self::Runs(count) => left_out.len() >= count,
            Self::Stable { at_most, .. } if left_out.len() >= at_most => true,
            Self::Stable { variation, .. } => {
                let last = left_out.len().checked_sub(WINDOW).map(|start| &left_out[start..]);
                last.is_some_and(|last| deviation(last) <= variation * mean(last))
            }
        }
    }
}

/// A running clock whose laps become samples.
pub struct Laps {
    benchmark: Benchmark,
    left_out: Vec<f64>,
    samples: Vec<f64>,
    last_ms: f64,
}

impl Laps {
    pub(super) fn new(benchmark: Benchmark) -> Self {
        let last_ms = (benchmark.clock)();
        Self { benchmark, left_out: Vec::new(), samples: Vec::new(), last_ms }
    }

    /// Ends a lap, and gives its time in milliseconds.
    pub fn lap(&mut self) -> f64 {
        let now_ms = (self.benchmark.clock)();
        let lap_ms = now_ms - self.last_ms;
        self.last_ms = now_ms;
        self.push(lap_ms / self.benchmark.repeat as f64);
        lap_ms
    }

    /// The samples after the warm-up. Errors if there are none.
    pub fn end(self) -> Result<Measurement> {
        self.benchmark.check()?;
        let Benchmark { name, repeat, level, work, .. } = self.benchmark;
        Measurement { name, repeat, level, work, warm_up: self.left_out.len(), ..Measurement::default() }
            .with(self.samples)
            .map_err(|error| error.within("benchmark"))
    }

    /// The number of samples so far, without those of the warm-up.
    pub fn samples(&self) -> usize {
        self.samples.len()
    }

    /// Whether the warm-up is over.
    pub fn is_warm(&self) -> bool {
        self.benchmark.warm_up.is_over(&self.left_out)
    }

    pub(super) fn push(&mut self, sample: f64) {
        self.push_as(sample, self.is_warm());
    }

    pub(super) fn push_as(&mut self, sample: f64, is_warm: bool) {
        if is_warm { &mut self.samples } else { &mut self.left_out }.push(sample);
    }
}
