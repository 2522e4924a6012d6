//! `mero plan`: one training step on the dry device, which counts launches without running them.

use std::path::PathBuf;

use pollster::block_on;
use serde_json::json;

use super::args::{Reading, read};
use super::console::{say, say_json};
use super::flags::{Flags, Model, prepare, refused};
use super::{Answer, Failure};
use crate::Device;
use crate::device::{Cost, Launch, Request, Summary};
use crate::host::memory_bytes;
use crate::io::{Choice, Quantity, Target};
use crate::nn::Spec;
use crate::report::{Table, bytes, counted, facts, figure, scaled_count};
use crate::train::{Data, Examples, Run, TrainOptions, Trainer, TrainerConfig};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Table that determines the sizes; needs --target
    #[arg(requires = "target")]
    file: Option<PathBuf>,
    /// Column to predict
    #[arg(long, value_name = "COLUMN", requires = "file")]
    target: Option<String>,
    /// Inputs of the model, without a table
    #[arg(long, default_value_t = 5, value_name = "N", conflicts_with = "file")]
    inputs: usize,
    /// Outputs of the model, without a table
    #[arg(long, default_value_t = 1, value_name = "N", conflicts_with = "file")]
    outputs: usize,
    /// Training rows, without a table
    #[arg(long, default_value_t = 10_000, value_name = "N", conflicts_with = "file")]
    rows: usize,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    flags: Flags<Model>,
    /// Print only JSON, one object per launch and one for the step
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Answer {
    let (data, spec, settings) = args.sizes()?;
    let device = block_on(Device::open(&Request { device: "dry".into(), ..Request::default() }))?;
    let mut trainer = Trainer::new(&device, spec, settings, data)?;
    let batch = trainer.settings().batch;
    trainer.prepare()?;
    let parameters = trainer.network().layout().count();
    let (summary, kind) = (trainer.step_summary(), trainer.step_kind().name());
    let peak = device.counters().peak_bytes;
    if args.json {
        for (at, Launch { kernel, label, cost }) in summary.launches.iter().enumerate() {
            say_json(&json!({
                "event": "launch", "at": at, "kernel": kernel, "part": &*label.layer, "op": label.op, "is_backward": label.is_backward,
                "flops": cost.flops, "bytes": cost.bytes,
            }));
        }
        say_json(&json!({
            "event": "report", "step": kind, "batch": batch, "parameters": parameters, "launches": summary.launches.len(),
            "flops": summary.cost.flops, "bytes": summary.cost.bytes, "transient_bytes": summary.transient_bytes,
            "unshared_bytes": summary.unshared_bytes, "persistent_bytes": summary.persistent_bytes, "peak_bytes": peak,
            "recomputed_launches": summary.recomputed.0, "recomputed_flops": summary.recomputed.1.flops,
        }));
        return Ok(());
    }
    say(&launches(summary));
    let transient = format!("{} ({} without sharing)", bytes(summary.transient_bytes), bytes(summary.unshared_bytes));
    let (again, cost) = summary.recomputed;
    let share = 100.0 * cost.flops as f64 / summary.cost.flops.max(1) as f64;
    let recomputed = match again {
        0 => "nothing".to_owned(),
        _ => format!("{}, {share:.1} % of the work", launched(again)),
    };
    say(&format!(
        "\n{}",
        facts(&[
            ("step", format!("{kind}, {}, {}", counted(batch, "row"), launched(summary.launches.len()))),
            ("model", counted(parameters, "parameter")),
            ("work", format!("{} flops, {} moved", scaled_count(summary.cost.flops as f64), bytes(summary.cost.bytes))),
            ("transient", transient),
            ("computed again", recomputed),
            ("persistent", bytes(summary.persistent_bytes)),
            ("peak", format!("{} for the whole run, rows and validation included", bytes(peak))),
        ])
    ));
    Ok(())
}

impl Args {
    /// Rows of the right sizes, from the table or zeros, with the model and settings for them.
    fn sizes(&self) -> Answer<(Data, Spec, TrainerConfig)> {
        let choice = Choice { target: self.target.clone().unwrap_or_default(), ..Choice::default() };
        let options = self.flags.apply(TrainOptions { choice, ..TrainOptions::default() })?;
        if let Some(file) = &self.file {
            let Run { data, spec, settings, .. } = prepare(&options, &read(file, &self.reading.format()?)?)?;
            return Ok((data, spec, settings));
        }
        if [self.inputs, self.outputs, self.rows].contains(&0) {
            return Err(Failure::usage("inputs, outputs and rows must be at least 1"));
        }
        let inputs = self.inputs;
        let targets = if options.head.is_some() { self.outputs.saturating_mul(2) } else { self.outputs };
        self.check_rows(inputs.saturating_add(targets))?;
        let zeros = |rows: usize| Examples { x: vec![0.0; rows * inputs], y: vec![0.0; rows * targets] };
        let data = Data { inputs, targets, train: zeros(self.rows), ..Data::default() };
        let (name, mean, min, max) = ("y".into(), 0.0, 0.0, 0.0);
        let target = match options.choice.quantity {
            Quantity::Count => Target::Counts { name, mean, min, max },
            Quantity::Share => {
                let columns: Vec<String> = (0..self.outputs).map(|at| format!("y{at}")).collect();
                Target::Shares { name, means: vec![0.0; columns.len()], columns }
            }
            Quantity::Measure => Target::Regression { name, mean, scale: 1.0, min, max },
        };
        let settings = options.settings(&target, self.rows).map_err(|error| refused(&error))?;
        Ok((data, options.spec(inputs, options.outputs(self.outputs)), settings))
    }

    /// Errors if the rows, of `width` values each, cannot fit in memory.
    fn check_rows(&self, width: usize) -> Answer {
        let bytes = 4 * self.rows as u128 * width as u128;
        if bytes <= u128::from(memory_bytes()) {
            return Ok(());
        }
        let (needed, most) = (bytes >> 30, memory_bytes() >> 30);
        Err(Failure::usage(format!(
            "{} of {} take about {needed} GiB; there are at most {most} GiB; choose a smaller --rows",
            counted(self.rows, "row"),
            counted(width, "value"),
        )))
    }
}

/// `1 launch`, `2 launches`.
fn launched(launches: usize) -> String {
    format!("{launches} launch{}", if launches == 1 { "" } else { "es" })
}

fn launches(summary: &Summary) -> String {
    let share = |cost: &Cost| 100.0 * cost.flops as f64 / summary.cost.flops.max(1) as f64;
    let row = |(at, Launch { kernel, label, cost }): (usize, &Launch)| {
        let intensity = cost.flops as f64 / cost.bytes.max(1) as f64;
        let (flops, bytes) = (scaled_count(cost.flops as f64), bytes(cost.bytes));
        let (name, share) = ((*kernel).to_owned(), format!("{:.1} %", share(cost)));
        [(at + 1).to_string(), name, label.to_string(), flops, bytes, figure(intensity), share]
    };
    let header = ["#", "kernel", "part of", "flops", "bytes", "flops/byte", "of the work"];
    Table::new(header).rows(summary.launches.iter().enumerate().map(row)).text()
}
