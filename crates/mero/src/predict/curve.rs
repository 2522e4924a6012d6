//! `mero predict` with a fit of `mero fit`: values and bands for every row.

use std::path::Path;

use super::args::Args;
use super::columns::beside;
use crate::Answer;
use crate::levels::levels;
use crate::options::contents::PREDICTIONS;
use crate::options::outputs::write_out;
use crate::options::reading::{check_header, read_with_bytes, say_notes};
use crate::terminal::console;
use meromorph::Result;
use meromorph::files::csv::{self, Values};
use meromorph::fit::{FitPrediction, Levels, SavedFit};

pub(crate) fn run(args: &Args, fit: &SavedFit, interval: Option<f64>, out: Option<&Path>) -> Answer {
    let level = interval.unwrap_or(fit.level());
    let format = args.reading.format()?;
    let (table, bytes) = read_with_bytes(&args.file, &format)?;
    say_notes("predict", &table);
    let names = fit.formula().columns();
    check_header(&table, format.header, names.iter().map(String::as_str))?;
    let columns: Vec<&[f64]> = names.iter().map(|name| table.numbers(name)).collect::<Result<_>>()?;
    let every: Vec<usize> = (0..table.rows()).collect();
    let levels: Vec<Levels> = fit
        .formula()
        .level_columns()
        .into_iter()
        .map(|name| table.position(name).map(|at| levels(&table.columns()[at], &every)))
        .collect::<Result<_>>()?;
    let levels: Vec<&Levels> = levels.iter().collect();
    let FitPrediction { values, confidence, prediction } =
        fit.predict_levels(&columns, &levels, table.rows(), level)?;
    // A row with a missing cell has a NaN, which is an empty cell.
    let around = |widths: &[f64], sign: f64| -> Vec<f64> {
        values.iter().zip(widths).map(|(value, width)| value + sign * width).collect()
    };
    let bands =
        [around(&confidence, -1.0), around(&confidence, 1.0), around(&prediction, -1.0), around(&prediction, 1.0)];
    let titles = ["confidence_lower", "confidence_upper", "lower", "upper"];
    let mut written: Vec<(&str, Values<'_>)> = vec![("prediction", Values::F64(&values))];
    let given = titles.into_iter().zip(&bands).filter(|(_, band)| band.len() == values.len());
    written.extend(given.map(|(title, band)| (title, Values::F64(band))));
    let text = if args.with_inputs { beside(&written, &table, bytes.as_ref())? } else { csv::write(&written) };
    match out {
        Some(out) => write_out(out, &PREDICTIONS, &text, args.force.force)?,
        None => console::say_data(&text),
    }
    Ok(())
}
