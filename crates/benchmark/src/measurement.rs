//! A measurement: samples and what follows from them.

use meromorph::error::{Error, Result};
use meromorph::internal::json::{Json, Record};
use meromorph::internal::math::{mean, quantile_of_sorted, student_reach};

/// What one run does; 0 where it is not stated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Numbers, rows or calls.
    pub elements: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Operations on floating-point numbers.
    pub flops: u64,
}

meromorph::record!(Work { elements, bytes, flops });

/// The shares in percent of [`Measurement::percentiles_ms`].
pub const PERCENTILES: [u32; 4] = [50, 90, 95, 99];

/// Times of one piece of code, in milliseconds per run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// The name of the benchmark.
    pub name: String,
    /// Samples in the order in which they were taken.
    pub samples_ms: Vec<f64>,
    /// Samples that were left out before them.
    pub warm_up: usize,
    /// Runs per sample; a sample is their mean.
    pub repeat: usize,
    /// What one run does.
    pub work: Work,
    /// The probability with which the interval holds.
    pub level: f64,
    /// The mean.
    pub mean_ms: f64,
    /// Where the true mean lies with probability `level`, by Student's t: mean ± t s / √n. Absent if there is one sample.
    pub interval_ms: Option<[f64; 2]>,
    /// The standard deviation of samples, s² = Σ (x - mean)² / (n - 1). Absent if there is one sample.
    pub std_ms: Option<f64>,
    /// The median of the distances from the median.
    pub mad_ms: f64,
    /// The shortest time.
    pub min_ms: f64,
    /// The longest time.
    pub max_ms: f64,
    /// Percentiles at [`PERCENTILES`], linear between neighbouring samples; the first is the median.
    pub percentiles_ms: [f64; 4],
}

/// The standard deviation of a sample; NaN of fewer than two values.
pub(super) fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

/// The median of at least one value.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile_of_sorted(&values, 0.5)
}

impl Measurement {
    /// The same with other samples and what follows from them. Errors if there are none, or if one is not above 0.
    pub(super) fn with(self, samples_ms: Vec<f64>) -> Result<Self> {
        let name = &self.name;
        if samples_ms.is_empty() {
            return Err(Error::usage(format!(
                "{name}: got no samples after {} of warm-up, expected at least 1",
                self.warm_up
            )));
        }
        let mut sorted = samples_ms.clone();
        sorted.sort_by(f64::total_cmp);
        let percentiles_ms = PERCENTILES.map(|percent| quantile_of_sorted(&sorted, f64::from(percent) / 100.0));
        let [median_ms, ..] = percentiles_ms;
        let (min_ms, max_ms) = (sorted[0], sorted[sorted.len() - 1]);
        let is_valid = min_ms > 0.0 && max_ms.is_finite();
        if !is_valid {
            return Err(Error::new(format!(
                "{name}: times: got {min_ms} ms to {max_ms} ms, expected finite ones above 0; with a larger repeat samples take longer"
            )));
        }
        let (mean_ms, count) = (mean(&sorted), sorted.len());
        let std_ms = Some(deviation(&sorted)).filter(|_| count > 1);
        let interval_ms = std_ms.map(|std_ms| {
            let reach = student_reach(self.level, count - 1) * std_ms / (count as f64).sqrt();
            [mean_ms - reach, mean_ms + reach]
        });
        let mad_ms = median(sorted.iter().map(|sample| (sample - median_ms).abs()).collect());
        Ok(Self { samples_ms, mean_ms, interval_ms, std_ms, mad_ms, min_ms, max_ms, percentiles_ms, ..self })
    }

    /// The median.
    pub fn median_ms(&self) -> f64 {
        self.percentiles_ms[0]
    }

    /// The coefficient of variation: standard deviation over mean.
    pub fn variation(&self) -> Option<f64> {
        self.std_ms.map(|std_ms| std_ms / self.mean_ms)
    }

    /// Elements per second, at the median; absent if the work does not state them.
    pub fn elements_per_s(&self) -> Option<f64> {
        self.per_s(self.work.elements)
    }

    /// Bytes per second in units of 10^9.
    pub fn gb_per_s(&self) -> Option<f64> {
        self.per_s(self.work.bytes).map(|rate| rate / 1e9)
    }

    /// Floating-point operations per second in units of 10^9.
    pub fn gflop_per_s(&self) -> Option<f64> {
        self.per_s(self.work.flops).map(|rate| rate / 1e9)
    }

    fn per_s(&self, amount: u64) -> Option<f64> {
        (amount > 0).then(|| amount as f64 / self.median_ms() * 1e3)
    }

    /// Its figures in the order of reports: names and values.
    pub(super) fn figures(&self) -> Vec<(&'static str, Option<f64>)> {
        let [low, high] = self.interval_ms.map_or([None; 2], |interval| interval.map(Some));
        let [median, p90, p95, p99] = self.percentiles_ms.map(Some);
        vec![
            ("mean_ms", Some(self.mean_ms)),
            ("low_ms", low),
            ("high_ms", high),
            ("std_ms", self.std_ms),
            ("median_ms", median),
            ("mad_ms", Some(self.mad_ms)),
            ("min_ms", Some(self.min_ms)),
            ("max_ms", Some(self.max_ms)),
            ("p90_ms", p90),
            ("p95_ms", p95),
            ("p99_ms", p99),
            ("elements_per_s", self.elements_per_s()),
            ("gb_per_s", self.gb_per_s()),
            ("gflop_per_s", self.gflop_per_s()),
        ]
    }
}

/// Its JSON has all figures, but only samples and settings are read: the rest follows from them.
impl Record for Measurement {
    fn blank() -> Self {
        Self::default()
    }

    fn to_json(&self) -> Json {
        let settings = [
            ("name", self.name.to_json()),
            ("warm_up", self.warm_up.to_json()),
            ("repeat", self.repeat.to_json()),
            ("level", self.level.to_json()),
            ("work", self.work.to_json()),
        ];
        let figures = self.figures().into_iter().map(|(name, figure)| (name, figure.to_json()));
        let samples = [("samples_ms", self.samples_ms.to_json())];
        let fields = settings.into_iter().chain(figures).chain(samples);
        Json::Fields(fields.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        let mut samples_ms = Vec::<f64>::new();
        meromorph::internal::json::read_fields(
            json,
            &mut [
                ("name", &mut self.name, false),
                ("warm_up", &mut self.warm_up, false),
                ("repeat", &mut self.repeat, false),
                ("level", &mut self.level, false),
                ("work", &mut self.work, false),
                ("samples_ms", &mut samples_ms, false),
            ],
        )?;
        *self = std::mem::take(self).with(samples_ms)?;
        Ok(())
    }
}
