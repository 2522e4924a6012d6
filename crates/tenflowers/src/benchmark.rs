//! Benchmarks by the guide's names.

use meromorph::error::{Error, Result};
use meromorph_benchmark::{Benchmark, Laps, Measurement, WarmUp};

/// Configuration of a benchmark; the default is the guide's.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkConfig {
    /// Number of samples.
    pub iterations: usize,
    /// Runs before them.
    pub warmup_iterations: usize,
    /// The probability with which the interval of the mean holds.
    pub confidence_interval: f64,
}

impl Default for BenchmarkConfig {
    fn default() -> Self {
        Self { iterations: 100, warmup_iterations: 10, confidence_interval: 0.95 }
    }
}

/// The figures that the guide prints; `measurement` has all.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkResult {
    /// Mean time of a run in milliseconds.
    pub mean_time_ms: f64,
    /// Standard deviation.
    pub std_time_ms: f64,
    /// Runs per second.
    pub throughput_ops_per_sec: f64,
    /// Everything that was measured.
    pub measurement: Measurement,
}

/// Times code.
///
/// ```
/// use meromorph_tenflowers::{BenchmarkConfig, PerformanceBenchmark};
///
/// let mut benchmark = PerformanceBenchmark::new(BenchmarkConfig { iterations: 20, ..BenchmarkConfig::default() });
/// benchmark.start_benchmark("forward_pass");
/// for _ in 0..30 {
///     std::hint::black_box((0..10_000).map(|i| i as f32).sum::<f32>());
///     benchmark.lap()?;
/// }
/// let result = benchmark.end_benchmark()?;
/// assert!(result.mean_time_ms > 0.0 && result.std_time_ms >= 0.0 && result.throughput_ops_per_sec > 0.0);
/// # Ok::<(), meromorph::Error>(())
/// ```
pub struct PerformanceBenchmark {
    config: BenchmarkConfig,
    laps: Option<Laps>,
}

impl PerformanceBenchmark {
    /// Nothing runs yet.
    pub fn new(config: BenchmarkConfig) -> Self {
        Self { config, laps: None }
    }

    fn benchmark(&self, name: &str) -> Benchmark {
        let BenchmarkConfig { iterations, warmup_iterations, confidence_interval } = self.config;
        Benchmark::new(name).iterations(iterations).warm_up(WarmUp::Runs(warmup_iterations)).level(confidence_interval)
    }

    /// Times a closure.
    pub fn run<T>(&self, name: &str, run: impl FnMut() -> Result<T>) -> Result<BenchmarkResult> {
        self.benchmark(name).run(run).map(BenchmarkResult::of)
    }

    /// Starts the clock.
    pub fn start_benchmark(&mut self, name: &str) {
        self.laps = Some(self.benchmark(name).start());
    }

    /// Ends a run and starts the next; its time in milliseconds. Errors if nothing was started.
    pub fn lap(&mut self) -> Result<f64> {
        self.laps.as_mut().map(Laps::lap).ok_or_else(not_started)
    }

    /// The figures of the runs after the warm-up. Errors if nothing was started, or if there were none.
    pub fn end_benchmark(&mut self) -> Result<BenchmarkResult> {
        self.laps.take().ok_or_else(not_started)?.end().map(BenchmarkResult::of)
    }
}

fn not_started() -> Error {
    Error::usage("benchmark: no benchmark runs: expected start_benchmark before")
}

impl BenchmarkResult {
    fn of(measurement: Measurement) -> Self {
        let (mean, deviation) = (measurement.mean_ms, measurement.std_ms.unwrap_or_default());
        Self { mean_time_ms: mean, std_time_ms: deviation, throughput_ops_per_sec: 1e3 / mean, measurement }
    }
}
