//! `mero doctor`: checks a model on a table, says what to change, compares it with an earlier check-up and warns above limits.

mod figures;
mod measured;
mod practices;

use std::path::PathBuf;

use pollster::block_on;
use serde_json::{Value, json};

use crate::Answer;
use crate::options::contents::FLOW;
use crate::options::hardware::Hardware;
use crate::options::outputs::{Force, check_outs, write_out};
use crate::options::reading::{New, Reading, check_header, read_for};
use crate::saved::load;
use crate::terminal::console::{say, say_json};
use figures::{Alert, Baseline, Change, Figure, Limit, figures, to_json};
use measured::{Measured, leaks, profile};
use meromorph::Device;
use meromorph::error::{Error, Result};
use meromorph::model::Model;
use meromorph::report::{Chart, Table as TextTable, bars, facts};
use meromorph::run::{CheckUp, Finding, Trained, Verdict};
use practices::{Practice, practices};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Model file, or a folder written by `mero export --bundle`
    model: PathBuf,
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst with the target column; - reads standard input
    file: PathBuf,
    /// Compare with an earlier check-up: a file with what --json printed
    #[arg(long, value_name = "JSON")]
    baseline: Option<PathBuf>,
    /// Percent by which a figure may be above that of the baseline
    #[arg(long, value_name = "PERCENT", default_value_t = 20.0, value_parser = percent)]
    tolerance: f64,
    /// Warn if a figure is above a limit: step_ms, memory_mib, loss or gradient_norm
    #[arg(long, value_name = "FIGURE=LIMIT", value_parser = Limit::parse)]
    alert: Vec<Limit>,
    /// Draw the gradient of each parameter, or write the picture to a file
    #[arg(long, value_name = "SVG", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    flow: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
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
    let is_drawn = args.flow.as_ref().is_some_and(|out| out.as_os_str() == "-");
    let picture = args.flow.as_deref().filter(|_| !is_drawn);
    check_outs(&[("picture", picture, Some(&FLOW))], &[("table", &args.file)], args.force.force)?;
    let baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    let model = load(&args.model)?;
    let preparation = model.preparation()?;
    let New { table, format, .. } = read_for(&model, &args.file, &args.reading, "doctor")?;
    check_header(&table, format.header, preparation.every_name())?;
    let device = args.hardware.open_timed()?;
    let CheckUp { mut findings, mut trained } = block_on(model.check_up(&device, &table))?;
    let compared = match &mut trained {
        Some(trained) => Some(Compared::of(&device, &model, trained, &mut findings, (baseline.as_ref(), args))?),
        None => None,
    };
    if let (Some(trained), Some(out)) = (&trained, picture) {
        write_out(out, &FLOW, chart(trained).svg().as_bytes(), args.force.force)?;
    }
    let failed = findings.iter().filter(|one| one.verdict == Verdict::Fail).count();
    let shown = Shown { args, device: &device, findings: &findings, compared: compared.as_ref(), failed };
    if args.json {
        say_json(&shown.json());
    } else {
        shown.text(table.source());
        if let Some(trained) = trained.as_ref().filter(|_| is_drawn) {
            say(&format!("\n{}", chart(trained).text()));
        }
    }
    if failed > 0 {
        let plural = if failed == 1 { "check" } else { "checks" };
        return Err(Error::new(format!("doctor: {failed} {plural} failed")).into());
    }
    Ok(())
}

/// A percentage of at least 0: nothing is above one that is not a number.
fn percent(text: &str) -> std::result::Result<f64, String> {
    let percent = text.parse().ok().filter(|percent: &f64| percent.is_finite() && *percent >= 0.0);
    percent.ok_or_else(|| format!("got \"{text}\", expected a percentage of at least 0"))
}

/// The gradient of each parameter.
fn chart(trained: &Trained) -> Chart {
    let sizes: Vec<(String, f64)> = trained.gradients.iter().map(|one| (one.name.clone(), one.rms)).collect();
    bars("Gradients by parameter", "root mean square", &sizes)
}

/// Figures, what they are compared with, and the practices.
struct Compared {
    figures: Vec<Figure>,
    changes: Vec<Change>,
    alerts: Vec<Alert>,
    practices: Vec<Practice>,
}

impl Compared {
    /// Measures, and adds a finding for each figure of a baseline.
    fn of(
        device: &Device,
        model: &Model,
        trained: &mut Trained,
        findings: &mut Vec<Finding>,
        (baseline, args): (Option<&Baseline>, &Args),
    ) -> Result<Self> {
        let figures = figures(trained)?;
        let changes = baseline.map_or_else(Vec::new, |baseline| baseline.changes(&figures, args.tolerance));
        let alerts: Vec<Alert> = args.alert.iter().filter_map(|limit| limit.check(&figures)).collect();
        let leaks = leaks(trained)?;
        let profile = profile(trained);
        let measured = Measured {
            model,
            findings,
            trained,
            figures: &figures,
            profile,
            leaks,
            peak_bytes: device.counters().peak_bytes,
            baseline: baseline.map(|_| changes.iter().filter(|one| one.is_worse).count()),
            limits: args.alert.len(),
            alerts: alerts.len(),
        };
        let practices = practices(&measured)?;
        if let Some(baseline) = baseline {
            findings.push(against(baseline, &changes, device));
        }
        Ok(Self { figures, changes, alerts, practices })
    }
}

/// What has become worse than at an earlier check-up.
fn against(baseline: &Baseline, changes: &[Change], device: &Device) -> Finding {
    let seen: Vec<String> = changes.iter().map(|one| format!("{} {}", one.name, one.text())).collect();
    let worse: Vec<&str> = changes.iter().filter(|one| one.is_worse).map(|one| one.name).collect();
    let own = device.info().device;
    let other = if baseline.device == own { String::new() } else { format!("; it was made on {}", baseline.device) };
    let verdict = if worse.is_empty() { Verdict::Pass } else { Verdict::Advise };
    let advice = if worse.is_empty() { String::new() } else { format!("worse than before: {}", worse.join(", ")) };
    Finding { check: "baseline", verdict, seen: seen.join("; ") + &other, advice }
}

/// What is printed.
struct Shown<'s> {
    args: &'s Args,
    device: &'s Device,
    findings: &'s [Finding],
    compared: Option<&'s Compared>,
    failed: usize,
}

impl Shown<'_> {
    fn json(&self) -> Value {
        let one = |one: &Finding| json!({ "check": one.check, "verdict": one.verdict.name(), "seen": one.seen, "advice": one.advice });
        let mut report = json!({
            "event": "report", "checks": self.findings.iter().map(one).collect::<Vec<_>>(), "failed": self.failed,
            "device": self.device.info().device, "model": self.args.model, "alerts": [],
        });
        if let Some(Compared { figures, changes, alerts, practices }) = self.compared {
            let alert = |one: &Alert| json!({ "figure": one.name, "value": one.value, "limit": one.most });
            let change = |one: &Change| json!({ "figure": one.name, "value": one.now, "baseline": one.before, "is_worse": one.is_worse });
            let practice = |one: &Practice| json!({ "group": one.group, "practice": one.name, "state": one.state.name(), "seen": one.seen });
            report["figures"] = to_json(figures);
            report["alerts"] = alerts.iter().map(alert).collect();
            report["practices"] = practices.iter().map(practice).collect();
            if self.args.baseline.is_some() {
                report["baseline"] = changes.iter().map(change).collect();
            }
        }
        report
    }

    fn text(&self, source: &str) {
        let row = |one: &Finding| {
            let mark = match one.verdict {
                Verdict::Pass => "✓",
                Verdict::Advise => "!",
                Verdict::Fail => "✗",
            };
            [format!("{mark} {}", one.check), one.seen.clone()]
        };
        let info = self.device.info();
        say(&facts(&[
            ("model", self.args.model.display().to_string()),
            ("data", source.to_owned()),
            ("device", format!("{} ({})", info.device, info.name)),
        ]));
        say(&format!("\n{}", TextTable::new(["check", "seen"]).rows(self.findings.iter().map(row)).text()));
        for one in self.findings.iter().filter(|one| !one.advice.is_empty()) {
            say(&format!("{}: {}", one.check, one.advice));
        }
        let Some(Compared { alerts, practices, .. }) = self.compared else { return };
        let row =
            |one: &Practice| [one.group.to_owned(), format!("{} {}", one.state.mark(), one.name), one.seen.clone()];
        let table = TextTable::new(["practice", "", "seen"]).rows(practices.iter().map(row)).text();
        say(&format!("\n{table}\n✓ checked on this model, ! could be better, · always so here"));
        for alert in alerts {
            say(&alert.text());
        }
    }
}
