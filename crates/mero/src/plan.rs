//! `mero plan`: one training step on the dry device, which counts launches without running them.

mod print;
mod recommend;
mod settings;

use std::path::Path;

use pollster::block_on;
use serde_json::json;

use crate::Answer;
use crate::options::outputs::Force;
use crate::options::sizes::Sizes;
use crate::terminal::console::{say, say_json};
use meromorph::Device;
use meromorph::device::{Cost, Launch, Request, Summary};
use meromorph::report::{Table, bytes, counted, facts, figure, scaled_count};
use meromorph::train::Trainer;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Compare settings that take less memory: for each the bytes, and the time of a step at the rates of this machine, which are measured first
    #[arg(long)]
    settings: bool,
    /// Recommend a device and a batch for data of this size: some steps are timed on this machine, and the command to train is printed
    #[arg(long, conflicts_with_all = ["settings", "print"])]
    recommend: bool,
    /// Write every kernel of the step to a folder, as wgsl or as cuda, and print only the files' names
    #[arg(long, num_args = 2, value_names = ["FORM", "DIR"], conflicts_with = "settings")]
    print: Option<Vec<String>>,
    /// Print only JSON, one object per launch and one for the step
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    sizes: Sizes,
}

pub(super) fn run(args: &Args) -> Answer {
    if args.recommend {
        return recommend::run(&args.sizes, args.json);
    }
    let (data, spec, settings) = args.sizes.run(|_| 0.0)?;
    if args.settings {
        return settings::compare(&data, &spec, &settings, args.json);
    }
    let device = block_on(Device::open(&Request { device: "dry".into(), ..Request::default() }))?;
    let mut trainer = Trainer::new(&device, spec, settings, data)?;
    let batch = trainer.settings().batch;
    trainer.prepare()?;
    if let Some([form, folder]) = args.print.as_deref() {
        return print::kernels(trainer.step_summary(), form, Path::new(folder), args.json, args.force.force);
    }
    let parameters = trainer.parameter_count();
    let (summary, kind) = (trainer.step_summary(), trainer.step_kind().name());
    let peak = device.counters().peak_bytes;
    if args.json {
        for (at, Launch { kernel, label, cost, .. }) in summary.launches.iter().enumerate() {
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

/// `1 launch`, `2 launches`.
fn launched(launches: usize) -> String {
    format!("{launches} launch{}", if launches == 1 { "" } else { "es" })
}

fn launches(summary: &Summary) -> String {
    let share = |cost: &Cost| 100.0 * cost.flops as f64 / summary.cost.flops.max(1) as f64;
    let row = |(at, Launch { kernel, label, cost, .. }): (usize, &Launch)| {
        let intensity = cost.flops as f64 / cost.bytes.max(1) as f64;
        let (flops, bytes) = (scaled_count(cost.flops as f64), bytes(cost.bytes));
        let (name, share) = ((*kernel).to_owned(), format!("{:.1} %", share(cost)));
        [(at + 1).to_string(), name, label.to_string(), flops, bytes, figure(intensity), share]
    };
    let header = ["#", "kernel", "part of", "flops", "bytes", "flops/byte", "of the work"];
    Table::new(header).rows(summary.launches.iter().enumerate().map(row)).text()
}
