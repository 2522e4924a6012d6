//! Data and curve of a fit as a chart.

use super::rows::Rows;
use meromorph::error::Result;
use meromorph::fit::{FitPrediction, Levels, SavedFit};
use meromorph::internal::host::number;
use meromorph::report::{Axis, Band, Chart, Series};

/// Points of a chart, at most: more make a page slow and show nothing more.
pub(super) const MOST_DRAWN: usize = 5_000;

/// Groups of rows in a chart, at most.
const MOST_GROUPS: usize = 8;

/// Data, curve and bands over the one column of the model, if it has one; a curve for each group of rows if parameters have levels.
pub(super) fn curve_chart(saved: &SavedFit, rows: &Rows, target: &str) -> Result<Option<Chart>> {
    let ([x], [name]) = (&rows.columns[..], saved.formula().columns()) else { return Ok(None) };
    let (low, high) = x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
    let places: Vec<f64> = (0..=300).map(|at| low + (high - low) * f64::from(at) / 300.0).collect();
    let mut chart = Chart::new("Data and model", Axis::linear(name), Axis::linear(target));
    let apart = rows.y.len().div_ceil(MOST_DRAWN);
    let dots = |picked: &dyn Fn(usize) -> bool| -> Vec<[f64; 2]> {
        let every = (0..rows.y.len()).filter(|&row| picked(row)).step_by(apart);
        every.map(|row| [x[row], rows.y[row]]).collect()
    };
    let line = |values: &[f64]| places.iter().zip(values).map(|(x, y)| [*x, *y]).collect();
    if !rows.levels.is_empty() {
        let combination = |row: usize| rows.levels.iter().map(|levels| levels.codes[row]).collect::<Vec<u32>>();
        let mut groups: Vec<Vec<u32>> = (0..rows.y.len()).map(combination).collect();
        groups.sort_unstable();
        groups.dedup();
        if groups.len() > MOST_GROUPS {
            chart = chart.note(format!("The first {MOST_GROUPS} of {} groups of rows.", groups.len()));
        }
        for group in groups.iter().take(MOST_GROUPS) {
            let texts: Vec<&str> =
                rows.levels.iter().zip(group).map(|(levels, &code)| levels.names[code as usize].as_str()).collect();
            let same = |(levels, &code): (&Levels, &u32)| {
                let names = vec![levels.names[code as usize].clone()];
                Levels { names, codes: vec![0; places.len()] }
            };
            let own: Vec<Levels> = rows.levels.iter().zip(group).map(same).collect();
            let own: Vec<&Levels> = own.iter().collect();
            let values = saved.predict_levels(&[&places], &own, places.len(), saved.level())?.values;
            let label = texts.join(", ");
            chart = chart
                .series(Series::dots(label.clone(), dots(&|row| combination(row) == *group)))
                .series(Series::line(format!("model, {label}"), line(&values)));
        }
        return Ok(Some(chart));
    }
    let FitPrediction { values, confidence, prediction } = saved.predict(&[&places], places.len(), saved.level())?;
    let band = |name: String, widths: &[f64]| {
        let points = places.iter().zip(&values).zip(widths).map(|((x, y), width)| [*x, y - width, y + width]);
        Band::new(name, points.collect())
    };
    let percent = number(100.0 * saved.level());
    if !prediction.is_empty() {
        chart = chart.band(band(format!("{percent} % of new rows"), &prediction));
    }
    chart = chart.band(band(format!("{percent} % of the curve"), &confidence));
    Ok(Some(chart.series(Series::dots("data", dots(&|_| true))).series(Series::line("model", line(&values)))))
}
