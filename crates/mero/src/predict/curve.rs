//! `mero predict` with a fit of `mero fit`: values and bands for every row.

use std::path::Path;

use super::args::Args;
use super::columns::beside;
use crate::Answer;
use crate::options::contents::PREDICTIONS;
use crate::options::outputs::write_out;
use crate::options::reading::{check_header, read_with_bytes, say_notes};
use crate::terminal::console;
use meromorph::Result;
use meromorph::error::listed;
use meromorph::files::csv::{self, Values};
use meromorph::fit::{FitPrediction, FitTable, Levels, SavedFit};

/// The prediction of the rows whose levels the fit had; others have no numbers.
fn known(
    fit: &SavedFit,
    columns: &[&[f64]],
    levels: &[Levels],
    unknown: &[(usize, String)],
    level: f64,
) -> Result<FitPrediction> {
    let rows = columns.first().map(|column| column.len()).or(levels.first().map(|levels| levels.codes.len()));
    let rows = rows.unwrap_or(0);
    let is_known = |row: &usize| unknown.binary_search_by_key(row, |(row, _)| *row).is_err();
    let kept: Vec<usize> = (0..rows).filter(is_known).collect();
    let columns: Vec<Vec<f64>> = columns.iter().map(|column| kept.iter().map(|&row| column[row]).collect()).collect();
    let of_kept = |levels: &Levels| {
        let codes = kept.iter().map(|&row| levels.codes[row]).collect();
        Levels { names: levels.names.clone(), codes }
    };
    let levels: Vec<Levels> = levels.iter().map(of_kept).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let predicted = fit.predict_levels(&columns, &levels.iter().collect::<Vec<_>>(), kept.len(), level)?;
    let spread = |values: Vec<f64>| {
        let mut all = vec![f64::NAN; if values.is_empty() { 0 } else { rows }];
        kept.iter().zip(values).for_each(|(&row, value)| all[row] = value);
        all
    };
    let FitPrediction { values, confidence, prediction } = predicted;
    Ok(FitPrediction { values: spread(values), confidence: spread(confidence), prediction: spread(prediction) })
}

/// A note for each row without a prediction; also says so once.
fn notes(unknown: &[(usize, String)], rows: usize) -> Option<Vec<String>> {
    let (first, _) = unknown.first()?;
    let mut texts = vec![String::new(); rows];
    for (row, levels) in unknown {
        texts[*row] = format!("{levels}: the fit did not have it");
    }
    let mut levels: Vec<&str> = unknown.iter().map(|(_, levels)| levels.as_str()).collect();
    levels.sort_unstable();
    levels.dedup();
    let (count, row, listed) = (unknown.len(), first + 1, listed(&levels));
    console::complain(&format!(
        "mero predict: {count} of {rows} rows without a prediction, the first in row {row}: the fit did not have {listed}; see the column note"
    ));
    Some(texts)
}

pub(crate) fn run(args: &Args, fit: &SavedFit, interval: Option<f64>, out: Option<&Path>) -> Answer {
    let level = interval.unwrap_or(fit.level());
    let format = args.reading.format()?;
    let (table, bytes) = read_with_bytes(&args.file, &format)?;
    say_notes("predict", &table);
    let names = fit.formula().columns();
    check_header(&table, format.header, names.iter().map(String::as_str))?;
    let columns: Vec<&[f64]> = names.iter().map(|name| table.numbers(name)).collect::<Result<_>>()?;
    let levels: Vec<Levels> = fit
        .formula()
        .level_columns()
        .into_iter()
        .map(|name| FitTable::cells(&table, name).map(|cells| cells.levels(0..table.rows())))
        .collect::<Result<_>>()?;
    let mut unknown = fit.unknown_levels(&levels.iter().collect::<Vec<_>>(), table.rows());
    if unknown.len() == table.rows() {
        // There is nothing to predict, which the prediction says.
        unknown.clear();
    }
    let FitPrediction { values, confidence, prediction } = known(fit, &columns, &levels, &unknown, level)?;
    let notes = notes(&unknown, table.rows());
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
    written.extend(notes.as_ref().map(|notes| ("note", Values::Texts(notes))));
    let text = if args.with_inputs { beside(&written, &table, bytes.as_ref())? } else { csv::write(&written) };
    match out {
        Some(out) => write_out(out, &PREDICTIONS, &text, args.force.force)?,
        None => console::say_data(&text),
    }
    Ok(())
}
