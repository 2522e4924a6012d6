//! `mero bench contrast`: what the guide to Trainer2 promises of its windows, each row as two forms by turns, at three sizes.

use serde_json::json;

use crate::options::hardware::Hardware;
use crate::show::labels::place;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::report::{Table, figure};
use meromorph_claims::contrast::{Row, Rows, SIZES, Size, Timed};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Sizes: rows of a window, slots of the memory and numbers of a state are 8, 256, 64; 32, 2,048, 64; 32, 16,384, 512
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = SIZES.iter().map(|size| size.name).collect::<Vec<_>>(), default_values = SIZES.iter().map(|size| size.name).collect::<Vec<_>>())]
    size: Vec<String>,
    /// Only the measures whose name holds this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Pairs of samples of each row, fewer where a window takes long
    #[arg(long, default_value_t = 30, value_name = "N")]
    samples: usize,
    /// Print only JSON, one object per row
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hardware: Hardware,
}

pub(super) fn run(args: &Args) -> Answer {
    if args.samples == 0 {
        return Err(Failure::usage("--samples: got 0, expected at least 1"));
    }
    let measures: Vec<_> = Rows::measures().into_iter().filter(|(name, _)| name.contains(&args.only)).collect();
    if measures.is_empty() {
        let names = Rows::measures().map(|(name, _)| name).join(", ");
        return Err(Failure::usage(format!("--only: got \"{}\", expected a part of one of: {names}", args.only)));
    }
    let device = args.hardware.open()?;
    let info = device.info();
    let sizes: Vec<Size> =
        SIZES.into_iter().filter(|size| args.size.iter().any(|wanted| wanted == size.name)).collect();
    let progress = Progress::of((sizes.len() * measures.len()) as u64, "contrast");
    let mut tables = Vec::new();
    for size in sizes {
        let rows = Rows { device: &device, size, samples: args.samples };
        let mut found = Vec::new();
        for (name, measure) in &measures {
            progress.say(format!("{}: {name}", size.name));
            for row in measure(&rows)? {
                if args.json {
                    say_json(&json!({
                        "event": "row", "size": size.name, "claim": row.claim, "slow": row.forms[0], "fast": row.forms[1],
                        "ratio": row.timed.map(|timed| timed.ratio), "ms": row.timed.map(|timed| timed.ms), "note": row.note, "device": info.device, "adapter": info.name,
                    }));
                }
                found.push(row);
            }
            progress.step();
        }
        tables.push((size, found));
    }
    progress.finish();
    if args.json {
        return Ok(());
    }
    for (size, rows) in tables {
        let Size { name, rows: count, keys, width } = size;
        say(&format!("{name}: {count} rows, {keys} slots, states of {width} numbers"));
        say(&Table::new(["claim", "slow", "fast", "times as fast", ""]).rows(rows.iter().map(cells)).text());
    }
    say(&format!("on {}", place(info.device, &info.name, info.threads)));
    Ok(())
}

fn cells(row: &Row) -> [String; 5] {
    let ratio = row.timed.map_or(String::new(), |Timed { ratio: [median, low, high], .. }| {
        format!("{} ({} to {})", figure(median), figure(low), figure(high))
    });
    let [slow, fast] = row.forms.clone();
    [row.claim.to_owned(), slow, fast, ratio, row.note.clone()]
}
