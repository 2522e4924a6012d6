//! Metrics of the parts of the data as a table.

use meromorph::judge::{Figure, Metrics};
use meromorph::report::{Table, count, figure};

/// One row per part of the data, with a column for each metric that at least one part has.
pub(crate) fn metrics_table(parts: &[(&str, Option<Metrics>)]) -> String {
    metrics_rows(parts).text()
}

pub(crate) fn metrics_rows(parts: &[(&str, Option<Metrics>)]) -> Table {
    let parts: Vec<_> = parts.iter().filter_map(|(name, metrics)| Some((*name, (*metrics)?))).collect();
    let is_used = |figure: &&Figure| parts.iter().any(|(_, metrics)| figure.2(metrics).is_some());
    let columns: Vec<&Figure> = Metrics::FIGURES.iter().filter(is_used).collect();
    let header = ["", "rows"].into_iter().chain(columns.iter().map(|(_, name, _)| *name));
    let row = |(name, metrics): &(&str, Metrics)| {
        let figures = columns.iter().map(|(_, _, of)| of(metrics).map_or_else(|| "–".into(), figure));
        let rows = if metrics.rows == 0 { String::new() } else { count(metrics.rows as u64) };
        [(*name).to_owned(), rows].into_iter().chain(figures).collect::<Vec<_>>()
    };
    Table::new(header).rows(parts.iter().map(row))
}
