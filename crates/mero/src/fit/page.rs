//! The HTML page of `mero fit --report`: data and curve first, then parameters, residuals, correlations and how the fit was found.

use super::chart::{Look, MOST_DRAWN, curve_chart};
use crate::show::fitted::{cautions, derived_table, parameter_table, posterior_table, stop_text};
use crate::terminal::shell::command;
use meromorph::error::Result;
use meromorph::fit::{Fit, FitRows, Levels, SavedFit};
use meromorph::report::{Axis, Chart, Page, Series, Style, Table as TextTable, count, figure};

/// The page as bytes.
pub(super) fn page(
    fit: &Fit,
    saved: &SavedFit,
    rows: &FitRows<'_>,
    (target, source): (&str, &str),
    look: Look,
) -> Result<Vec<u8>> {
    let formula = saved.formula();
    let mut page = Page::new(format!("{target} = {}", formula.text()));
    page.kind(&format!("Curve fit · {source}"));
    page.lead(&lead(fit));
    let columns: Vec<&[f64]> = rows.columns.iter().map(AsRef::as_ref).collect();
    let levels: Vec<&Levels> = rows.levels.iter().collect();
    let values = saved.predict_levels(&columns, &levels, rows.y.len(), fit.level)?.values;
    let first = curve_chart(saved, rows, target, Look { has_components: true, ..look })?
        .unwrap_or_else(|| agreement(&values, &rows.y, target));
    page.charts([first, residuals(&values, rows, formula.columns(), target, look)]);
    page.section("Parameters");
    page.table(&parameter_table(fit, formula));
    if let Some(derived) = derived_table(fit) {
        page.heading("Computed from them");
        page.table(&derived);
    }
    if let Some(posterior) = posterior_table(fit) {
        page.heading("Posterior");
        page.table(&posterior);
    }
    for caution in cautions(fit) {
        page.paragraph(&sentence(caution));
    }
    page.note("Standard errors come from the curvature of the cost at its minimum.");
    if fit.free.len() > 1 {
        page.heading("Correlations");
        page.table(&correlations(fit));
    }
    page.section("How it was found");
    page.paragraph(&sentence(stop_text(fit)));
    page.charts(descent(fit));
    let facts = facts(fit);
    page.facts(facts.iter().map(|(name, text)| (*name, text.as_str())));
    page.note("The command that made this page:");
    page.code(&command());
    Ok(page.html().into_bytes())
}

fn sentence(mut text: String) -> String {
    text[..1].make_ascii_uppercase();
    text + "."
}

/// The parameters with their errors, and how much is explained.
fn lead(fit: &Fit) -> String {
    let shown = fit.parameters.iter().filter(|parameter| !parameter.is_fixed).take(4);
    let parts: Vec<String> = shown
        .map(|parameter| {
            let error = parameter.stderr.map_or(String::new(), |stderr| format!(" ± {}", figure(stderr)));
            format!("{} = {}{error}", parameter.name, figure(parameter.value))
        })
        .collect();
    let explained = fit.statistics.r_squared;
    let explained = if explained.is_finite() { format!(". R² is {}.", figure(explained)) } else { ".".into() };
    let converged = if fit.stop.is_converged() { "" } else { " The search did not converge." };
    format!("{}{explained}{converged}", parts.join(", "))
}

/// Observed against predicted values, for several columns.
fn agreement(values: &[f64], y: &[f64], target: &str) -> Chart {
    let points: Vec<[f64; 2]> = values.iter().zip(y).map(|(value, y)| [*value, *y]).take(MOST_DRAWN).collect();
    let [low, high] =
        [f64::min, f64::max].map(|pick: fn(f64, f64) -> f64| y.iter().copied().reduce(pick).unwrap_or(0.0));
    let chart = Chart::new("Observed against predicted", Axis::linear("predicted"), Axis::linear(target));
    chart.series(Series::dots("rows", points)).series(Series::new(
        "equal",
        Style::Reference,
        vec![[low, low], [high, high]],
    ))
}

/// Residuals over the one column, or over the prediction.
fn residuals(values: &[f64], rows: &FitRows<'_>, names: &[String], target: &str, look: Look) -> Chart {
    let (x, axis) = match (&rows.columns[..], names) {
        ([x], [name]) => (x.as_ref(), look.axis(0, name)),
        _ => (values, Axis::linear("predicted")),
    };
    let residual = |at: usize| (rows.y[at] - values[at]) / rows.sigma.as_ref().map_or(1.0, |sigma| sigma[at]);
    let points: Vec<[f64; 2]> = (0..values.len()).map(|at| [x[at], residual(at)]).take(MOST_DRAWN).collect();
    let ends =
        points.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], [x, _]| [low.min(*x), high.max(*x)]);
    let what = if rows.sigma.is_some() { "residual in sigma" } else { "residual" };
    Chart::new("Residuals", axis, Axis::linear(format!("{what} of {target}")))
        .series(Series::new("", Style::Reference, vec![[ends[0], 0.0], [ends[1], 0.0]]))
        .series(Series::dots("", points))
        .note("Without a pattern, the model has the right shape.")
}

fn correlations(fit: &Fit) -> TextTable {
    let header = std::iter::once(String::new()).chain(fit.free.iter().cloned());
    let correlation = fit.correlation();
    let rows = fit.free.iter().zip(&correlation).map(|(name, row)| {
        let entry = |value: &f64| if value.is_finite() { format!("{value:.3}") } else { "–".to_owned() };
        std::iter::once(name.clone()).chain(row.iter().map(entry)).collect::<Vec<String>>()
    });
    TextTable::new(header).rows(rows)
}

/// The cost after each step above its minimum, if there were several steps.
fn descent(fit: &Fit) -> Option<Chart> {
    let least = fit.history.last().copied().unwrap_or(0.0);
    let points: Vec<[f64; 2]> =
        fit.history.iter().enumerate().map(|(step, cost)| [step as f64, cost - least]).collect();
    let chart = Chart::new("Cost above its minimum", Axis::linear("step"), Axis::log("cost − minimum"));
    (points.len() > 3).then(|| chart.series(Series::line("", points)))
}

fn facts(fit: &Fit) -> Vec<(&'static str, String)> {
    let statistics = &fit.statistics;
    let known = [
        ("rms residual", statistics.rmse),
        ("χ²", statistics.reduced_chi_square * fit.dof as f64),
        ("reduced χ²", statistics.reduced_chi_square),
        ("AIC", statistics.aic),
        ("BIC", statistics.bic),
    ];
    let mut facts = vec![("rows", count(fit.rows as u64)), ("degrees of freedom", count(fit.dof as u64))];
    facts.extend(known.into_iter().filter(|(_, value)| value.is_finite()).map(|(name, value)| (name, figure(value))));
    facts.extend([
        ("evaluations", count(fit.evaluations as u64)),
        ("device", "cpu".into()),
        ("precision", "f64".into()),
    ]);
    facts
}
