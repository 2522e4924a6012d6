//! `mero bench predict`: how long predictions take, of many rows in one call and of one row, with random weights.

use std::path::PathBuf;

use pollster::block_on;
use serde_json::json;

use super::measuring::{Common, check_size, random, windows};
use crate::Answer;
use crate::options::contents::ONNX;
use crate::options::flags::{Flags, Shape};
use crate::options::outputs::{Force, check_outs, write_out};
use crate::show::labels::place;
use crate::terminal::console::{say, say_json};
use meromorph::export::write_onnx;
use meromorph::loss::Loss;
use meromorph::model::{Model, Network};
use meromorph::report::{count, duration, facts, figure, scaled_count};
use meromorph::run::TrainOptions;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    flags: Flags<Shape>,
    /// Rows of a call
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    pub(super) rows: usize,
    /// Write the model to this file, for another engine
    #[arg(long, value_name = "FILE")]
    onnx: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Calls of one row in a window.
const CALLS: usize = 1000;

pub(super) fn run(args: &Args) -> Answer {
    check_outs(&[("ONNX file", args.onnx.as_deref(), Some(&ONNX))], &[], args.force.force)?;
    let options = args.flags.checked(TrainOptions::default())?;
    let widest = options.hidden().iter().copied().max().unwrap_or(1);
    check_size(args.rows.saturating_mul(widest.max(5)))?;
    let device = args.common.hardware.open()?;
    let x = random(&device, args.rows * 5, 1)?;
    let spec = options.spec(5, 1);
    let parameters = Network::from(spec.clone()).initialise(0)?;
    let model = Model::new(spec, Loss::mse(), parameters, None);
    if let Some(path) = &args.onnx {
        write_out(path, &ONNX, &write_onnx(&model)?, args.force.force)?;
    }
    let mut ready = model.ready(&device)?;
    let [best, ms, worst] = windows(args.common.windows, || block_on(ready.outputs(&x)).map(drop))?;
    let mut output = [0.0];
    // A device that computes while the program goes on has to be waited for: its row is a call like any other.
    let now = ready.row(&x[..5], &mut output).is_ok();
    let [_, row_ms, _] = windows(args.common.windows, || {
        if !now {
            return block_on(ready.outputs(&x[..5])).map(drop);
        }
        (0..CALLS).try_for_each(|_| ready.row(&x[..5], &mut output))
    })?;
    let row_us = row_ms * 1e3 / if now { CALLS as f64 } else { 1.0 };
    let widths: Vec<usize> = [&[5], options.hidden(), &[1]].concat();
    let flops = 2.0 * args.rows as f64 * widths.windows(2).map(|pair| (pair[0] * pair[1]) as f64).sum::<f64>();
    let (info, rows_per_s) = (device.info(), args.rows as f64 / ms * 1e3);
    if args.common.json {
        say_json(&json!({
            "event": "report", "bench": "predict", "us_per_call": ms * 1e3, "best_us": best * 1e3, "worst_us": worst * 1e3,
            "rows": args.rows, "rows_per_s": rows_per_s, "gflops": flops / ms / 1e6, "us_per_row_alone": row_us,
            "hidden": options.hidden(), "windows": args.common.windows, "device": info.device, "name": info.name,
            "threads": info.threads,
        }));
        return Ok(());
    }
    say(&facts(&[
        (
            "many",
            format!(
                "{} rows in {} (from {} to {})",
                count(args.rows as u64),
                duration(ms / 1e3),
                duration(best / 1e3),
                duration(worst / 1e3)
            ),
        ),
        ("speed", format!("{} rows/s, {} GFLOP/s", scaled_count(rows_per_s), figure(flops / ms / 1e6))),
        ("one row", format!("{} µs", figure(row_us))),
        ("device", place(info.device, &info.name, info.threads)),
    ]));
    Ok(())
}
