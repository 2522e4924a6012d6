//! `mero fit` where every free parameter has a value for each group of rows: a table of fits.

use std::path::Path;

use super::args::Args;
use super::running::CPU;
use crate::options::contents::FITS;
use crate::options::outputs::keep_out;
use crate::terminal::console::{say, say_data};
use crate::{Answer, Failure};
use meromorph::Result;
use meromorph::files::csv::{self, Values};
use meromorph::fit::{FitOptions, Fits, Problem, SmallFit, Spread, report_many, solve_each};
use meromorph::internal::host;
use meromorph::report::{Table as TextTable, count, counted, figure};

/// Solves the fits, writes them as a table and shows a summary.
pub(super) fn run(args: &Args, problem: &Problem<'_>, options: &FitOptions, target: &str, source: &str) -> Answer {
    if args.report.is_some() {
        return Err(Failure::usage(
            "report: a page shows one fit, and these are many: expected --out with a table such as fits.csv",
        ));
    }
    if let Some(out) = args.out.as_deref().filter(|out| !is_table(out)) {
        let out = out.display();
        return Err(Failure::usage(format!(
            "out: got {out}, expected a name ending in .csv: many fits are written as a table"
        )));
    }
    if args.running.device != CPU {
        let device = &args.running.device;
        return Err(Failure::usage(format!(
            "device: got {device}, expected cpu: many fits are solved in batches on the cpu"
        )));
    }
    if args.print.is_some() {
        return Err(Failure::usage(
            "print: it writes one fit, and these are many: expected --out with a table such as fits.csv",
        ));
    }
    if options.profile || options.bootstrap > 0 || options.sample > 0 || options.sigma_x.is_some() {
        return Err(Failure::usage(
            "sigma-x, profile, bootstrap and sample are about one fit, and these are many: expected the rows of one, as by --where",
        ));
    }
    let started = host::now_ms();
    let fits = solve_each(problem, &options.for_many(problem))?;
    let derived =
        options.derive.iter().map(|(name, text)| Ok((name.clone(), fits.derived(problem.formula(), name, text)?)));
    let derived: Vec<(String, Vec<[f64; 2]>)> = derived.collect::<Result<_>>()?;
    let seconds = (host::now_ms() - started) / 1e3;
    if let Some(out) = &args.out {
        keep_out(out, &FITS, &table(&fits, &derived), args.force)?;
    }
    if args.json {
        say_data(format!("{}\n", report_many(&fits, &args.model, target, seconds)).as_bytes());
    } else {
        say(&text(&fits, &args.model, target, source, seconds));
    }
    if fits.converged() == 0 {
        return Err(Failure::NotConverged("no fit converged".to_owned()));
    }
    Ok(())
}

/// Whether the name of an output says that it is a table.
pub(super) fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"))
}

/// A row for each group: levels, values and standard errors, and how the fit ended.
fn table(fits: &Fits, derived: &[(String, Vec<[f64; 2]>)]) -> Vec<u8> {
    let texts = |at: usize| fits.levels.iter().map(|levels| levels[at].clone()).collect::<Vec<String>>();
    let levels: Vec<Vec<String>> = (0..fits.columns.len()).map(texts).collect();
    let numbers = |pick: &dyn Fn(&SmallFit) -> f64| -> Vec<f64> {
        let known = |value: f64| if value.is_finite() { value } else { f64::NAN };
        fits.fits.iter().map(|fit| fit.as_ref().map_or(f64::NAN, |fit| known(pick(fit)))).collect()
    };
    let mut named: Vec<(String, Vec<f64>)> = Vec::new();
    for (at, name) in fits.parameters.iter().enumerate() {
        named.push((name.clone(), numbers(&|fit| fit.values[at])));
        if let Some(place) = fits.free.iter().position(|&free| free == at) {
            named.push((format!("{name}_stderr"), numbers(&|fit| fit.stderr(place))));
        }
    }
    for (name, values) in derived {
        let known = |value: f64| if value.is_finite() { value } else { f64::NAN };
        for (place, name) in [name.clone(), format!("{name}_stderr")].into_iter().enumerate() {
            named.push((name, values.iter().map(|value| known(value[place])).collect()));
        }
    }
    named.push(("rms_residual".to_owned(), numbers(&|fit| fit.rmse)));
    named.push(("rows".to_owned(), numbers(&|fit| fit.rows as f64)));
    let stops: Vec<String> = fits
        .fits
        .iter()
        .map(|fit| match fit {
            Ok(fit) if fit.stop.is_converged() => "converged".to_owned(),
            Ok(fit) => format!("not converged: {}", fit.stop.name()),
            Err(error) => error.to_string(),
        })
        .collect();
    let mut columns: Vec<(&str, Values<'_>)> =
        fits.columns.iter().zip(&levels).map(|(name, texts)| (name.as_str(), Values::Texts(texts))).collect();
    columns.extend(named.iter().map(|(name, values)| (name.as_str(), Values::F64(values))));
    columns.push(("stop", Values::Texts(&stops)));
    csv::write(&columns)
}

fn text(fits: &Fits, model: &str, target: &str, source: &str, seconds: f64) -> String {
    let (all, done) = (fits.fits.len(), fits.converged());
    let by = fits.columns.join(", ");
    let mut text = format!("{target} = {model}\n{} of {source}, one for each {by}\n\n", counted(all, "fit"));
    let mut shown = TextTable::new(["parameter", "least", "5 %", "median", "95 %", "largest", "median standard error"]);
    for (at, name) in fits.parameters.iter().enumerate() {
        let Spread { quantiles, stderr } = fits.spread(at);
        let error = stderr.map_or("–".to_owned(), figure);
        shown = shown.row([name.clone()].into_iter().chain(quantiles.map(figure)).chain([error]));
    }
    text += &shown.text();
    let rate =
        if seconds > 0.0 { format!(", {} a second", count((all as f64 / seconds) as u64)) } else { String::new() };
    text += &format!("\n\n{} of {} converged{rate}\n", count(done as u64), counted(all, "fit"));
    if let Some((group, error)) =
        fits.fits.iter().enumerate().find_map(|(group, fit)| Some((group, fit.as_ref().err()?)))
    {
        let failed = fits.fits.iter().filter(|fit| fit.is_err()).count();
        text +=
            &format!("{} failed; the first, {by} = {}: {error}\n", count(failed as u64), fits.levels[group].join(", "));
    }
    text
}
