//! `mero fit`: fits a formula to columns of a table.

mod args;
mod chart;
pub(crate) mod checkpoint;
mod compared;
pub(crate) mod log;
mod many;
mod page;
mod print;
mod rows;
pub(crate) mod running;
pub(crate) mod solving;
mod stream;
mod text;
pub(crate) mod timings;

use std::path::Path;

use crate::options::contents::{FIT, FITS, LOG, PAGE, SAMPLES};
use crate::options::outputs::{check_outs, keep_out};
use crate::options::reading::{check_header, read, say_notes};
use crate::saved::load_fit;
use crate::terminal::console::{complain, say, say_data, say_json};
use crate::terminal::interrupt;
use crate::{Answer, Failure};
pub(super) use args::Args;
use chart::curve_chart;
use compared::Comparison;
use meromorph::files::{Format, RowSource};
use meromorph::fit::{
    Background, ColumnFormula, ComputedRows, Fit, FitOptions, FitRows, Formula, Problem, SavedFit, report, sealed,
};
use meromorph::internal::host::{self, FileLock};
use meromorph::internal::json::Json;
use meromorph::options::Naming;
use page::page;
use stream::{Input, places};
use text::text;
use timings::Timings;

pub(super) fn run(args: &Args) -> Answer {
    let fit = if args.out.as_deref().is_some_and(many::is_table) { &FITS } else { &FIT };
    let outs = [
        ("fit", args.out.as_deref(), Some(fit)),
        ("page", args.report.as_deref(), Some(&PAGE)),
        ("log", args.running.log_path(), Some(&LOG)),
        ("samples", args.samples_out.as_deref(), Some(&SAMPLES)),
        // It is read and judged once the data are there.
        ("checkpoint", args.running.checkpoint.as_deref(), None),
    ];
    let inputs = [("table", Some(args.file.as_path())), ("other fit", args.against.as_deref())];
    let inputs: Vec<(&str, &Path)> = inputs.into_iter().filter_map(|(what, path)| Some((what, path?))).collect();
    check_outs(&outs, &inputs, args.force)?;
    let _lock = args.running.checkpoint.as_deref().map(FileLock::of).transpose()?;
    interrupt::watch_until_work();
    args.running.hardware().check()?;
    let options = args.options()?;
    if args.samples_out.is_some() && options.sample == 0 {
        return Err(Failure::usage("samples-out: there are no draws: expected --sample, such as --sample 10000"));
    }
    let format = args.reading.format()?;
    match args.input(&format)? {
        Input::Table => of_table(args, &format, &options),
        Input::Rows(source) => of_rows(args, source, &options),
    }
}

/// The formula of the model, and what is observed.
fn model(args: &Args, options: &FitOptions, names: &[&str]) -> Answer<(Formula, String)> {
    let formula = options.formula(&args.model, names)?;
    let target = options.target(names, &formula)?;
    if let Some(note) = options.target_note(names, &formula, &target, Naming::Command) {
        complain(&format!("mero fit: {note}"));
    }
    let is_euler = args.model.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "e");
    if is_euler && !names.contains(&"e") {
        complain("mero fit: e in the model is 2.718…, not a parameter; a parameter needs another name");
    }
    Ok((formula, target))
}

/// A fit of a table in memory.
fn of_table(args: &Args, format: &Format, options: &FitOptions) -> Answer {
    let mut timings = Timings::new(&args.running, args.running.timings);
    let table = read(&args.file, format)?;
    timings.table_is_read();
    say_notes("fit", &table);
    let names: Vec<&str> = table.names().collect();
    let (formula, target) = model(args, options, &names)?;
    check_header(&table, format.header, [target.as_str()])?;
    let mut rows = FitRows::of(options, &table, &formula, &target, Naming::Command)?;
    rows.subtract_background(options, &formula)?;
    let target = options.without_background(target);
    let problem = rows.problem(options, &formula)?;
    if problem.is_many() && args.running.timings {
        return Err(Failure::usage(
            "timings: many fits are solved in one pass over their rows: expected a fit of all rows",
        ));
    }
    if problem.is_many() {
        return many::run(args, &problem, options, &target, table.source());
    }
    finish(args, (&problem, timings), options, &rows, &target, table.source())
}

/// A fit of rows that are read by ranges.
fn of_rows(args: &Args, source: Box<dyn RowSource>, options: &FitOptions) -> Answer {
    let whole = [("background", options.background != Background::None), ("sigma-x", options.sigma_x.is_some())];
    if let Some((name, _)) = whole.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::usage(format!("{name}: rows are read in parts: expected --strategy standard")));
    }
    let names: Vec<&str> = source.columns().iter().map(String::as_str).collect();
    let (formula, target) = model(args, options, &names)?;
    let y = ColumnFormula::parse("y", &target, &names)?;
    let (sigma, condition) = (options.sigma(&names)?, options.condition(&names)?);
    let computed = [Some(&y), sigma.as_ref(), condition.as_ref()].into_iter().flatten();
    let used = computed.flat_map(ColumnFormula::columns).chain(formula.columns()).map(String::as_str);
    let used = places(&*source, used.chain(formula.level_columns()));
    let plan = args.planned(&*source, &used)?;
    if args.running.plan {
        return Ok(());
    }
    let timings = Timings::new(&args.running, args.running.timings);
    let sigma_text = sigma.as_ref().map(|sigma| sigma.text().to_owned());
    let (is_conditional, drops) = (condition.is_some(), options.drops_missing);
    let source = Args::kept(Box::new(timings.metered(source)), &used, &plan)?;
    let source = ComputedRows::new(source, y, sigma, condition, drops);
    let sigma = sigma_text.as_deref().map(|text| (text, options.absolute_sigma));
    let named = formula.columns().iter().map(String::as_str).chain([target.as_str()]).chain(sigma_text.as_deref());
    let read = places(&source, named.chain(formula.level_columns()));
    let rows = stream::sampled(&source, &read, &formula, sigma.is_some())?;
    let problem = Problem::read(formula, &source, &target, sigma, drops || is_conditional)?;
    let problem = options.completed(problem.strategy(plan.strategy))?;
    let without = source.rows() - problem.rows();
    let rows =
        if is_conditional { FitRows { excluded: without, ..rows } } else { FitRows { dropped: without, ..rows } };
    finish(args, (&problem, timings), options, &rows, &target, &args.file.display().to_string())
}

/// Solves the fit, and writes and shows its result.
fn finish(
    args: &Args,
    (problem, mut timings): (&Problem<'_>, Timings),
    options: &FitOptions,
    rows: &FitRows<'_>,
    target: &str,
    source: &str,
) -> Answer {
    let started = host::now_ms();
    let other = args.against.as_deref().map(load_fit).transpose()?;
    let (mut fit, checkpoint) = args.solve(problem, options, rows, &mut timings)?;
    options.add_figures(problem, &mut fit, rows.sigma_x.as_deref())?;
    let seconds = (host::now_ms() - started) / 1e3;
    let mut json = report(problem, &fit, target, seconds);
    let timings = timings.ended()?;
    if let (Some((timings, _)), Json::Fields(fields)) = (&timings, &mut json) {
        fields.push(("timings".to_owned(), timings.clone()));
        json = sealed(json);
    }
    let saved = SavedFit::parse(&json.to_string(), "fit")?;
    let test = other.map(|other| Comparison::of(problem, &other, &saved, rows)).transpose()?;
    if let Some(out) = &args.out {
        keep_out(out, &FIT, format!("{json}\n").as_bytes(), args.force)?;
    }
    if let (Some(out), Some(posterior)) = (&args.samples_out, &fit.posterior) {
        keep_out(out, &SAMPLES, &print::draws(&fit.free, posterior), args.force)?;
    }
    if let Some(report) = &args.report {
        keep_out(report, &PAGE, &page(&fit, &saved, rows, (target, source), args.look())?, args.force)?;
    }
    // What it would save again is written.
    if let Some(checkpoint) = checkpoint {
        checkpoint.remove()?;
    }
    if args.json {
        if let Some(test) = test {
            say_json(&test.json());
        }
        say_data(format!("{json}\n").as_bytes());
        return converged(&fit);
    }
    if let Some(form) = args.print {
        say_data(print::printed(form, &fit, &saved)?.as_bytes());
        return converged(&fit);
    }
    say(&text(&fit, saved.formula(), target, rows, source));
    if let Some(test) = test {
        say(&text::tested(&test));
    }
    if let Some(chart) = curve_chart(&saved, rows, target, args.look())? {
        say(chart.text().trim_start_matches('\n'));
    }
    if let Some((_, text)) = timings {
        say(&text);
    }
    converged(&fit)
}

/// An error for a fit that did not converge, so that scripts notice.
pub(crate) fn converged(fit: &Fit) -> Answer {
    if fit.stop.is_converged() {
        return Ok(());
    }
    Err(Failure::NotConverged(format!(
        "the fit did not converge ({}): its parameters are not those of a minimum",
        fit.stop.name()
    )))
}
