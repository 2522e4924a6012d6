//! `mero fit`: fits a formula to columns of a table.

mod checkpoint;
mod log;
mod many;
mod model;
mod page;
mod rows;
mod stream;
mod text;

use std::path::{Path, PathBuf};

use pollster::block_on;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::args::{Hardware, Reading, check_header, check_outs, check_page, read};
use super::console::{say, say_data, say_json};
use super::{Answer, Failure, interrupt};
use checkpoint::Checkpoint;
use log::Log;
use meromorph::error::{Error, hint, listed};
use meromorph::files::Format;
use meromorph::files::RowSource;
use meromorph::fit::{
    FTest, Fit, Global, Journal, Levels, Method, Problem, RobustLoss, SavedFit, SolveOptions, add_profiles, approach,
    report, solve_from,
};
use meromorph::internal::host;
pub(super) use model::{pairs, range, value};
use page::page;
use rows::Rows;
pub(super) use rows::levels;
use stream::Input;
pub(super) use text::{cautions, parameter_table, stop_text};
use text::{curve_chart, text};

/// The device that needs no search before the fit.
const CPU: &str = "cpu";

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Args {
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    file: PathBuf,
    #[arg(long, value_name = "FORMULA", help = model::model_help())]
    model: String,
    /// Observed values: a column, or a formula over columns such as "log(y)"; by default, the last column that the model does not use
    #[arg(long, value_name = "COLUMN")]
    y: Option<String>,
    /// Starts of parameters; others are looked for
    #[arg(long, value_name = "a=1,b=0.1", allow_hyphen_values = true)]
    p0: Vec<String>,
    /// Bounds of parameters, low:high; either may be left out
    #[arg(long, value_name = "a=0:10,b=:5", allow_hyphen_values = true)]
    bounds: Vec<String>,
    /// Parameters that keep a value
    #[arg(long, value_name = "c=0", allow_hyphen_values = true)]
    fix: Vec<String>,
    /// A parameter that is computed from others; may be repeated
    #[arg(long, value_name = "d=2*a")]
    tie: Vec<String>,
    /// Column of standard deviations of the observed values: rows are weighted by 1 / sigma²
    #[arg(long, value_name = "COLUMN")]
    sigma: Option<String>,
    /// Take sigma as it is; by default, standard errors are scaled so that the residuals agree with them
    #[arg(long, requires = "sigma")]
    absolute_sigma: bool,
    /// Loss of a residual; all but linear are robust against outliers: linear, soft_l1, huber, cauchy, arctan
    #[arg(long, default_value = "linear", value_name = "LOSS")]
    loss: String,
    /// Size of a residual from which a robust loss counts it less, in units of y, or with --sigma of sigma [default: 1]
    #[arg(long, value_name = "SIZE")]
    loss_scale: Option<f64>,
    /// Search: trf takes bounds, lm does not
    #[arg(long, default_value = "trf", value_name = "METHOD")]
    method: String,
    /// Search for the start all over the ranges, on up to a thousand rows, even if --p0 is given: none, multistart (many searches), cmaes (an
    /// evolution strategy)
    #[arg(long, default_value = "none", value_name = "SEARCH")]
    global: String,
    /// Do not search again from other starts if the search gets stuck or the model is not finite at the start
    #[arg(long)]
    no_recovery: bool,
    /// Also compute intervals from the profile of the cost: they are right where the model bends, and take some fits for each parameter
    #[arg(long)]
    profile: bool,
    /// Fit of a smaller model of the same data, whose parameters are some of this one's: test whether the others are needed (F test, AIC)
    #[arg(long, value_name = "JSON")]
    against: Option<PathBuf>,
    /// Probability of intervals and bands
    #[arg(long, default_value_t = 0.95, value_name = "LEVEL")]
    level: f64,
    /// Evaluations of the model over all rows, at most; 0 = 500 for each free parameter and 500 more
    #[arg(long, default_value_t = 0, value_name = "N")]
    max_evaluations: usize,
    /// Rows with a missing cell in a column that is used: error, or drop them
    #[arg(long, default_value = "error", value_parser = ["error", "drop"], value_name = "WHAT")]
    missing: String,
    /// Seed of the starts that are tried for parameters without one
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
    /// Device of the search: a GPU searches in single precision, where the data allow it, and the cpu finds the last digits in double precision. Worth
    /// it from about a million rows: auto, cpu, webgpu
    #[arg(long, default_value = "cpu", value_name = "NAME")]
    device: String,
    /// Threads; 0 = all. The result is the same for any number
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// JSON file to write; mero predict reads it. For many fits, a table ending in .csv
    #[arg(short, long, value_name = "JSON")]
    out: Option<PathBuf>,
    /// HTML page with data, curve, bands, residuals, correlations and convergence
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
    /// Where rows are while the fit runs; the result is the same: standard (the whole table in memory), large (the columns that are used), chunked (the
    /// first rows; the others are read in each pass), streaming (none). auto takes the first that fits into three quarters of the memory
    #[arg(long, default_value = "auto", value_name = "STRATEGY")]
    strategy: String,
    /// Memory that may be used, such as 8GB; the limits of control groups and of SLURM are known
    #[arg(long, value_name = "SIZE")]
    memory_limit: Option<String>,
    /// Print what each strategy would take and which is chosen, and do not fit
    #[arg(long)]
    plan: bool,
    /// File to save a long fit in now and then; the same command goes on from it, with the same result. On Ctrl-C, SIGTERM or SIGUSR1 the fit is
    /// saved and ends with exit code 75
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS", requires = "checkpoint")]
    checkpoint_every: f64,
    /// File for a line of JSON for each evaluation and checkpoint: seconds, rows a second, bytes
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Seconds from which something is written to the log
    #[arg(long, default_value_t = 0.1, value_name = "SECONDS", requires = "log")]
    log_threshold: f64,
    /// Replace the checkpoint of another fit
    #[arg(long, requires = "checkpoint")]
    force: bool,
    #[command(flatten)]
    reading: Reading,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Answer {
    let outs = [("fit", &args.out), ("page", &args.report), ("log", &args.log), ("checkpoint", &args.checkpoint)];
    check_outs(&outs.map(|(what, out)| (what, out.as_deref())), &[("table", &args.file)])?;
    check_page(args.report.as_deref())?;
    let loss = RobustLoss::named(&args.loss)?;
    if let (RobustLoss::Linear, Some(_)) = (loss, args.loss_scale) {
        return Err(Failure::usage(
            "loss-scale: it applies to robust losses only: expected --loss soft_l1, huber, cauchy or arctan",
        ));
    }
    args.hardware().check()?;
    let options = args.options()?;
    let format = args.reading.format()?;
    match args.input(&format)? {
        Input::Table => of_table(args, &format, loss, &options),
        Input::Rows(source) => of_rows(args, source, loss, &options),
    }
}

/// A fit of a table in memory.
fn of_table(args: &Args, format: &Format, loss: RobustLoss, options: &SolveOptions) -> Answer {
    let table = read(&args.file, format)?;
    let names: Vec<&str> = table.names().collect();
    let (formula, target) = args.model(&names)?;
    check_header(&table, format.header, [target.as_str()])?;
    let rows = Rows::of(args, &table, &formula, &target)?;
    let columns: Vec<(&str, &[f64])> =
        formula.columns().iter().map(String::as_str).zip(rows.columns.iter().map(Vec::as_slice)).collect();
    let levels: Vec<(&str, &Levels)> = formula.level_columns().into_iter().zip(&rows.levels).collect();
    let mut problem = Problem::with_levels(formula.clone(), &columns, &levels, &rows.y)?;
    if let Some(sigma) = &rows.sigma {
        problem = problem.sigma(sigma, args.absolute_sigma)?;
    }
    let problem = args.known(problem.loss(loss, args.loss_scale.unwrap_or(1.0))?)?;
    if problem.is_many() {
        return many::run(args, &problem, options, &target, table.source());
    }
    finish(args, &problem, options, &rows, &target, table.source())
}

/// A fit of rows that are read by ranges.
fn of_rows(args: &Args, source: Box<dyn RowSource>, loss: RobustLoss, options: &SolveOptions) -> Answer {
    let names: Vec<&str> = source.columns().iter().map(String::as_str).collect();
    let (formula, target) = args.model(&names)?;
    let places = args.places(&*source, &formula, &target)?;
    let plan = args.planned(&*source, &places)?;
    if args.plan {
        return Ok(());
    }
    let source = Args::kept(source, &places, &plan)?;
    let sigma = args.sigma.as_deref().map(|name| (name, args.absolute_sigma));
    let rows = stream::sampled(&*source, &places, &formula, sigma.is_some())?;
    let problem = Problem::read(formula, &*source, &target, sigma, args.missing == "drop")?;
    let problem = problem.strategy(plan.strategy).loss(loss, args.loss_scale.unwrap_or(1.0))?;
    let rows = Rows { dropped: source.rows() - problem.rows(), ..rows };
    finish(args, &args.known(problem)?, options, &rows, &target, &args.file.display().to_string())
}

/// Solves the fit, and writes and shows its result.
fn finish(
    args: &Args,
    problem: &Problem<'_>,
    options: &SolveOptions,
    rows: &Rows,
    target: &str,
    source: &str,
) -> Answer {
    let started = host::now_ms();
    let smaller = args.against.as_deref().map(saved).transpose()?;
    let mut fit = args.solve(problem, options, rows)?;
    if args.profile {
        add_profiles(problem, &mut fit, options)?;
    }
    let seconds = (host::now_ms() - started) / 1e3;
    let json = report(problem, &fit, target, seconds);
    let test =
        smaller.map(|smaller| smaller.tested_against(&SavedFit::parse(&json.to_string(), "fit")?)).transpose()?;
    if let Some(out) = &args.out {
        host::write_whole(out, format!("{json}\n").as_bytes())?;
    }
    let saved = SavedFit::parse(&json.to_string(), "fit")?;
    if let Some(report) = &args.report {
        host::write_whole(report, &page(&fit, &saved, rows, target, source)?)?;
    }
    if args.json {
        if let Some(FTest { f, dof: [more, dof], p, aic_difference }) = test {
            say_json(&json!({
                "event": "test", "f": f, "additional_parameters": more, "dof": dof, "p": p, "aic_difference": aic_difference,
            }));
        }
        say_data(format!("{json}\n").as_bytes());
        return Ok(());
    }
    say(&text(&fit, saved.formula(), target, rows, source));
    if let Some(test) = test {
        say(&text::tested(&test));
    }
    if let Some(chart) = curve_chart(&saved, rows, target)? {
        say(chart.text().trim_start_matches('\n'));
    }
    Ok(())
}

impl Args {
    /// Solves the fit, with checkpoints if they are wanted.
    fn solve(&self, problem: &Problem<'_>, options: &SolveOptions, rows: &Rows) -> Answer<Fit> {
        let mut log = Log::new(self.log.as_deref(), self.log_threshold, problem.rows())?;
        let Some(path) = &self.checkpoint else {
            let mut journal = Journal::default();
            self.approach(problem, options, &mut journal)?;
            return Ok(solve_from(problem, options, &mut journal, &mut |journal| log.evaluated(journal))?);
        };
        let mut checkpoint = Checkpoint::new(path, self.checkpoint_every, self.identity(problem, rows))?;
        let mut journal = checkpoint.load(self.force)?;
        interrupt::watch();
        self.approach(problem, options, &mut journal)?;
        let solved = solve_from(problem, options, &mut journal, &mut |journal| {
            log.evaluated(journal)?;
            checkpoint.watch(journal, &mut log)
        });
        if interrupt::is_requested() && solved.is_err() {
            return Err(checkpoint.stopped(&journal));
        }
        let fit = solved?;
        checkpoint.remove()?;
        Ok(fit)
    }

    /// Searches on the device, if it is not the cpu.
    fn approach(&self, problem: &Problem<'_>, options: &SolveOptions, journal: &mut Journal) -> Answer {
        if self.device == CPU {
            return Ok(());
        }
        let device = self.hardware().open()?;
        if device.info().device == CPU {
            return Ok(());
        }
        Ok(block_on(approach(problem, options, &device, journal))?)
    }

    fn hardware(&self) -> Hardware {
        Hardware::of(&self.device, self.threads)
    }

    /// What tells this fit from others: model, options and data.
    fn identity(&self, problem: &Problem<'_>, rows: &Rows) -> Sha256 {
        let mut digest = Sha256::new();
        let ties = self.tie.join(";");
        let (method, loss) = (&self.method, &self.loss);
        digest.update(format!(
            "{} {} {ties} {method} {loss} {:?}",
            env!("CARGO_PKG_VERSION"),
            self.model,
            self.loss_scale
        ));
        digest.update(format!("{} {} {} {}", self.device, self.seed, self.max_evaluations, self.absolute_sigma));
        digest.update(format!("{:?}", problem.parameters()));
        rows.digest(&mut digest);
        digest
    }

    fn options(&self) -> Answer<SolveOptions> {
        let found = Method::ALL.into_iter().find(|(name, _)| *name == self.method);
        let Some((_, method)) = found else {
            let (names, got) = (Method::ALL.map(|(name, _)| name), &self.method);
            let (all, near) = (listed(&names), hint(got, names.into_iter()));
            return Err(Failure::usage(format!("method: got \"{got}\", expected one of {all}{near}")));
        };
        let (level, evaluations, threads, seed) = (self.level, self.max_evaluations, self.threads, self.seed);
        let found = Global::ALL.into_iter().find(|(name, _)| *name == self.global);
        let Some((_, global)) = found else {
            let (names, got) = (Global::ALL.map(|(name, _)| name), &self.global);
            let (all, near) = (listed(&names), hint(got, names.into_iter()));
            return Err(Failure::usage(format!("global: got \"{got}\", expected one of {all}{near}")));
        };
        let recovers = !self.no_recovery;
        Ok(SolveOptions { method, global, recovers, level, evaluations, threads, seed })
    }
}

/// A fit that was saved.
fn saved(path: &Path) -> Answer<SavedFit> {
    let bytes = host::read(path)?;
    let name = path.display().to_string();
    let fit = SavedFit::parse(&String::from_utf8_lossy(&bytes), &name);
    Ok(fit.map_err(|error| Error::new(format!("{error}: expected a file that mero fit has written")))?)
}
