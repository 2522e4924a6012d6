//! `mero bench MODEL`: how fast a trained model predicts rows that are encoded, by the size of a call, and for how many rows it gives a number. The same
//! network with a plain head is measured by turns with a head with poles.

mod rows;

use std::path::{Path, PathBuf};

use pollster::block_on;
use serde_json::{Value, json};

use crate::options::hardware::Hardware;
use crate::options::reading::{New, Reading, check_header, read_for};
use crate::saved::load;
use crate::show::labels::place;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::files::Table;
use meromorph::internal::host;
use meromorph::loss::Loss;
use meromorph::model::{Model, Network, PredictOptions, Prediction, Ready};
use meromorph::nn::{Layer, Linear, Spec};
use meromorph::report::{Table as TextTable, bytes, count, counted, facts, figure, scaled_count};
use meromorph::table::Unknown;
use meromorph::{Device, Result};
use meromorph_benchmark::{Benchmark, Measurement, WarmUp};
use rows::drawn;

#[derive(clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// Model file, or a folder written by mero export --bundle; the other forms of this command need none
    pub(super) model: Option<PathBuf>,
    /// Table of rows to predict; by default, rows are drawn from what training saw of each column
    file: Option<PathBuf>,
    /// Rows of a call
    #[arg(long, value_delimiter = ',', default_values_t = [1, 32, 256, 4096], value_name = "N,…")]
    batch: Vec<usize>,
    /// Calls of each size, after a tenth as many that are not counted; the 99th percentile needs some hundreds
    #[arg(long, default_value_t = 300, value_name = "N")]
    calls: usize,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    hardware: Hardware,
}

/// Rows that are drawn without a table.
const DRAWN: usize = 4096;
/// Calls and rows of a call, at most.
const MOST: usize = 1_000_000;
/// Below this share of numbers, a line names the command that says what to change.
const LOW_COVERAGE: f64 = 0.9;

pub(super) fn run(args: &Args, path: &Path) -> Answer {
    for (name, sizes) in [("batch", &args.batch[..]), ("calls", &[args.calls])] {
        if let Some(got) = sizes.iter().find(|size| !(1..=MOST).contains(*size)) {
            return Err(Failure::usage(format!("{name}: got {got}, expected a whole number from 1 to {MOST}")));
        }
    }
    args.hardware.check()?;
    let model = load(path)?;
    let preparation = model.preparation()?;
    let table = match &args.file {
        None => drawn(preparation, DRAWN)?,
        Some(file) => {
            let New { table, format, .. } = read_for(&model, file, &args.reading, "bench")?;
            check_header(&table, format.header, preparation.names())?;
            table
        }
    };
    if table.rows() == 0 {
        return Err(Failure::usage(format!("{}: got no rows, expected at least 1", table.source())));
    }
    let device = args.hardware.open()?;
    let found = Found::of(&model, &device, &table, args)?;
    if args.json {
        say_json(&found.json(path, &device));
    } else {
        say(&found.text(path, &device));
    }
    Ok(())
}

/// What was measured.
struct Found {
    source: String,
    coverage: Coverage,
    calls: Vec<Calls>,
    /// Of the process and of the device.
    peak_bytes: [u64; 2],
}

/// How many rows have a number or a class, no value (⊥), a number near a pole, or a cell that cannot be used.
#[derive(Debug, Default, PartialEq)]
struct Coverage {
    rows: usize,
    numbers: usize,
    bottoms: usize,
    gaps: usize,
    unusable: usize,
}

/// Calls of one size.
struct Calls {
    rows: usize,
    time: Measurement,
    /// The same network with a plain head, in turns with it.
    plain: Option<Measurement>,
}

impl Found {
    fn of(model: &Model, device: &Device, table: &Table, args: &Args) -> Result<Self> {
        let ready = model.ready(device)?;
        let options = PredictOptions { unknown: Unknown::Other, ..PredictOptions::default() };
        let coverage = Coverage::of(&block_on(ready.predict(table, options))?.predictions);
        let x = model.preparation()?.encode_noting(table, &table.every_row(), Unknown::Other)?.x;
        let plain = plain_twin(model)?.map(|twin| twin.ready(device)).transpose()?;
        let progress = Progress::of(args.batch.len() as u64, "measuring");
        let mut calls = Vec::new();
        for &rows in &args.batch {
            let x = repeated(&x, rows * model.spec.inputs);
            calls.push(Calls::of((&ready, plain.as_ref()), &x, rows, args.calls)?);
            progress.step();
        }
        progress.finish();
        let peak_bytes = [host::peak_bytes(), device.counters().peak_bytes];
        Ok(Self { source: table.source().to_owned(), coverage, calls, peak_bytes })
    }

    fn json(&self, path: &Path, device: &Device) -> Value {
        let (info, Coverage { rows, numbers, bottoms, gaps, unusable }) = (device.info(), &self.coverage);
        let calls: Vec<Value> = self.calls.iter().map(Calls::json).collect();
        json!({
            "event": "report", "bench": "model", "model": path, "data": self.source, "rows": rows,
            "coverage": self.coverage.share(), "numbers": numbers, "bottoms": bottoms, "gaps": gaps, "unusable": unusable,
            "calls": calls, "peak_bytes": self.peak_bytes[0], "device_peak_bytes": self.peak_bytes[1],
            "device": info.device, "name": info.name, "threads": info.threads,
        })
    }

    fn text(&self, path: &Path, device: &Device) -> String {
        let (info, coverage) = (device.info(), &self.coverage);
        let [process, held] = self.peak_bytes.map(bytes);
        let mut parts = vec![facts(&[
            ("model", path.display().to_string()),
            ("data", format!("{}, {}", counted(coverage.rows, "row"), self.source)),
            ("coverage", coverage.text()),
            ("memory", format!("{held} on the device at most, {process} of the process")),
            ("device", place(info.device, &info.name, info.threads)),
        ])];
        let has_plain = self.calls.iter().any(|calls| calls.plain.is_some());
        let header = ["rows of a call", "p50", "p95", "p99", "rows/s", "plain head", "head with poles costs"];
        let header = &header[..if has_plain { 7 } else { 5 }];
        let table = TextTable::new(header.iter().copied()).rows(self.calls.iter().map(|calls| {
            let mut row = calls.row();
            row.truncate(header.len());
            row
        }));
        parts.push(table.text());
        if coverage.share() < LOW_COVERAGE && coverage.bottoms > 0 {
            parts.push(format!(
                "Low coverage: mero doctor {} TABLE, with the target column, says what to change",
                path.display()
            ));
        }
        parts.join("\n\n")
    }
}

impl Coverage {
    fn of(predictions: &[Prediction]) -> Self {
        let mut coverage = Self { rows: predictions.len(), ..Self::default() };
        for prediction in predictions {
            match prediction {
                Prediction::None => coverage.unusable += 1,
                Prediction::Decoded { value: None, .. } => coverage.bottoms += 1,
                Prediction::Decoded { is_gap, .. } => {
                    coverage.numbers += 1;
                    coverage.gaps += usize::from(*is_gap);
                }
                Prediction::Number(_) | Prediction::Normal { .. } | Prediction::Class { .. } => coverage.numbers += 1,
            }
        }
        coverage
    }

    fn share(&self) -> f64 {
        self.numbers as f64 / self.rows.max(1) as f64
    }

    fn text(&self) -> String {
        let mut text = format!("{:.1} % have a value", 100.0 * self.share());
        for (rows, what) in
            [(self.bottoms, "have none (⊥)"), (self.gaps, "are near a pole"), (self.unusable, "cannot be used")]
        {
            if rows > 0 {
                text += &format!(", {} {what}", count(rows as u64));
            }
        }
        text
    }
}

impl Calls {
    /// Times calls, in turns with those of the plain network if there is one.
    fn of((ready, plain): (&Ready, Option<&Ready>), x: &[f32], rows: usize, calls: usize) -> Result<Self> {
        let benchmark = Benchmark::new(format!("calls of {rows} rows"));
        let benchmark = benchmark.iterations(calls).warm_up(WarmUp::Runs(calls.div_ceil(10)));
        let Some(plain) = plain else {
            let time = benchmark.run(|| block_on(ready.outputs(x)))?;
            return Ok(Self { rows, time, plain: None });
        };
        let ([plain, time], _) = benchmark.compare(|| block_on(plain.outputs(x)), || block_on(ready.decoded(x)))?;
        Ok(Self { rows, time, plain: Some(plain) })
    }

    /// Median time of a head with poles over that of a plain one.
    fn ratio(&self) -> Option<f64> {
        self.plain.as_ref().map(|plain| self.time.median_ms() / plain.median_ms())
    }

    fn rows_per_s(&self) -> f64 {
        self.rows as f64 / self.time.median_ms() * 1e3
    }

    fn row(&self) -> Vec<String> {
        let [p50, _, p95, p99] = self.time.percentiles_ms.map(time);
        let plain = self.plain.as_ref().map_or_else(String::new, |plain| time(plain.median_ms()));
        let ratio = self.ratio().map_or_else(String::new, |ratio| format!("{:+.0} %", 100.0 * (ratio - 1.0)));
        vec![count(self.rows as u64), p50, p95, p99, scaled_count(self.rows_per_s()), plain, ratio]
    }

    fn json(&self) -> Value {
        let [p50, _, p95, p99] = self.time.percentiles_ms.map(|ms| 1e3 * ms);
        json!({
            "rows": self.rows, "calls": self.time.samples_ms.len(), "p50_us": p50, "p95_us": p95, "p99_us": p99,
            "rows_per_s": self.rows_per_s(), "plain_head_p50_us": self.plain.as_ref().map(|plain| 1e3 * plain.median_ms()),
            "head_ratio": self.ratio(),
        })
    }
}

/// The same network whose head with poles is a linear layer with one number per value, if it has such a head. Its weights are random: they do not
/// change its time.
fn plain_twin(model: &Model) -> Result<Option<Model>> {
    let Some(head) = model.spec.head() else { return Ok(None) };
    // The layer before the head makes its numerators and denominators; that of the twin makes the values.
    let body = match model.spec.body() {
        [before @ .., Layer::Linear(_)] => before,
        whole => whole,
    };
    let layers = body.iter().cloned().chain([Layer::Linear(Linear::new(head.outputs))]).collect();
    let spec = Spec { layers, ..model.spec.clone() };
    let parameters = Network::from(spec.clone()).initialise(0)?.repeat(model.members());
    Ok(Some(Model::new(spec, Loss::mse(), parameters, None)))
}

/// As many values, from the first again where they end.
fn repeated(values: &[f32], count: usize) -> Vec<f32> {
    values.iter().copied().cycle().take(count).collect()
}

/// `41.3 µs`, `2.10 ms`.
fn time(ms: f64) -> String {
    if ms < 1.0 { format!("{} µs", figure(1e3 * ms)) } else { format!("{} ms", figure(ms)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meromorph::nn::{Activation, Head};

    #[test]
    fn the_twin_has_one_linear_layer_where_the_model_has_one_and_a_head() {
        let spec = Spec::projective(3, &[8], Head::rational(1), Activation::silu());
        let parameters = Network::from(spec.clone()).initialise(0).unwrap();
        let twin = plain_twin(&Model::new(spec.clone(), Loss::mse(), parameters, None)).unwrap().unwrap();
        assert_eq!(twin.spec.layers.len(), spec.layers.len() - 1);
        assert_eq!(twin.spec.outputs().unwrap(), 1);
    }

    #[test]
    fn coverage_counts_each_kind_of_row_once() {
        let decoded = |value, is_gap| Prediction::Decoded { value, is_gap, is_fault: false };
        let rows = [
            Prediction::Number(1.0),
            decoded(Some(2.0), false),
            decoded(Some(3.0), true),
            decoded(None, false),
            Prediction::None,
        ];
        let coverage = Coverage::of(&rows);
        assert_eq!(coverage, Coverage { rows: 5, numbers: 3, bottoms: 1, gaps: 1, unusable: 1 });
        assert_eq!(coverage.text(), "60.0 % have a value, 1 have none (⊥), 1 are near a pole, 1 cannot be used");
        assert_eq!(repeated(&[1.0, 2.0], 5), [1.0, 2.0, 1.0, 2.0, 1.0]);
    }
}
