//! `mero bench read`: how long a table takes from the bytes of its file, which are read before, to its columns.

use std::path::PathBuf;

use serde_json::json;

use super::measuring::windows;
use crate::Answer;
use crate::options::reading::{Reading, read_bytes};
use crate::terminal::console::{say, say_json};
use meromorph::files::read_table;
use meromorph::internal::host;
use meromorph::report::{count, duration, facts, figure};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Table of any kind
    file: PathBuf,
    /// Times it is read; the result is their median
    #[arg(long, default_value_t = 9, value_name = "N")]
    pub(super) windows: usize,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

pub(super) fn run(args: &Args) -> Answer {
    let format = args.reading.format()?;
    let (bytes, source) = read_bytes(&args.file)?;
    let table = read_table(&bytes, &source, &format)?;
    let [best, ms, worst] = windows(args.windows, || read_table(&bytes, &source, &format).map(drop))?;
    let (rows, columns) = (table.rows(), table.columns().len());
    let mb_per_s = bytes.len() as f64 / 1e3 / ms.max(1e-6);
    if args.json {
        say_json(&json!({
            "event": "report", "bench": "read", "file": source, "rows": rows, "columns": columns, "bytes": bytes.len(),
            "ms": ms, "best_ms": best, "worst_ms": worst, "mb_per_s": mb_per_s, "threads": host::threads(),
        }));
        return Ok(());
    }
    say(&facts(&[
        ("table", format!("{source}: {} rows, {} columns", count(rows as u64), count(columns as u64))),
        ("took", format!("{} (best {})", duration(ms / 1e3), duration(best / 1e3))),
        ("speed", format!("{} MB/s of text", figure(mb_per_s))),
    ]));
    Ok(())
}
