//! `mero experiment`: runs the methods of a domain, prints tables, and writes a JSON file and a page if requested. Rows can be exported as CSV
//! and predictions imported as any table, so that a method of another program is compared on the same data.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;
use pollster::block_on;

use crate::options::contents::{EXPERIMENT, PAGE, ROWS};
use crate::options::hardware::Hardware;
use crate::options::outputs::{Force, check_outs, keep_out, write_out};
use crate::options::reading::read;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::error::{Error, ErrorKind, Result};
use meromorph::files::csv::{self, Header, Values};
use meromorph::internal::host;
use meromorph::report::{Table, count, counted, duration, figure, short};
use meromorph_experiments::{
    self, Comparison, Direction, Domain, Estimate, ExperimentReport, ExternalMethod, MethodReport, Metric, Request,
    Size, Verdict,
};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Problem domain
    domain: DomainName,
    /// Size of the data and of the training
    #[arg(long, default_value = "smoke")]
    mode: ModeName,
    /// Number of seeds [default: 1, 2 or 10 by mode]
    #[arg(long, value_name = "N")]
    seeds: Option<usize>,
    /// The first seed
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// Methods to run [default: all]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    methods: Vec<String>,
    /// Training epochs [default: by mode]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    #[command(flatten)]
    hardware: Hardware,
    /// Write each seed's train.csv, validation.csv and predict.csv to DIR/SEED for a method of another program, without training
    #[arg(long, value_name = "DIR", help_heading = "Other programs", conflicts_with_all = ["methods", "epochs", "predictions", "Hardware", "out", "json"])]
    rows: Option<PathBuf>,
    /// Include a method of another program by its predictions DIR/SEED.csv: one row per row of predict.csv, empty cells for missing values
    #[arg(long, value_name = "NAME=DIR", help_heading = "Other programs")]
    predictions: Vec<Predictions>,
    /// Folder for <domain>.json and <domain>.html; created if missing
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Print only JSON, the report as one object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// A [`Domain`] by name.
#[derive(Clone, Copy, ValueEnum)]
enum DomainName {
    /// Censored dose-response curves
    Dose,
    /// Peaks of sharp resonators
    Rf,
    /// Inverse kinematics of an arm near its singular poses
    Ik,
    /// The repulsive wall of the Lennard-Jones potential
    Lj,
}

/// A [`Size`] by name.
#[derive(Clone, Copy, ValueEnum)]
enum ModeName {
    /// The smallest data that runs every method
    Contract,
    /// Minutes on a CPU
    Smoke,
    /// The published sizes
    Paper,
}

impl From<DomainName> for Domain {
    fn from(name: DomainName) -> Self {
        match name {
            DomainName::Dose => Self::Dose,
            DomainName::Rf => Self::Rf,
            DomainName::Ik => Self::Ik,
            DomainName::Lj => Self::Lj,
        }
    }
}

impl From<ModeName> for Size {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Contract => Self::Contract,
            ModeName::Smoke => Self::Smoke,
            ModeName::Paper => Self::Paper,
        }
    }
}

/// A method of another program, and the folder with its predictions.
#[derive(Clone)]
struct Predictions {
    name: String,
    folder: PathBuf,
}

impl FromStr for Predictions {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.split_once('=') {
            Some((name, folder)) if !name.is_empty() && !folder.is_empty() => {
                Ok(Self { name: name.to_owned(), folder: folder.into() })
            }
            _ => Err("expected a name and a folder, such as package=found".into()),
        }
    }
}

impl Predictions {
    /// The predictions for every seed.
    fn read(&self, domain: Domain, seeds: &[u64]) -> Result<ExternalMethod> {
        let predictions = seeds.iter().map(|seed| self.of(domain, *seed)).collect::<Result<_>>()?;
        Ok(ExternalMethod { name: self.name.clone(), predictions })
    }

    fn of(&self, domain: Domain, seed: u64) -> Result<Vec<f32>> {
        let table = read(&self.folder.join(format!("{seed}.csv")), &Header::Yes.into())?;
        let expected = meromorph_experiments::prediction_columns(domain);
        let columns: Vec<&[f64]> = expected.iter().map(|name| table.numbers(name)).collect::<Result<_>>()?;
        if let Some(other) = table.names().find(|name| !expected.contains(name)) {
            let source = table.source();
            return Err(Error::new(format!("{source}: column \"{other}\" is not one of {}", expected.join(", "))));
        }
        Ok((0..table.rows()).flat_map(|row| columns.iter().map(move |column| column[row] as f32)).collect())
    }
}

/// More than anyone can wait for.
const MOST_SEEDS: u64 = 1_000_000;

pub(super) fn run(args: &Args) -> Answer {
    let mode = Size::from(args.mode);
    let seeds = args.seeds.unwrap_or(mode.seeds()) as u64;
    let Some(past) = args.seed.checked_add(seeds) else {
        return Err(Failure::usage(format!(
            "seed: got {}, expected at most {} for {seeds} seeds",
            args.seed,
            u64::MAX - seeds
        )));
    };
    if seeds > MOST_SEEDS {
        return Err(Failure::usage(format!("seeds is {seeds}, expected at most {MOST_SEEDS}")));
    }
    let (domain, seeds): (Domain, Vec<u64>) = (args.domain.into(), (args.seed..past).collect());
    if let Some(folder) = &args.rows {
        return write_rows(domain, mode, &seeds, folder, args.force.force);
    }
    args.hardware.check()?;
    let elsewhere = args.predictions.iter().map(|given| given.read(domain, &seeds)).collect::<Result<_>>()?;
    let request = Request { mode, seeds, methods: args.methods.clone(), epochs: args.epochs, elsewhere };
    meromorph_experiments::check(domain, &request).map_err(|error| error.with_kind(ErrorKind::Usage))?;
    let device = args.hardware.open()?;
    let files = args.out.as_deref().map(|folder| files(folder, domain, args.force.force)).transpose()?;
    let progress = Progress::of(meromorph_experiments::trainings(domain, &request) as u64, "starting").ticking();
    let mut follow = |seed: u64, method: &str, seconds: f64| {
        progress.step();
        progress.say(format!("seed {seed}, {method} took {}", duration(seconds)));
    };
    let report = block_on(meromorph_experiments::run(domain, &request, &device, &mut follow))?;
    progress.finish();
    if let Some([json, page]) = &files {
        let text = serde_json::to_string_pretty(&report.to_json()).expect("a report's figures can be written as JSON");
        keep_out(json, &EXPERIMENT, text.as_bytes(), args.force.force)?;
        keep_out(page, &PAGE, meromorph_experiments::page(&report).as_bytes(), args.force.force)?;
    }
    if args.json {
        say_json(&report.to_json());
        return Ok(());
    }
    print(&report);
    if let Some([json, page]) = &files {
        say(&format!("\n  {}\n  {}", json.display(), page.display()));
    }
    Ok(())
}

/// Writes the tables of each seed as CSV.
fn write_rows(domain: Domain, mode: Size, seeds: &[u64], folder: &Path, is_forced: bool) -> Answer {
    if seeds.is_empty() {
        return Err(Failure::usage("seeds is 0, expected at least 1"));
    }
    for seed in seeds {
        let folder = folder.join(seed.to_string());
        host::make_folder(&folder)?;
        for sheet in meromorph_experiments::sheets(domain, mode, *seed) {
            let width = sheet.columns.len();
            let column = |at| sheet.values.iter().skip(at).step_by(width).copied().collect::<Vec<f32>>();
            let columns: Vec<Vec<f32>> = (0..width).map(column).collect();
            let named: Vec<(&str, Values<'_>)> =
                sheet.columns.iter().zip(&columns).map(|(name, values)| (*name, Values::F32(values))).collect();
            write_out(&folder.join(format!("{}.csv", sheet.name)), &ROWS, &csv::write(&named), is_forced)?;
        }
        say(&format!("  {}", folder.display()));
    }
    say(&format!(
        "\n  expected for each row of predict.csv: {}",
        meromorph_experiments::prediction_columns(domain).join(", ")
    ));
    Ok(())
}

/// The paths of the two files, checked before anything is trained.
fn files(folder: &Path, domain: Domain, is_forced: bool) -> Answer<[PathBuf; 2]> {
    host::make_folder(folder)?;
    let files = ["json", "html"].map(|kind| folder.join(format!("{}.{kind}", domain.name())));
    let [json, page] = &files;
    check_outs(&[("report", Some(json), Some(&EXPERIMENT)), ("page", Some(page), Some(&PAGE))], &[], is_forced)?;
    Ok(files)
}

/// Metrics per table, so that the table fits 80 columns.
const METRICS_PER_TABLE: usize = 3;

fn print(report: &ExperimentReport) {
    let seeds = report.seeds.len();
    let [epochs, _] = report.epochs_and_batch;
    say(&format!("  {}: {}, {}\n", report.title, counted(seeds, "seed"), counted(epochs, "epoch")));
    let described = |method: &MethodReport| {
        let parameters = method.parameters.map_or("–".into(), |parameters| count(parameters as u64));
        [method.name.clone(), parameters, short(&method.about, 46)]
    };
    let methods = report.methods.iter().map(described);
    say(&Table::new(["method", "parameters", "what it is"]).rows(methods).text());
    let headlines: Vec<&Metric> = report.metrics.iter().filter(|metric| metric.is_headline).collect();
    for metrics in headlines.chunks(METRICS_PER_TABLE) {
        say(&format!("\n{}", table(report, metrics)));
    }
    for (head, comparisons) in [
        (format!("as claimed: {} against {}", report.published, report.rival.0), report.claimed()),
        (format!("meromorph's own: {} against {}", report.ours, report.published), report.reproduced()),
        ("methods here against external methods".to_owned(), report.elsewhere()),
        ("the best projective method against the best baseline".to_owned(), report.comparisons()),
    ] {
        if !comparisons.is_empty() {
            say(&format!("\n  {head}\n{}", comparisons.iter().map(sentence).collect::<Vec<_>>().join("\n")));
        }
    }
}

fn table(report: &ExperimentReport, metrics: &[&Metric]) -> String {
    let header = [""].into_iter().chain(metrics.iter().map(|metric| metric.key));
    let row = |method: &MethodReport| {
        let cells = metrics.iter().map(|metric| report.estimate(method, metric.key).map_or("–".into(), cell));
        [method.name.clone()].into_iter().chain(cells).collect::<Vec<_>>()
    };
    Table::new(header).rows(report.methods.iter().map(row)).text()
}

fn sentence(comparison: &Comparison<'_>) -> String {
    let word = match comparison.verdict() {
        Verdict::Direction => "better",
        Verdict::Worse => "worse",
        Verdict::Open => "undecided",
    };
    let Comparison { metric, ours, theirs, .. } = comparison;
    let way = if metric.better == Direction::More { "↑" } else { "↓" };
    let (our_mean, their_mean) = (figure(ours.1), figure(theirs.1));
    format!("  {word:<9}  {} {way}  {} {our_mean}, {} {their_mean}", metric.key, ours.0, theirs.0)
}

/// `0.1234±0.0040`: the mean, and half the width of its interval in two digits.
fn cell(estimate: Estimate) -> String {
    let half = (estimate.high - estimate.low) / 2.0;
    let half = match half {
        _ if estimate.count == 1 => return figure(estimate.mean),
        0.0 => "0".to_owned(),
        _ if half < 1e-3 => format!("{half:.1e}"),
        _ => format!("{half:.*}", (1 - half.log10().floor() as i32).max(0) as usize),
    };
    format!("{}±{half}", figure(estimate.mean))
}
