//! `mero fit`: fits a formula to columns of a table.

mod page;
mod rows;
mod text;

use std::path::PathBuf;

use super::args::{Reading, check_header, check_out, read};
use super::console::{say, say_data};
use super::{Answer, Failure};
use crate::Error;
use crate::error::{hint, listed};
use crate::fit::{
    Formula, Levels, MODELS, Method, Problem, RobustLoss, SavedFit, SolveOptions, is_named, named, report, solve,
};
use crate::host;
use crate::io::Table;
use crate::program::parse::is_name;
use page::page;
use rows::Rows;
pub(super) use rows::levels;
pub(super) use text::{cautions, parameter_table, stop_text};
use text::{curve_chart, text};

#[derive(clap::Args)]
pub(super) struct Args {
    /// CSV, TSV, JSON lines, Parquet, XLSX, NPY or NPZ file, text also as .gz or .zst; - reads standard input
    file: PathBuf,
    #[arg(long, value_name = "FORMULA", help = model_help())]
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
    /// Threads; 0 = all. The result is the same for any number
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// JSON file to write; mero predict reads it
    #[arg(short, long, value_name = "JSON")]
    out: Option<PathBuf>,
    /// HTML page with data, curve, bands, residuals, correlations and convergence
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// Print only JSON, one object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Answer {
    for out in [&args.out, &args.report].into_iter().flatten() {
        check_out(out, &[("table", &args.file)])?;
    }
    let loss = RobustLoss::named(&args.loss)?;
    if let (RobustLoss::Linear, Some(_)) = (loss, args.loss_scale) {
        return Err(Failure::usage(
            "loss-scale: it applies to robust losses only: expected --loss soft_l1, huber, cauchy or arctan",
        ));
    }
    let options = args.options()?;
    let format = args.reading.format()?;
    let table = read(&args.file, &format)?;
    let names: Vec<&str> = table.names().collect();
    let mut formula = args.formula(&names)?;
    check_names(&formula, &names)?;
    for tie in &args.tie {
        let (name, text) = split(tie, "tie", "d=2*a")?;
        formula = formula.tied(name, text)?;
    }
    let target = args.target(&table, &formula)?;
    check_header(&table, format.header, [target.as_str()])?;
    let rows = Rows::of(args, &table, &formula, &target)?;
    let columns: Vec<(&str, &[f64])> =
        formula.columns().iter().map(String::as_str).zip(rows.columns.iter().map(Vec::as_slice)).collect();
    let levels: Vec<(&str, &Levels)> = formula.level_columns().into_iter().zip(&rows.levels).collect();
    let mut problem = Problem::with_levels(formula.clone(), &columns, &levels, &rows.y)?
        .loss(loss, args.loss_scale.unwrap_or(1.0))?;
    if let Some(sigma) = &rows.sigma {
        problem = problem.sigma(sigma, args.absolute_sigma)?;
    }
    problem = args.known(problem)?;
    let started = host::now_ms();
    let fit = solve(&problem, &options)?;
    let seconds = (host::now_ms() - started) / 1e3;
    let json = report(&problem, &fit, &target, seconds);
    if let Some(out) = &args.out {
        host::write_whole(out, format!("{json}\n").as_bytes())?;
    }
    let saved = SavedFit::parse(&json.to_string(), "fit")?;
    if let Some(report) = &args.report {
        host::write_whole(report, &page(&fit, &saved, &rows, &target, table.source())?)?;
    }
    if args.json {
        say_data(format!("{json}\n").as_bytes());
        return Ok(());
    }
    say(&text(&fit, &formula, &target, &rows, table.source()));
    if let Some(chart) = curve_chart(&saved, &rows, &target)? {
        say(chart.text().trim_start_matches('\n'));
    }
    Ok(())
}

impl Args {
    fn options(&self) -> Answer<SolveOptions> {
        let found = Method::ALL.into_iter().find(|(name, _)| *name == self.method);
        let Some((_, method)) = found else {
            let (names, got) = (Method::ALL.map(|(name, _)| name), &self.method);
            let (all, near) = (listed(&names), hint(got, names.into_iter()));
            return Err(Failure::usage(format!("method: got \"{got}\", expected one of {all}{near}")));
        };
        let (level, evaluations, threads, seed) = (self.level, self.max_evaluations, self.threads, self.seed);
        Ok(SolveOptions { method, level, evaluations, threads, seed })
    }

    /// The model: a formula, or a named model over the first column that is not y.
    fn formula(&self, names: &[&str]) -> Answer<Formula> {
        let model = self.model.trim();
        let others = [self.y.as_deref(), self.sigma.as_deref()];
        let first = names.iter().find(|name| !others.contains(&Some(**name)));
        let text = match first {
            // A column alone has no parameters, so a name that is both means the model.
            Some(first) if is_name(model) && (!names.contains(&model) || is_named(model)) => named(model, first)?,
            _ => model.to_owned(),
        };
        Ok(Formula::parse(&text, names).map_err(|error| explained(error, names))?)
    }

    /// The observed values: those of `--y`, or the last column that the model does not use.
    fn target(&self, table: &Table, formula: &Formula) -> Answer<String> {
        if let Some(y) = &self.y {
            return Ok(y.clone());
        }
        let is_used = |name: &str| {
            formula.columns().iter().any(|known| known == name)
                || formula.level_columns().contains(&name)
                || self.sigma.as_deref() == Some(name)
        };
        let unused = table.names().filter(|name| !is_used(name)).last();
        let error =
            || Failure::usage("y: the model uses every column: expected --y with the column of the observed values");
        unused.map(str::to_owned).ok_or_else(error)
    }

    /// The problem with starts, bounds and fixed parameters.
    fn known<'a>(&self, mut problem: Problem<'a>) -> Answer<Problem<'a>> {
        if self.method != "lm" {
            problem = problem.usual_bounds();
        }
        for (name, text) in pairs(&self.bounds, "bounds", "a=0:10")? {
            let [low, high] = range(name, text)?;
            problem = problem.bounds(name, low, high)?;
        }
        for (name, text) in pairs(&self.p0, "p0", "a=1,b=0.1")? {
            problem = problem.start(name, value("p0", name, text)?)?;
        }
        for (name, text) in pairs(&self.fix, "fix", "c=0")? {
            problem = problem.fix(name, value("fix", name, text)?)?;
        }
        Ok(problem)
    }
}

/// Errors if the formula uses no column; perhaps a parameter is a mistyped one.
fn check_names(formula: &Formula, names: &[&str]) -> Answer {
    if !formula.columns().is_empty() {
        return Ok(());
    }
    let like = |name: &String| names.iter().find(|column| column.eq_ignore_ascii_case(name));
    let near = formula.parameters().iter().find_map(like);
    let near = near.map_or(String::new(), |column| format!("; did you mean \"{column}\"?"));
    let columns = listed(names);
    Err(Failure::usage(format!("model: it uses no column: expected at least one of {columns}{near}")))
}

fn model_help() -> String {
    let models: Vec<String> = MODELS.iter().map(|model| format!("{} ({})", model.name, model.summary)).collect();
    format!(
        "Formula over columns and parameters, such as \"a*exp(-b*x)+c\"; names that are not columns are parameters. Or named models, alone or in a \
         formula, such as \"gaussian(x) + line(x)\": {}, polynomial(x, degree)",
        models.join("; ")
    )
}

/// `a=1,b=2` of all given texts as names and texts.
pub(super) fn pairs<'a>(given: &'a [String], option: &str, example: &str) -> Answer<Vec<(&'a str, &'a str)>> {
    let pairs: Vec<(&str, &str)> = given
        .iter()
        .flat_map(|text| text.split(','))
        .map(|pair| split(pair, option, example))
        .collect::<Answer<_>>()?;
    let twice = (1..pairs.len()).find(|&at| pairs[..at].iter().any(|(name, _)| *name == pairs[at].0));
    match twice {
        Some(at) => Err(Failure::usage(format!("{option}: \"{}\" is given twice", pairs[at].0))),
        None => Ok(pairs),
    }
}

fn split<'a>(pair: &'a str, option: &str, example: &str) -> Answer<(&'a str, &'a str)> {
    let parts = pair.split_once('=').map(|(name, text)| (name.trim(), text.trim()));
    let parts = parts.filter(|(name, text)| !name.is_empty() && !text.is_empty());
    parts.ok_or_else(|| Failure::usage(format!("{option}: got \"{pair}\", expected name=value, such as {example}")))
}

/// Bounds such as `0:10`, `0:` or `:10`.
pub(super) fn range(name: &str, text: &str) -> Answer<[f64; 2]> {
    let wrong =
        || Failure::usage(format!("bounds: {name}: got \"{text}\", expected low:high, such as 0:10, 0: or :10"));
    let (low, high) = text.split_once(':').ok_or_else(wrong)?;
    let end = |text: &str, open: f64| if text.is_empty() { Some(open) } else { host::parse_number(text) };
    let (low, high) = end(low, f64::NEG_INFINITY).zip(end(high, f64::INFINITY)).ok_or_else(wrong)?;
    Ok([low, high])
}

pub(super) fn value(option: &str, name: &str, text: &str) -> Answer<f64> {
    let wrong = || Failure::usage(format!("{option}: {name}: got \"{text}\", expected a number"));
    host::parse_number(text).ok_or_else(wrong)
}

/// An error of the formula with the columns of the table.
fn explained(error: Error, names: &[&str]) -> Error {
    let message = error.to_string();
    if message.starts_with("model: ") {
        return error;
    }
    let is_word = |name: &&&str| !is_name(name) || name.contains('-');
    let odd = names.iter().find(is_word).map_or(String::new(), |name| {
        format!("; to use \"{name}\", rename it: names in a formula have only letters, digits and _")
    });
    Error::usage(format!("model: {message}; columns are {}{odd}", listed(names)))
}
