//! `mero eval`: measures a model on a table with the target column. Rows that training would drop are left out and counted.

use std::path::PathBuf;

use pollster::block_on;
use serde_json::json;

use crate::options::contents::PAGE;
use crate::options::hardware::Hardware;
use crate::options::outputs::{Force, check_outs, keep_out};
use crate::options::reading::{New, Reading, check_header, read_for};
use crate::saved::load;
use crate::show::examine::{bars, examine, partial_chart};
use crate::show::labels::models_of;
use crate::show::metrics::metrics_table;
use crate::show::page::content::PageContent;
use crate::show::page::page;
use crate::show::plot::{PlotData, draw};
use crate::terminal::console::{say, say_json};
use crate::{Answer, Failure};
use meromorph::files::Table;
use meromorph::internal::host;
use meromorph::judge::{Evaluation, LayerShares, Metrics, Monitor, MonitorState, ThresholdRow, nearness, sweep};
use meromorph::model::{Model, Storage};
use meromorph::nn::Threshold;
use meromorph::options::names;
use meromorph::report::{Table as TextTable, count, duration, facts, figure};
use meromorph::table::Preparation;
use meromorph::{Device, Result};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Model file, or a folder written by `mero export --bundle`
    model: PathBuf,
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst with the target column; - reads standard input
    file: PathBuf,
    /// Show the effect of other thresholds: the given ones, or some around the model's
    #[arg(long, value_name = "TAU", value_delimiter = ',', num_args = 0..=1, require_equals = true)]
    sweep: Option<Vec<f64>>,
    /// Show after which layer rows are ⊥ (have no value)
    #[arg(long)]
    profile: bool,
    /// Show how much worse the main metric gets when a column is shuffled, on average over 5 shuffles or as many as given
    #[arg(long, value_name = "REPEATS", num_args = 0..=1, require_equals = true, default_missing_value = "5")]
    importance: Option<usize>,
    /// Draw the mean prediction over the values of some columns
    #[arg(long, value_name = "COLUMN,COLUMN")]
    partial: Vec<String>,
    /// HTML page with the result, charts and what the model learns from
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
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
    let inputs = [("model", args.model.as_path()), ("table", &args.file)];
    check_outs(&[("page", args.report.as_deref(), Some(&PAGE))], &inputs, args.force.force)?;
    let model = load(&args.model)?;
    let preparation = model.preparation()?;
    if args.sweep.is_some() && model.spec.head().is_none() {
        return Err(Failure::usage("sweep: the model has no poles, so no threshold"));
    }
    if args.profile && model.spec.head().is_none() {
        return Err(Failure::usage("profile: the model has no poles, so no row is ⊥ after any layer"));
    }
    let New { table, format, .. } = read_for(&model, &args.file, &args.reading, "eval")?;
    check_header(&table, format.header, preparation.every_name())?;
    let device = args.hardware.open()?;
    let Evaluation { rows, gaps, x, outputs: z, targets: y, seconds, metrics: test, baseline } =
        block_on(model.evaluate(&device, &table))?;
    let poles = Poles::of(args, &model, &device, (&x, &z, &y))?;
    let task = preparation.target.task().name();
    let (source, info) = (table.source(), device.info());
    let partial: Vec<String> = args.partial.iter().flat_map(|text| names(text)).collect();
    let (importance, partial) = examine(&model, &device, (&table, &rows), (args.importance, &partial))?;
    if let Some(path) = &args.report {
        let judged = (&table, rows.as_slice());
        let warning = (!gaps.columns.is_empty()).then(|| gaps.to_string());
        let page = written_page((&model, &device), judged, (&z, &y), [test, baseline], warning)?;
        keep_out(path, &PAGE, &page, args.force.force)?;
    }
    if args.json {
        say_json(&json!({
            "event": "report", "task": task, "rows": { "test": rows.len() }, "dropped": gaps.dropped, "device": info.device, "threads": info.threads,
            "seconds": seconds, "samples_per_s": rows.len() as f64 / seconds.max(1e-9), "test": test,
            "baseline": baseline,
            "peak_bytes": host::peak_bytes(), "model": args.model, "weights": model.storage,
            "decoding": poles.seen, "sweep": poles.swept, "profile": poles.profile,
            "importance": importance, "partial": (!partial.is_empty()).then_some(partial),
        }));
        return Ok(());
    }
    let measured = Measured {
        source: if gaps.columns.is_empty() { source.to_owned() } else { format!("{source}; {gaps}") },
        seconds,
        test,
        baseline,
    };
    measured.print(args, (&model, preparation), &device);
    poles.print();
    say(&draw(&PlotData::of(&model.spec, &model.loss, preparation, (&z, &y)), "all rows"));
    if let Some(report) = &importance {
        say(&bars(report));
    }
    for partial in &partial {
        say(&format!("\n{}", partial_chart(partial).text()));
    }
    Ok(())
}

/// What was measured, for people.
struct Measured {
    source: String,
    seconds: f64,
    test: Option<Metrics>,
    baseline: Option<Metrics>,
}

impl Measured {
    fn print(&self, args: &Args, (model, preparation): (&Model, &Preparation), device: &Device) {
        let info = device.info();
        let (target, task) = (preparation.target.name(), preparation.target.task().name());
        let weights = match model.storage {
            Storage::F32 => String::new(),
            storage => format!(", {} weights", storage.name()),
        };
        say(&facts(&[
            ("model", format!("{}{weights}, {task} of \"{target}\"", args.model.display())),
            ("data", self.source.clone()),
            ("took", format!("{} on {} ({})", duration(self.seconds), info.device, info.name)),
        ]));
        say(&format!("\n{}", metrics_table(&[("all rows", self.test), ("without inputs", self.baseline)])));
    }
}

/// The page about these rows.
fn written_page(
    (model, device): (&Model, &Device),
    judged: (&Table, &[u32]),
    (z, y): (&[f32], &[f32]),
    [test, baseline]: [Option<Metrics>; 2],
    gaps: Option<String>,
) -> Answer<Vec<u8>> {
    let content = PageContent {
        kind: "Evaluation",
        source: judged.0.source(),
        model,
        judged,
        part: "rows",
        outputs: (z, y),
        metrics: vec![("rows", test), ("without inputs", baseline)],
        folds: None,
        history: &[],
        best_epoch: None,
        facts: vec![
            ("data", judged.0.source().to_owned()),
            ("model", models_of(model.members(), &model.spec)),
            ("loss", model.loss.text().to_owned()),
            ("engine", model.engine.clone()),
        ],
        warnings: gaps.into_iter().collect(),
        config: None,
    };
    page(device, &content)
}

/// Values per window of the monitor.
const WINDOW: usize = 256;

/// Statistics of a model with poles; empty for other models.
#[derive(Default)]
struct Poles {
    seen: Option<MonitorState>,
    swept: Option<Vec<ThresholdRow>>,
    profile: Option<Vec<LayerShares>>,
}

impl Poles {
    /// From encoded rows `x`, the model's pairs `z` and targets as pairs `y`.
    fn of(args: &Args, model: &Model, device: &Device, (x, z, y): (&[f32], &[f32], &[f32])) -> Result<Self> {
        let Some(head) = model.spec.head() else { return Ok(Self::default()) };
        let mut monitor = Monitor::default();
        monitor.watch(&block_on(model.decoded(device, x))?, WINDOW)?;
        let seen = Some(monitor.seen()?);
        let profile = if args.profile { Some(block_on(model.bottom_shares(device, x))?) } else { None };
        let Some(given) = &args.sweep else { return Ok(Self { seen, swept: None, profile }) };
        let own = f64::from(head.decoding.tau_infer);
        let most = if head.decoding.threshold == Threshold::Angle { 0.5 } else { f64::MAX };
        let around = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0].map(|factor| (factor * own).min(most));
        let mut taus = if given.is_empty() { around.to_vec() } else { given.clone() };
        taus.dedup();
        let scale = model.preparation()?.target.scale();
        let swept = sweep(&nearness(head, z, y, scale)?, &taus)?;
        Ok(Self { seen, swept: Some(swept), profile })
    }

    fn print(&self) {
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        if let Some(MonitorState { rates, stretches, least_given, .. }) = &self.seen {
            let of_any = format!("; at least {} of any {WINDOW} rows", percent(*least_given));
            let least = if *stretches > 1 { &of_any } else { "" };
            let poles = format!("{} too near a pole, {} not finite", percent(rates.semantic), percent(rates.fault));
            let lines = facts(&[
                ("given", format!("{} of {} values{least}", percent(rates.given), count(rates.values as u64))),
                ("near a pole", percent(rates.gap)),
                ("⊥", format!("{}: {poles}", percent(rates.bottom))),
            ]);
            say(&format!("\n{lines}"));
        }
        if let Some(profile) = &self.profile {
            let row = |row: &LayerShares| {
                let gap = row.gap.map_or_else(|| "–".into(), percent);
                vec![row.layer.clone(), row.kind.to_owned(), percent(row.bottom), gap]
            };
            let table = TextTable::new(["after", "", "rows ⊥", "near a pole"]).rows(profile.iter().map(row));
            say(&format!("\n{}", table.text()));
        }
        if let Some(swept) = &self.swept {
            let share = |share: Option<f64>| share.map_or_else(|| "–".into(), percent);
            let error = |error: Option<f64>| error.map_or_else(|| "–".into(), figure);
            let row = |row: &ThresholdRow| {
                vec![figure(row.tau), percent(row.bottom), share(row.refused), share(row.missed), error(row.rmse)]
            };
            let header = ["tau", "⊥", "numbers refused", "poles missed", "rmse of the rest"];
            say(&format!("\n{}", TextTable::new(header).rows(swept.iter().map(row)).text()));
        }
    }
}
