//! `mero bench geometry`: the ways to split a batch of the fused step that a search tries on a GPU, measured again.

use pollster::block_on;
use serde_json::json;

use crate::Answer;
use crate::options::hardware::Hardware;
use crate::show::labels::place;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use meromorph::report::{Table, figure};
use meromorph::train::geometry::{best, measured, remember};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Rows of a batch: up to 1,023 share one geometry, more share another
    #[arg(long, default_value_t = 256, value_name = "N")]
    batch: usize,
    /// Use the fastest from now on
    #[arg(long)]
    remember: bool,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hardware: Hardware,
}

pub(super) fn run(args: &Args) -> Answer {
    let device = args.hardware.open()?;
    let info = device.info();
    let timed = {
        let _progress = Progress::open("measuring");
        block_on(measured(&device, args.batch))?
    };
    let best = best(&timed);
    if args.remember {
        remember(info, args.batch, best);
    }
    if args.json {
        let each = |(geometry, us): &(_, f64)| json!({ "geometry": format!("{geometry}"), "us_per_step": us });
        let all: Vec<_> = timed.iter().map(each).collect();
        say_json(&json!({
            "event": "report", "bench": "geometry", "batch": args.batch, "best": best.to_string(), "geometries": all,
            "device": info.device, "name": info.name,
        }));
        return Ok(());
    }
    say(&place(info.device, &info.name, info.threads));
    let row = |(geometry, us): &(_, f64)| {
        let chosen = if *geometry == best { "fastest" } else { "" };
        [format!("{geometry}"), format!("{} µs", figure(*us)), chosen.to_owned()]
    };
    say(&Table::new(["geometry", "step of 5-64-64-64-1", ""]).rows(timed.iter().map(row)).text());
    Ok(())
}
