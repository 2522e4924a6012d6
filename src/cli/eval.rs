//! `mero eval`: a model against a table that has the target. Every row counts: one that cannot be read is an error.

use std::path::PathBuf;

use pollster::block_on;
use serde_json::json;

use super::Answer;
use super::args::{Hardware, Heading, read};
use super::console::{say, say_json};
use super::plot::{Picture, draw};
use super::predict::load;
use super::report::metrics_table;
use super::text::{duration, facts};
use crate::host;
use crate::train::{Examples, Metrics};

#[derive(clap::Args)]
pub(super) struct Args {
    /// A model file
    model: PathBuf,
    /// CSV, TSV, NPY or NPZ file with the target; - reads standard input
    file: PathBuf,
    #[command(flatten)]
    heading: Heading,
    #[command(flatten)]
    hardware: Hardware,
    /// One JSON object on standard output, and nothing else
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Answer {
    args.hardware.check()?;
    let model = load(&args.model)?;
    let preparation = model.preparation()?;
    let table = read(&args.file, args.heading.header())?;
    let rows = table.every_row();
    let Examples { x, y } = Examples::encode(preparation, &table, &rows, model.loss)?;
    let device = args.hardware.open()?;
    let start = host::now_ms();
    let z = block_on(model.outputs(&device, &x))?;
    let seconds = (host::now_ms() - start) / 1e3;
    let target = &preparation.target;
    let test = Metrics::of(&model.spec, model.loss, &z, &y, target.scale());
    let task = target.task().name();
    let (source, info) = (table.source(), device.info());
    if args.json {
        say_json(&json!({
            "event": "report", "task": task, "rows": { "test": rows.len() }, "device": info.device, "threads": info.threads,
            "seconds": seconds, "samples_per_s": rows.len() as f64 / seconds.max(1e-9), "test": test,
            "peak_bytes": host::peak_bytes(), "model": args.model,
        }));
        return Ok(());
    }
    let target = target.name();
    say(&facts(&[
        ("model", format!("{}, {task} of \"{target}\"", args.model.display())),
        ("data", source.to_owned()),
        ("took", format!("{} on {} ({})", duration(seconds), info.device, info.name)),
    ]));
    say(&format!("\n{}", metrics_table(&[("all rows", test)])));
    say(&draw(&Picture::of(&model.spec, preparation, &z, &y), "all rows"));
    Ok(())
}
