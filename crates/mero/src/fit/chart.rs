//! Data and curve of a fit as a chart.

use meromorph::error::Result;
use meromorph::fit::{FitPrediction, FitRows, Levels, SavedFit};
use meromorph::internal::host::number;
use meromorph::report::{Axis, Band, Chart, Series};

/// Points of a chart, at most: more make a page slow and show nothing more.
pub(super) const MOST_DRAWN: usize = 5_000;

/// Groups of rows in a chart, at most.
const MOST_GROUPS: usize = 8;

/// What a chart shows besides data and curve.
#[derive(Clone, Copy, Default)]
pub(super) struct Look {
    /// Whether the axis of x, and that of y, has equal steps for equal ratios.
    pub(super) log: [bool; 2],
    /// Whether summands of the model are drawn.
    pub(super) has_components: bool,
}

impl Look {
    pub(super) fn axis(self, place: usize, name: &str) -> Axis {
        if self.log[place] { Axis::log(name) } else { Axis::linear(name) }
    }

    /// Places along an axis, from the smallest value that has a place on it to the largest.
    fn places(self, x: &[f64]) -> Vec<f64> {
        let shown = x.iter().copied().filter(|x| !self.log[0] || *x > 0.0);
        let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let share = |at: i32| f64::from(at) / 300.0;
        let place = |at: i32| {
            if self.log[0] { low * (high / low).powf(share(at)) } else { low + (high - low) * share(at) }
        };
        (0..=300).map(place).collect()
    }
}

/// Data, curve and bands over the one column of the model, if it has one; a curve for each group of rows if parameters have levels.
pub(super) fn curve_chart(saved: &SavedFit, rows: &FitRows<'_>, target: &str, look: Look) -> Result<Option<Chart>> {
    let ([x], [name]) = (&rows.columns[..], saved.formula().columns()) else { return Ok(None) };
    let places = look.places(x);
    let mut chart = Chart::new("Data and model", look.axis(0, name), look.axis(1, target));
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
    chart = chart.series(Series::dots("data", dots(&|_| true))).series(Series::line("model", line(&values)));
    if look.has_components {
        for (name, values) in saved.components(&[&places], places.len())? {
            chart = chart.series(Series::line(name, line(&values)));
        }
    }
    Ok(Some(chart))
}
