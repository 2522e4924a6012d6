//! `mero bench seed`: the benchmark table of an interpolator's guide to performance: training on 1,000, 5,000 and 10,000 rows of a noisy linear function of 5
//! inputs, with the guide's network and splits. Its noise has 0.01 of a variance of 7.24, so that no model has an R² above 0.9986 on new rows.

mod rows;

use std::path::PathBuf;

use pollster::block_on;
use serde_json::{Value, json};

use crate::options::contents::SEED_BENCHMARK;
use crate::options::hardware::Hardware;
use crate::options::outputs::{Force, check_outs, write_out};
use crate::show::labels::place;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::internal::host;
use meromorph::loss::Loss;
use meromorph::model::Model;
use meromorph::nn::{Activation, Spec};
use meromorph::report::{Table, bytes, count, duration, facts};
use meromorph::train::{Flow, Trainer, TrainerConfig};
use meromorph::{Device, Result};
use rows::{Prepared, Rows, linear};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Sizes of the data; 70 % are for training, 15 % for validation, 15 % for the test
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 5_000, 10_000], value_name = "N,…")]
    rows: Vec<usize>,
    /// Epochs at most; training stops once the validation loss has not fallen for 15
    #[arg(long, default_value_t = 200, value_name = "N")]
    epochs: usize,
    /// Seed of the initial weights and of the order of rows
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Write the records to this file, as a JSON list with the guide's names
    #[arg(short, long, value_name = "JSON")]
    out: Option<PathBuf>,
    /// Print only JSON, one object for each size
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    hardware: Hardware,
}

/// Rows at least: fewer leave a part empty. And at most: their data have to fit in memory.
const FEWEST: usize = 20;
const MOST: usize = 10_000_000;
/// Bytes of a mebibyte, which the guide counts memory in.
const MIB: f64 = 1024.0 * 1024.0;

/// A row of the table.
struct Record {
    samples: usize,
    train_s: f64,
    /// How much the peak of the process rose.
    memory_bytes: u64,
    /// The most that the device held.
    device_bytes: u64,
    epochs: usize,
    /// Mean squared errors in scaled units and R², each of validation rows and of test rows; the last R² is of fresh rows.
    val: [f64; 2],
    test: [f64; 2],
    fresh_r2: f64,
}

pub(super) fn run(args: &Args) -> Answer {
    if let Some(got) = args.rows.iter().find(|rows| !(FEWEST..=MOST).contains(*rows)) {
        return Err(Failure::usage(format!("rows: got {got}, expected whole numbers from {FEWEST} to {MOST}")));
    }
    if args.epochs == 0 {
        return Err(Failure::usage("epochs: got 0, expected at least 1"));
    }
    check_outs(&[("records", args.out.as_deref(), Some(&SEED_BENCHMARK))], &[], args.force.force)?;
    args.hardware.check()?;
    let progress = Progress::of(args.rows.len() as u64, "training");
    let (mut records, mut shown) = (Vec::new(), String::new());
    for &rows in &args.rows {
        // A device of its own, so that its peak is that of this size.
        let device = args.hardware.open()?;
        records.push(Record::of(&device, rows, args)?);
        let info = device.info();
        shown = place(info.device, &info.name, info.threads);
        progress.step();
    }
    progress.finish();
    if let Some(out) = &args.out {
        let all = Value::Array(records.iter().map(Record::json).collect());
        let text = serde_json::to_string_pretty(&all).map_err(|error| Failure::usage(error.to_string()))?;
        write_out(out, &SEED_BENCHMARK, format!("{text}\n").as_bytes(), args.force.force)?;
    }
    if args.json {
        for record in &records {
            let mut line = record.json();
            line["event"] = "report".into();
            line["bench"] = "seed".into();
            line["epochs"] = record.epochs.into();
            line["test_split_r2"] = record.test[1].into();
            line["device_peak_bytes"] = record.device_bytes.into();
            say_json(&line);
        }
        return Ok(());
    }
    say(&format!("{}\n", table(&records).text()));
    say(&facts(&[
        ("network", "5-64-64-64-1, silu, AdamW, cosine from 0.001, batches of 256".to_owned()),
        ("errors", "of the target over its standard deviation; R² of the test is of new rows, 15 % as many".to_owned()),
        ("memory", "by how much the peak of the process rose, or what the device held if that is more".to_owned()),
        ("device", shown),
    ]));
    Ok(())
}

fn table(records: &[Record]) -> Table {
    let header = ["rows", "train time", "epochs", "memory", "device", "val MSE", "val R²", "test MSE", "test R²"];
    Table::new(header).rows(records.iter().map(|record| {
        [
            count(record.samples as u64),
            duration(record.train_s),
            count(record.epochs as u64),
            bytes(record.memory_bytes),
            bytes(record.device_bytes),
            format!("{:.5}", record.val[0]),
            format!("{:.4}", record.val[1]),
            format!("{:.5}", record.test[0]),
            format!("{:.4}", record.fresh_r2),
        ]
    }))
}

impl Record {
    /// Trains on as many rows. The time is of all that the guide's training does: scaling, splitting, training, judging.
    fn of(device: &Device, samples: usize, args: &Args) -> Result<Self> {
        let (rows, fresh) = (linear(samples, Rows::TRAINING)?, linear(samples * 15 / 100, Rows::FRESH)?);
        let (before, start) = (host::peak_bytes(), host::now_ms());
        let Prepared { data, scales } = Prepared::of(&rows);
        let spec = Spec::mlp(5, &[64; 3], 1, Activation::silu());
        let config = TrainerConfig { epochs: args.epochs, seed: args.seed, ..TrainerConfig::default() };
        let mut trainer = Trainer::new(device, spec.clone(), config, data)?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let (validation, test) = block_on(trainer.metrics(1.0))?;
        let train_s = (host::now_ms() - start) / 1e3;
        // What was free in the process before hides small rises.
        let risen = host::peak_bytes().saturating_sub(before);
        let memory_bytes = risen.max(device.counters().peak_bytes);
        let model = Model::new(spec, Loss::mse(), block_on(trainer.parameters())?, None);
        let scaled = scales.scaled(&fresh);
        let outputs = block_on(model.outputs(device, &scaled.x))?;
        let both = |mse: Option<f64>, r2: Option<f64>| [mse.unwrap_or(f64::NAN), r2.unwrap_or(f64::NAN)];
        Ok(Self {
            samples,
            train_s,
            memory_bytes,
            device_bytes: device.counters().peak_bytes,
            epochs: trainer.history().len(),
            val: both(validation.mse, validation.r2),
            test: both(test.mse, test.r2),
            fresh_r2: r2(&outputs, &scaled.y),
        })
    }

    /// With the names of the guide.
    fn json(&self) -> Value {
        json!({
            "samples": self.samples, "train_time_sec": self.train_s, "memory_train_mb": self.memory_bytes as f64 / MIB,
            "val_mse": self.val[0], "val_r2": self.val[1], "test_mse": self.test[0], "test_r2": self.fresh_r2,
        })
    }
}

/// R² = 1 - Σ (y - p)² / Σ (y - mean)²; the scale of both does not matter.
fn r2(predicted: &[f32], y: &[f32]) -> f64 {
    let mean = y.iter().copied().map(f64::from).sum::<f64>() / y.len() as f64;
    let residual: f64 = predicted.iter().zip(y).map(|(p, y)| (f64::from(*y) - f64::from(*p)).powi(2)).sum();
    let total: f64 = y.iter().map(|y| (f64::from(*y) - mean).powi(2)).sum();
    1.0 - residual / total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r2_of_hand_worked_values() {
        // The mean is 2, the total 2, the residual 0.5.
        assert!((r2(&[1.5, 2.0, 2.5], &[1.0, 2.0, 3.0]) - 0.75).abs() < 1e-12);
    }
}
