//! `mero fit`: fits a formula to columns of a table.

mod args;
mod chart;
pub(crate) mod checkpoint;
pub(crate) mod log;
mod many;
mod page;
mod rows;
pub(crate) mod running;
pub(crate) mod solving;
mod stream;
mod text;
pub(crate) mod timings;

use std::path::Path;

use serde_json::json;

use crate::options::contents::{FIT, FITS, LOG, PAGE};
use crate::options::outputs::{check_outs, keep_out};
use crate::options::reading::{check_header, read, say_notes};
use crate::saved::load_fit;
use crate::terminal::console::{complain, say, say_data, say_json};
use crate::terminal::interrupt;
use crate::{Answer, Failure};
pub(super) use args::Args;
use chart::curve_chart;
use meromorph::files::{Format, RowSource};
use meromorph::fit::{FTest, Fit, FitOptions, Formula, Levels, Problem, SavedFit, add_profiles, report, sealed};
use meromorph::internal::host::{self, FileLock};
use meromorph::internal::json::Json;
use page::page;
use rows::Rows;
use stream::{Input, places};
use text::text;
use timings::Timings;

pub(super) fn run(args: &Args) -> Answer {
    let fit = if args.out.as_deref().is_some_and(many::is_table) { &FITS } else { &FIT };
    let outs = [
        ("fit", args.out.as_deref(), Some(fit)),
        ("page", args.report.as_deref(), Some(&PAGE)),
        ("log", args.running.log_path(), Some(&LOG)),
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
    let rows = Rows::of(options, &table, &formula, &target)?;
    let columns: Vec<(&str, &[f64])> =
        formula.columns().iter().map(String::as_str).zip(rows.columns.iter().map(Vec::as_slice)).collect();
    let levels: Vec<(&str, &Levels)> = formula.level_columns().into_iter().zip(&rows.levels).collect();
    let mut problem = Problem::with_levels(formula.clone(), &columns, &levels, &rows.y)?;
    if let Some(sigma) = &rows.sigma {
        problem = problem.sigma(sigma, options.absolute_sigma)?;
    }
    let problem = options.completed(problem)?;
    if problem.is_many() && args.running.timings {
        return Err(Failure::usage(
            "timings: many fits are solved in one pass over their rows: expected a fit of all rows",
        ));
    }
    if problem.is_many() {
        return many::run(args, &problem, &options.solve, &target, table.source());
    }
    finish(args, (&problem, timings), options, &rows, &target, table.source())
}

/// A fit of rows that are read by ranges.
fn of_rows(args: &Args, source: Box<dyn RowSource>, options: &FitOptions) -> Answer {
    let names: Vec<&str> = source.columns().iter().map(String::as_str).collect();
    let (formula, target) = model(args, options, &names)?;
    let places = places(&*source, options, &formula, &target)?;
    let plan = args.planned(&*source, &places)?;
    if args.running.plan {
        return Ok(());
    }
    let timings = Timings::new(&args.running, args.running.timings);
    let source = Args::kept(Box::new(timings.metered(source)), &places, &plan)?;
    let sigma = options.sigma.as_deref().map(|name| (name, options.absolute_sigma));
    let rows = stream::sampled(&*source, &places, &formula, sigma.is_some())?;
    let problem = Problem::read(formula, &*source, &target, sigma, options.drops_missing)?;
    let problem = options.completed(problem.strategy(plan.strategy))?;
    let rows = Rows { dropped: source.rows() - problem.rows(), ..rows };
    finish(args, (&problem, timings), options, &rows, &target, &args.file.display().to_string())
}

/// Solves the fit, and writes and shows its result.
fn finish(
    args: &Args,
    (problem, mut timings): (&Problem<'_>, Timings),
    options: &FitOptions,
    rows: &Rows,
    target: &str,
    source: &str,
) -> Answer {
    let started = host::now_ms();
    let smaller = args.against.as_deref().map(load_fit).transpose()?;
    let (mut fit, checkpoint) = args.solve(problem, options, rows, &mut timings)?;
    if options.profile {
        add_profiles(problem, &mut fit, &options.solve)?;
    }
    let seconds = (host::now_ms() - started) / 1e3;
    let mut json = report(problem, &fit, target, seconds);
    let timings = timings.told()?;
    if let (Some((timings, _)), Json::Fields(fields)) = (&timings, &mut json) {
        fields.push(("timings".to_owned(), timings.clone()));
        json = sealed(json);
    }
    let test =
        smaller.map(|smaller| smaller.tested_against(&SavedFit::parse(&json.to_string(), "fit")?)).transpose()?;
    if let Some(out) = &args.out {
        keep_out(out, &FIT, format!("{json}\n").as_bytes(), args.force)?;
    }
    let saved = SavedFit::parse(&json.to_string(), "fit")?;
    if let Some(report) = &args.report {
        keep_out(report, &PAGE, &page(&fit, &saved, rows, target, source)?, args.force)?;
    }
    // What it would save again is written.
    if let Some(checkpoint) = checkpoint {
        checkpoint.remove()?;
    }
    if args.json {
        if let Some(FTest { f, dof: [more, dof], p, aic_difference }) = test {
            say_json(&json!({
                "event": "test", "f": f, "additional_parameters": more, "dof": dof, "p": p, "aic_difference": aic_difference,
            }));
        }
        say_data(format!("{json}\n").as_bytes());
        return converged(&fit);
    }
    say(&text(&fit, saved.formula(), target, rows, source));
    if let Some(test) = test {
        say(&text::tested(&test));
    }
    if let Some(chart) = curve_chart(&saved, rows, target)? {
        say(chart.text().trim_start_matches('\n'));
    }
    if let Some((_, text)) = timings {
        say(&text);
    }
    converged(&fit)
}

/// An error for a fit that did not converge, so that scripts notice.
fn converged(fit: &Fit) -> Answer {
    if fit.stop.is_converged() {
        return Ok(());
    }
    Err(Failure::NotConverged(format!(
        "the fit did not converge ({}): its parameters are not those of a minimum",
        fit.stop.name()
    )))
}
