//! Benchmarks by the guide's names.

use std::cell::RefCell;

use super::clock;
use meromorph::error::{Error, Result};
use meromorph::internal::host;
use meromorph_benchmark::{Benchmark, Laps, Measurement, WarmUp};

/// Configuration of a benchmark; the default is the guide's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BenchmarkConfig {
    /// Number of samples.
    pub iterations: usize,
    /// Runs before them that are left out.
    pub warmup_iterations: usize,
    /// Whether each run is timed, for the deviation, the percentiles and the interval of the mean. Otherwise there is the time of all runs only.
    pub enable_statistics: bool,
    /// The probability with which the interval of the mean holds.
    pub confidence_interval: f64,
}

impl Default for BenchmarkConfig {
    fn default() -> Self {
        Self { iterations: 100, warmup_iterations: 10, enable_statistics: true, confidence_interval: 0.95 }
    }
}

/// The figures that the guide prints; `measurement` has all.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkResult {
    /// Mean time of a run in milliseconds.
    pub mean_time_ms: f64,
    /// Standard deviation; NaN where runs were not timed each, or if there was one.
    pub std_time_ms: f64,
    /// Runs per second.
    pub throughput_ops_per_sec: f64,
    /// Everything that was measured of each run; `None` where runs were not timed each.
    pub measurement: Option<Measurement>,
}

/// Times code. A run ends with [`PerformanceBenchmark::lap`]. Where that is not called, as in the guide, it ends when a
/// [`GradientTape`](crate::GradientTape) of this thread has computed gradients. Without either, the time between start and end is divided by
/// `iterations`. Of more runs than `iterations`, the first ones are left out, at most `warmup_iterations` of them; laps always count after those.
///
/// ```
/// use meromorph_tenflowers::{BenchmarkConfig, GradientTape, PerformanceBenchmark, TensorOps};
///
/// let config = BenchmarkConfig { iterations: 20, warmup_iterations: 2, enable_statistics: true, ..Default::default() };
/// let mut benchmark = PerformanceBenchmark::new(config);
/// let tape = GradientTape::new();
/// let x = tape.watch(vec![1.0; 1000]);
/// let loss = x.mul(&x)?;
/// benchmark.start_benchmark("backward_pass")?;
/// for _ in 0..config.iterations {
///     let grads = tape.gradient(&[loss], &[x])?;
/// }
/// let result = benchmark.end_benchmark("backward_pass")?;
/// assert!(result.mean_time_ms > 0.0 && result.std_time_ms >= 0.0 && result.throughput_ops_per_sec > 0.0);
/// assert_eq!(result.measurement.unwrap().samples_ms.len(), 20);
/// # Ok::<(), meromorph::Error>(())
/// ```
pub struct PerformanceBenchmark {
    config: BenchmarkConfig,
    running: Option<Running>,
}

struct Running {
    name: String,
    laps: Laps,
    has_laps: bool,
    start_ms: f64,
}

impl PerformanceBenchmark {
    /// Nothing runs yet.
    pub fn new(config: BenchmarkConfig) -> Self {
        Self { config, running: None }
    }

    fn benchmark(&self, name: &str) -> Benchmark {
        let BenchmarkConfig { iterations, warmup_iterations, confidence_interval, .. } = self.config;
        Benchmark::new(name).iterations(iterations).warm_up(WarmUp::Runs(warmup_iterations)).level(confidence_interval)
    }

    /// Times a closure.
    pub fn run<T>(&self, name: &str, run: impl FnMut() -> Result<T>) -> Result<BenchmarkResult> {
        let measured = self.benchmark(name).run(run)?;
        Ok(if self.config.enable_statistics {
            BenchmarkResult::of(measured)
        } else {
            BenchmarkResult::of_mean(measured.mean_ms)
        })
    }

    /// Starts the clock. Errors if another benchmark of this one runs, or if the configuration has no runs.
    pub fn start_benchmark(&mut self, name: &str) -> Result<()> {
        if let Some(Running { name, .. }) = &self.running {
            return Err(Error::usage(format!("start_benchmark: \"{name}\" still runs: expected end_benchmark before")));
        }
        if self.config.iterations == 0 {
            return Err(Error::usage("benchmark: iterations: got 0, expected at least 1"));
        }
        let laps = self.benchmark(name).start();
        clock::start();
        self.running = Some(Running { name: name.to_owned(), laps, has_laps: false, start_ms: host::now_ms() });
        Ok(())
    }

    /// Ends a run and starts the next; its time in milliseconds. Errors if nothing was started.
    pub fn lap(&mut self) -> Result<f64> {
        let running = self.running.as_mut().ok_or_else(|| not_started("lap"))?;
        running.has_laps = true;
        Ok(running.laps.lap())
    }

    /// The figures of the runs after the warm-up. Errors if no benchmark of that name was started, or if no run came after the warm-up.
    pub fn end_benchmark(&mut self, name: &str) -> Result<BenchmarkResult> {
        let running = self.running.as_ref().ok_or_else(|| not_started("end_benchmark"))?;
        if running.name != name {
            let started = &running.name;
            return Err(Error::usage(format!("end_benchmark: got \"{name}\", expected \"{started}\", which runs")));
        }
        let Some(Running { laps, has_laps, start_ms, .. }) = self.running.take() else {
            return Err(not_started("end_benchmark"));
        };
        let (times, all_ms) = (clock::end(), host::now_ms() - start_ms);
        let BenchmarkConfig { iterations, warmup_iterations, enable_statistics, .. } = self.config;
        if has_laps {
            let measured = laps.end()?;
            return Ok(if enable_statistics {
                BenchmarkResult::of(measured)
            } else {
                BenchmarkResult::of_mean(measured.mean_ms)
            });
        }
        let runs = times.len().saturating_sub(1);
        if runs == 0 {
            return Ok(BenchmarkResult::of_mean(all_ms / iterations as f64));
        }
        let skipped = warmup_iterations.min(runs.saturating_sub(iterations));
        let times = times[skipped..].to_vec();
        if !enable_statistics {
            return Ok(BenchmarkResult::of_mean((times[times.len() - 1] - times[0]) / (times.len() - 1) as f64));
        }
        self.replayed(name, times).map(BenchmarkResult::of)
    }

    /// The measurement of runs between noted times.
    fn replayed(&self, name: &str, times: Vec<f64>) -> Result<Measurement> {
        let runs = times.len() - 1;
        let noted = RefCell::new(times.into_iter());
        let clock = move || noted.borrow_mut().next().unwrap_or(f64::NAN);
        let mut laps = self.benchmark(name).warm_up(WarmUp::Runs(0)).clock(clock).start();
        for _ in 0..runs {
            laps.lap();
        }
        laps.end()
    }
}

fn not_started(place: &str) -> Error {
    Error::usage(format!("{place}: no benchmark runs: expected start_benchmark before"))
}

impl BenchmarkResult {
    fn of(measurement: Measurement) -> Self {
        let std_time_ms = measurement.std_ms.unwrap_or(f64::NAN);
        Self { std_time_ms, measurement: Some(measurement.clone()), ..Self::of_mean(measurement.mean_ms) }
    }

    fn of_mean(mean_ms: f64) -> Self {
        Self { mean_time_ms: mean_ms, std_time_ms: f64::NAN, throughput_ops_per_sec: 1e3 / mean_ms, measurement: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noted_times_are_samples() {
        let benchmark = PerformanceBenchmark::new(BenchmarkConfig::default());
        let result = BenchmarkResult::of(benchmark.replayed("runs", vec![5.0, 6.0, 9.0, 11.0]).unwrap());
        // 1, 3 and 2 ms: the mean is 2, the squares of the distances sum to 2 over 2 degrees of freedom.
        assert_eq!((result.mean_time_ms, result.std_time_ms, result.throughput_ops_per_sec), (2.0, 1.0, 500.0));
    }

    #[test]
    fn names_and_order_of_the_calls_matter() {
        let mut benchmark = PerformanceBenchmark::new(BenchmarkConfig::default());
        let says = |result: Result<BenchmarkResult>| result.unwrap_err().to_string();
        assert!(says(benchmark.end_benchmark("a")).contains("start_benchmark before"));
        benchmark.start_benchmark("a").unwrap();
        assert!(benchmark.start_benchmark("b").is_err());
        assert_eq!(says(benchmark.end_benchmark("b")), "end_benchmark: got \"b\", expected \"a\", which runs");
        assert!(benchmark.end_benchmark("a").unwrap().std_time_ms.is_nan(), "no run was timed alone");
    }
}
