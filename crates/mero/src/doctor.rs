//! `mero doctor`: checks a model on a table, and says what to change.

use std::path::PathBuf;

use pollster::block_on;
use serde_json::json;

use crate::Answer;
use crate::options::hardware::Hardware;
use crate::options::reading::{New, Reading, check_header, read_for};
use crate::saved::load;
use crate::terminal::console::{say, say_json};
use meromorph::error::Error;
use meromorph::report::{Table as TextTable, facts};
use meromorph::run::{Finding, Verdict};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Model file, or a folder written by `mero export --bundle`
    model: PathBuf,
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst with the target column; - reads standard input
    file: PathBuf,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    hardware: Hardware,
}

pub(super) fn run(args: &Args) -> Answer {
    args.hardware.check()?;
    let model = load(&args.model)?;
    let preparation = model.preparation()?;
    let New { table, format, .. } = read_for(&model, &args.file, &args.reading, "doctor")?;
    check_header(&table, format.header, preparation.every_name())?;
    let device = args.hardware.open()?;
    let findings = block_on(model.check_up(&device, &table))?;
    let failed = findings.iter().filter(|one| one.verdict == Verdict::Fail).count();
    let info = device.info();
    if args.json {
        let one = |one: &Finding| json!({ "check": one.check, "verdict": one.verdict.name(), "seen": one.seen, "advice": one.advice });
        say_json(&json!({
            "event": "report", "checks": findings.iter().map(one).collect::<Vec<_>>(), "failed": failed,
            "device": info.device, "model": args.model,
        }));
    } else {
        let row = |one: &Finding| {
            let mark = match one.verdict {
                Verdict::Pass => "✓",
                Verdict::Advise => "!",
                Verdict::Fail => "✗",
            };
            [format!("{mark} {}", one.check), one.seen.clone()]
        };
        say(&facts(&[
            ("model", args.model.display().to_string()),
            ("data", table.source().to_owned()),
            ("device", format!("{} ({})", info.device, info.name)),
        ]));
        say(&format!("\n{}", TextTable::new(["check", "seen"]).rows(findings.iter().map(row)).text()));
        for one in findings.iter().filter(|one| !one.advice.is_empty()) {
            say(&format!("{}: {}", one.check, one.advice));
        }
    }
    if failed > 0 {
        let plural = if failed == 1 { "check" } else { "checks" };
        return Err(Error::new(format!("doctor: {failed} {plural} failed")).into());
    }
    Ok(())
}
