//! `mero eval`: a model against a table that has the target. Every row counts: one that cannot be read is an error.

use std::path::PathBuf;

use pollster::block_on;
use serde_json::json;

use super::args::{Hardware, Heading, read};
use super::console::{say, say_json};
use super::data::{Picture, measure, one_hot};
use super::predict::load;
use super::report::metrics_table;
use super::text::{duration, facts};
use super::{Answer, plot};
use crate::host;
use crate::io::Target;
use crate::loss::Loss;

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
    let x = preparation.encode(&table, &rows)?;
    let mut y = preparation.encode_target(&table, &rows)?;
    let classes = preparation.target.levels().len();
    if model.loss == Loss::Bce && classes > 0 {
        y = one_hot(&y, classes);
    }
    let device = args.hardware.open()?;
    let start = host::now_ms();
    let z = block_on(model.outputs(&device, &x))?;
    let seconds = (host::now_ms() - start) / 1e3;
    let test = measure(&preparation.target, model.loss, &z, &y);
    let task = match preparation.target {
        Target::Regression { .. } => "regression",
        Target::Classification { .. } => "classification",
    };
    let (source, info) = (table.source(), device.info());
    if args.json {
        say_json(&json!({
            "event": "report", "task": task, "rows": { "test": rows.len() }, "device": info.device, "threads": info.threads,
            "seconds": seconds, "samples_per_s": rows.len() as f64 / seconds.max(1e-9), "test": test,
            "peak_bytes": host::peak_bytes(), "model": args.model,
        }));
        return Ok(());
    }
    let target = preparation.target.name();
    say(&facts(&[
        ("model", format!("{}, {task} of \"{target}\"", args.model.display())),
        ("data", source.to_owned()),
        ("took", format!("{} on {} ({})", duration(seconds), info.device, info.name)),
    ]));
    say(&format!("\n{}", metrics_table(&[("all rows", test)])));
    say(&plot::draw(&Picture::of(preparation, &z, &y), "all rows"));
    Ok(())
}
