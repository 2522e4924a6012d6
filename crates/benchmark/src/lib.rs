//! Times of code, with their spread.
//!
//! A [`Benchmark`] runs a closure, or takes laps, and makes a [`Measurement`]: the mean with its interval by Student's t, the median, deviations,
//! percentiles and rates. [`Benchmark::compare`] times two closures in turns, so that what slows the machine down slows both. A [`Report`] of
//! measurements is written as JSON, CSV and Markdown, and compared with a saved one ([`Report::against`]).
//!
//! ```
//! use meromorph_benchmark::{Benchmark, Report, Work};
//!
//! let values = vec![1.0_f32; 10_000];
//! let benchmark = Benchmark::new("sum").work(Work { elements: 10_000, bytes: 40_000, ..Work::default() });
//! let sum = benchmark.run(|| Ok(values.iter().sum::<f32>()))?;
//! assert_eq!(sum.samples_ms.len(), 100);
//!
//! // The same with laps:
//! let mut laps = Benchmark::new("sum in laps").iterations(20).start();
//! for _ in 0..30 {
//!     std::hint::black_box(values.iter().sum::<f32>());
//!     laps.lap();
//! }
//! let report = Report::of(vec![sum, laps.end()?]);
//! assert_eq!(Report::parse(&report.to_json())?, report);
//! # Ok::<(), meromorph::Error>(())
//! ```
//!
//! A closure that leaves work to a device has to wait for its result, or the time is that of asking for it.

mod laps;
mod measurement;
mod ratio;
mod report;

use std::hint::black_box;
use std::rc::Rc;

pub use laps::{Laps, WarmUp};
pub use measurement::{Measurement, PERCENTILES, Work};
pub use ratio::{Ratio, Severity, Verdict};
pub use report::{Change, Report};

use meromorph::error::{Error, Result};
use meromorph::internal::host;

/// How code is timed. A sample is the time of one run, in milliseconds.
#[derive(Clone)]
pub struct Benchmark {
    name: String,
    iterations: usize,
    repeat: usize,
    warm_up: WarmUp,
    level: f64,
    work: Work,
    clock: Rc<dyn Fn() -> f64>,
    follow: Rc<dyn Fn(usize)>,
}

impl Benchmark {
    /// 100 samples after 10 runs of warm-up, intervals that hold with a probability of 0.95.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            iterations: 100,
            repeat: 1,
            warm_up: WarmUp::Runs(10),
            level: 0.95,
            work: Work::default(),
            clock: Rc::new(host::now_ms),
            follow: Rc::new(|_| {}),
        }
    }

    /// The number of samples, at least 1.
    pub fn iterations(self, iterations: usize) -> Self {
        Self { iterations, ..self }
    }

    /// Runs per sample, at least 1, for code that is shorter than the clock's resolution; a sample is then their mean. A lap has so many runs too.
    pub fn repeat(self, repeat: usize) -> Self {
        Self { repeat, ..self }
    }

    /// What is left out at the start.
    pub fn warm_up(self, warm_up: WarmUp) -> Self {
        Self { warm_up, ..self }
    }

    /// The probability with which intervals hold, between 0 and 1.
    pub fn level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// What one run does, for rates.
    pub fn work(self, work: Work) -> Self {
        Self { work, ..self }
    }

    /// Another clock, in milliseconds.
    pub fn clock(self, clock: impl Fn() -> f64 + 'static) -> Self {
        Self { clock: Rc::new(clock), ..self }
    }

    /// A function that is called with the number of samples after each one of [`Benchmark::run`], outside of the time taken.
    pub fn follow(self, follow: impl Fn(usize) + 'static) -> Self {
        Self { follow: Rc::new(follow), ..self }
    }

    /// Times `run`. Errors if it does, if an option is out of range, or if the clock does not advance during a run.
    pub fn run<T>(&self, mut run: impl FnMut() -> Result<T>) -> Result<Measurement> {
        self.check()?;
        let mut laps = self.start();
        while laps.samples() < self.iterations {
            let sample = self.sample(&mut run)?;
            laps.push(sample);
            (self.follow)(laps.samples());
        }
        laps.end()
    }

    /// Starts to time laps. The first ones are warm-up, and the number of laps is free: `iterations` does not matter.
    pub fn start(&self) -> Laps {
        Laps::new(self.clone())
    }

    /// Times two closures in turns, a b, b a, a b and so on, and the ratio of the times of b over those of a in each pair.
    pub fn compare<A, B>(
        &self,
        mut a: impl FnMut() -> Result<A>,
        mut b: impl FnMut() -> Result<B>,
    ) -> Result<([Measurement; 2], Ratio)> {
        self.check()?;
        let mut laps = ["a", "b"].map(|side| Self { name: format!("{} {side}", self.name), ..self.clone() }.start());
        for turn in 0.. {
            if laps[0].samples() == self.iterations {
                break;
            }
            // Both or neither are warm, so that samples are pairs.
            let is_warm = laps.iter().all(Laps::is_warm);
            for side in if turn % 2 == 0 { [0, 1] } else { [1, 0] } {
                let sample = if side == 0 { self.sample(&mut a)? } else { self.sample(&mut b)? };
                laps[side].push_as(sample, is_warm);
            }
        }
        let [a, b] = laps.map(Laps::end);
        let (a, b) = (a?, b?);
        let ratio = Ratio::of_pairs(&a.samples_ms, &b.samples_ms, self.level);
        Ok(([a, b], ratio))
    }

    /// The mean time of `repeat` runs.
    fn sample<T>(&self, run: &mut impl FnMut() -> Result<T>) -> Result<f64> {
        let start = (self.clock)();
        for _ in 0..self.repeat {
            black_box(run()?);
        }
        Ok(((self.clock)() - start) / self.repeat as f64)
    }

    fn check(&self) -> Result<()> {
        let wrong = |what: &str, got: String, expected: &str| {
            Err(Error::usage(format!("benchmark: {}: {what}: got {got}, expected {expected}", self.name)))
        };
        match self {
            Self { iterations: 0, .. } => wrong("iterations", "0".into(), "at least 1"),
            Self { repeat: 0, .. } => wrong("repeat", "0".into(), "at least 1"),
            Self { level, .. } if !(*level > 0.0 && *level < 1.0) => {
                wrong("level", level.to_string(), "between 0 and 1")
            }
            _ => Ok(()),
        }
    }
}
