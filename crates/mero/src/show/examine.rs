//! What a model makes of its columns: importance as bars, partial dependence as charts.

use pollster::block_on;

use crate::Answer;
use crate::terminal::progress::Progress;
use meromorph::Device;
use meromorph::files::Table;
use meromorph::judge::{ExamineOptions, ImportanceReport, Partial, importance, partial};
use meromorph::model::Model;
use meromorph::report::{Axis, Chart, Series, Style, Table as TextTable, count, figure, short};

/// Classes whose probabilities are drawn.
const MOST_CLASSES: usize = 6;
/// Width of the longest bar on a terminal.
const BAR: usize = 24;
/// Rows of a partial dependence: each is predicted for every value of the grid.
const PARTIAL_ROWS: usize = 1000;

/// Importance with so many shuffles, and the partial dependence on some columns.
pub(crate) fn examine(
    model: &Model,
    device: &Device,
    judged: (&Table, &[u32]),
    (repeats, columns): (Option<usize>, &[String]),
) -> Answer<(Option<ImportanceReport>, Vec<Partial>)> {
    let options = ExamineOptions::default();
    let progress = Progress::of(1, "importance of the columns").ticking();
    let mut follow = |done: usize, all: usize| progress.reach(done, all);
    let importance = repeats
        .map(|repeats| block_on(importance(model, device, judged, ExamineOptions { repeats, ..options }, &mut follow)));
    progress.finish();
    let options = ExamineOptions { rows: PARTIAL_ROWS, ..options };
    let mut all = Vec::new();
    for column in columns {
        all.push(block_on(partial(model, device, judged, column, options))?);
    }
    Ok((importance.transpose()?, all))
}

/// Bars for a terminal, after a title.
pub(crate) fn bars(report: &ImportanceReport) -> String {
    let longest = report.columns.iter().map(|column| column.mean).fold(f64::MIN_POSITIVE, f64::max);
    let rows = report.columns.iter().map(|column| {
        let length = (column.mean / longest * (8 * BAR) as f64).round().max(0.0) as usize;
        let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][length % 8];
        let bar = "█".repeat(length / 8) + part;
        [short(&column.column, 28), figure(column.mean), format!("± {}", figure(column.spread)), bar]
    });
    let table = TextTable::new(["column", "worse by", "", ""]).rows(rows).text();
    format!("\n  {}\n\n{table}", title(report))
}

fn title(report: &ImportanceReport) -> String {
    let (label, value, rows) = (report.label, figure(report.value), count(report.rows as u64));
    format!(
        "importance: how much worse {label} = {value} gets when a column is shuffled ({rows} rows, {} times)",
        report.repeats
    )
}

/// The importance as a chart for a page, the most important columns first.
pub(crate) fn importance_chart(report: &ImportanceReport, most: usize) -> Chart {
    let shown: Vec<_> = report.columns.iter().take(most).collect();
    let bar = |(at, mean): (usize, f64)| [[0.0, at as f64], [mean, at as f64], [f64::NAN; 2]];
    let means = shown.iter().map(|column| column.mean).enumerate();
    let names = Axis::names(shown.iter().map(|column| column.column.clone()));
    let spread = shown.iter().enumerate().flat_map(|(at, column)| {
        let at = at as f64;
        [[column.mean - column.spread, at], [column.mean + column.spread, at], [f64::NAN; 2]]
    });
    let points = means.clone().map(|(at, mean)| [mean, at as f64]).collect();
    Chart::new("Importance of the columns", Axis::linear(format!("{} gets worse by", report.label)), names)
        .series(Series::new("", Style::Column, means.flat_map(bar).collect()).color(0))
        .series(Series::new("", Style::Line, spread.collect()).color(7))
        .series(Series::new("", Style::Points, points).color(0))
        .note(format!(
            "Each column's cells are shuffled {} times among {} rows. Columns that say the same share their importance.",
            report.repeats,
            count(report.rows as u64)
        ))
}

/// The partial dependence as a chart.
pub(crate) fn partial_chart(partial: &Partial) -> Chart {
    let Partial { column, values, levels, curves, rows } = partial;
    let is_class = curves.len() > 1;
    // Of two classes, one says it all.
    let shown = curves.iter().skip(usize::from(curves.len() == 2)).take(MOST_CLASSES);
    let what = match curves.as_slice() {
        [_, second] => format!("Probability of {}", second.name),
        [only] => format!("Mean {}", only.name),
        _ => "Mean probability".to_owned(),
    };
    let note = format!("The mean over {} rows, each with the same value in this column.", count(*rows as u64));
    let empty = |x: Axis, y: Axis| Chart::new(format!("{what} by {column}"), x, y).note(note.clone());
    if levels.is_empty() {
        let chart = empty(Axis::linear(column.as_str()), Axis::linear(if is_class { "probability" } else { "mean" }));
        let points = |means: &[f64]| values.iter().zip(means).map(|(x, y)| [*x, *y]).collect();
        return shown.fold(chart, |chart, curve| chart.series(Series::line(curve.name.as_str(), points(&curve.means))));
    }
    let points = |means: &[f64]| means.iter().enumerate().map(|(at, mean)| [*mean, at as f64]).collect();
    let chart = empty(Axis::linear(what.as_str()), Axis::names(levels.iter().cloned()));
    shown
        .fold(chart, |chart, curve| chart.series(Series::new(curve.name.as_str(), Style::Points, points(&curve.means))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use meromorph::judge::{Importance, PartialCurve};

    fn report() -> ImportanceReport {
        let columns = [("age", 0.4, 0.02), ("city", 0.1, 0.01), ("day", -0.001, 0.002)];
        let columns = columns.map(|(column, mean, spread)| Importance { column: column.into(), mean, spread }).to_vec();
        ImportanceReport { metric: "r2", label: "R²", value: 0.8, rows: 1200, repeats: 5, columns }
    }

    #[test]
    fn bars_are_as_long_as_the_importance() {
        let text = bars(&report());
        let bar = |name: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
            line.chars().filter(|c| *c == '█').count()
        };
        assert_eq!([bar("age"), bar("city"), bar("day")], [24, 6, 0], "{text}");
        assert!(text.contains("R² = 0.8000") && text.contains("(1,200 rows, 5 times)"), "{text}");
        assert!(importance_chart(&report(), 2).html().contains(">age<"));
        assert!(!importance_chart(&report(), 2).html().contains(">day<"));
    }

    #[test]
    fn of_two_classes_the_second_is_drawn() {
        let curve = |name: &str, means: [f64; 2]| PartialCurve { name: name.into(), means: means.to_vec() };
        let curves = vec![curve("no", [0.9, 0.4]), curve("yes", [0.1, 0.6])];
        let numbers = Partial { column: "age".into(), values: vec![20.0, 60.0], levels: Vec::new(), curves, rows: 10 };
        let text = partial_chart(&numbers).text();
        assert!(text.contains("Probability of yes by age") && !text.contains("no\n"), "{text}");
        let levels = vec!["Bonn".to_owned(), "Rome".to_owned()];
        let text = partial_chart(&Partial { values: Vec::new(), levels, ..numbers }).text();
        assert!(text.contains("Bonn") && text.contains("Rome") && text.matches('o').count() > 2, "{text}");
    }
}
