//! The HTML page of `--report`: the result against the baseline first, then how the model errs, what it learns from, and how to repeat it.

mod charts;
pub(crate) mod content;

use super::columns::column_table;
use super::examine::{examine, importance_chart, partial_chart};
use super::metrics::metrics_rows;
use crate::Answer;
use crate::terminal::shell::command;
use content::PageContent;
use meromorph::Device;
use meromorph::judge::{Metrics, Partial};
use meromorph::report::{Page, count, counted, figure};
use meromorph::table::Task;

/// Columns whose importance is drawn, and those whose partial dependence is.
const MOST_BARS: usize = 15;
const MOST_PARTIAL: usize = 6;
/// Shuffles of each column.
const REPEATS: usize = 5;

/// The page as text.
pub(crate) fn page(device: &Device, content: &PageContent<'_>) -> Answer<Vec<u8>> {
    let PageContent { model, judged, .. } = content;
    let preparation = model.preparation()?;
    let (importance, _) = examine(model, device, *judged, (Some(REPEATS), &[]))?;
    let most = importance.iter().flat_map(|report| &report.columns).take(MOST_PARTIAL);
    let columns: Vec<String> = most.map(|column| column.column.clone()).collect();
    let (_, partial) = examine(model, device, *judged, (None, &columns))?;
    let mut page = Page::new(format!("Predicting \"{}\"", preparation.target.name()));
    page.kind(&format!("{} · {} · {}", content.kind, content.source, preparation.target.task().name()));
    page.lead(&lead(content));
    let first = charts::first(content)?.into_iter();
    page.charts(first.chain(importance.iter().map(|report| importance_chart(report, MOST_BARS))));
    figures(&mut page, content);
    errors(&mut page, content)?;
    inputs(&mut page, content, &partial)?;
    page.section("Settings");
    page.facts(content.facts.iter().map(|(name, text)| (*name, text.as_str())));
    page.note("The command that made this page:");
    page.code(&command());
    if let Some(config) = content.config {
        page.note("The same options as a file for --config:");
        page.code(config);
    }
    Ok(page.html().into_bytes())
}

/// The result in a sentence or two, against the prediction without inputs.
fn lead(content: &PageContent<'_>) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let baseline = metrics_of(content, "without inputs");
    if let Some(folds) = &content.folds {
        let (label, mean, spread, without) = folds.headline();
        let folds = counted(folds.count(), "fold");
        let without = without.map_or_else(String::new, |value| format!("; without the inputs {}", figure(value)));
        return format!("Cross-validation over {folds}: {label} {} ± {}{without}.", figure(mean), figure(spread));
    }
    let Some(metrics) = metrics_of(content, content.part) else {
        return format!("There are no {} to judge the model by.", content.part);
    };
    let rows = format!("{} {}", count(metrics.rows as u64), content.part);
    if let Some(median) = metrics.median {
        let coverage = metrics
            .coverage
            .map_or_else(String::new, |share| format!(" It gives a value for {} of them.", percent(share)));
        return format!(
            "On {rows}, half of the values that the model gives are off by less than {}.{coverage}",
            figure(median)
        );
    }
    if let Some(accuracy) = metrics.accuracy {
        let without = baseline.and_then(|baseline| baseline.accuracy).map_or_else(String::new, |share| {
            format!(" Always naming the most frequent class would be right for {}.", percent(share))
        });
        return format!("The model names the right class for {} of {rows}.{without}", percent(accuracy));
    }
    let error = metrics.mae.unwrap_or(f64::NAN);
    let without = baseline.and_then(|baseline| baseline.mae).map_or_else(String::new, |mae| {
        format!(" Predicting the training mean for every row would be off by {}.", figure(mae))
    });
    let share = metrics.r2.map_or_else(String::new, |r2| format!(", R² {}", figure(r2)));
    format!("On {rows}, the predictions are off by {} on average{share}.{without}", figure(error))
}

fn figures(page: &mut Page, content: &PageContent<'_>) {
    page.section("Figures");
    page.table(&metrics_rows(&content.metrics));
    if let Some(folds) = &content.folds {
        page.heading("Folds");
        page.table(&folds.table());
        page.note("Each fold was predicted by a model that was trained without it. The model of this page was trained on all rows.");
    }
}

fn errors(page: &mut Page, content: &PageContent<'_>) -> Answer {
    page.section(if content.history.is_empty() { "Errors" } else { "Errors and training" });
    if content.model.preparation()?.target.task() == Task::Classification {
        page.heading(&format!("Predicted (right) against actual (down), {}", content.part));
        page.table(&charts::mistakes(content)?);
    }
    let losses = (!content.history.is_empty()).then(|| charts::losses(content.history, content.best_epoch));
    page.charts(charts::errors(content)?.into_iter().chain(losses));
    Ok(())
}

fn inputs(page: &mut Page, content: &PageContent<'_>, partial: &[Partial]) -> Answer {
    page.section("What it learns from");
    page.charts(partial.iter().map(partial_chart));
    page.heading("Columns");
    page.table(&column_table(content.model.preparation()?));
    for warning in &content.warnings {
        page.note(warning);
    }
    Ok(())
}

/// The metrics of a part.
fn metrics_of<'a>(content: &'a PageContent<'_>, part: &str) -> Option<&'a Metrics> {
    content.metrics.iter().find(|(name, _)| *name == part).and_then(|(_, metrics)| metrics.as_ref())
}
