//! The result of `mero fit` for people.

use super::rows::Rows;
use meromorph::error::Result;
use meromorph::fit::{FTest, Fit, FitPrediction, Formula, Levels, SavedFit, Searched, Stop};
use meromorph::internal::host::number;
use meromorph::report::{Axis, Band, Chart, Series, Table as TextTable, counted, figure};

/// The fit for people.
pub(super) fn text(fit: &Fit, formula: &Formula, target: &str, rows: &Rows, source: &str) -> String {
    let dropped = if rows.dropped > 0 { format!(", {} left out", counted(rows.dropped, "row")) } else { String::new() };
    let mut text = format!("{target} = {}\n{} of {source}{dropped}\n\n", formula.text(), counted(fit.rows, "row"));
    text += &parameter_table(fit, formula).text();
    let statistics = &fit.statistics;
    let shown =
        |name: &str, value: f64| if value.is_finite() { format!("{name} {}   ", figure(value)) } else { String::new() };
    let rms = if rows.sigma.is_some() { "weighted rms residual" } else { "rms residual" };
    text += &format!(
        "\n\n{}{}{} of freedom   {}",
        shown("R²", statistics.r_squared),
        shown(rms, statistics.rmse),
        counted(fit.dof, "degree"),
        shown("AIC", statistics.aic)
    );
    text.truncate(text.trim_end().len());
    text.push('\n');
    text += &format!("{}\n", stop_text(fit));
    for caution in cautions(fit) {
        text += &format!("{caution}\n");
    }
    let correlation = fit.correlation();
    let pairs = (0..fit.free.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
    let strong: Vec<String> = pairs
        .filter(|&(i, j)| correlation[i][j].abs() > 0.95)
        .map(|(i, j)| format!("{} and {} {:.3}", fit.free[i], fit.free[j], correlation[i][j]))
        .collect();
    if !strong.is_empty() {
        text += &format!("strongly correlated: {}\n", strong.join(", "));
    }
    text
}

/// What a test against a smaller model says.
pub(super) fn tested(test: &FTest) -> String {
    let FTest { f, dof: [more, dof], p, aic_difference } = test;
    let verdict = if *p < 0.05 { "they are needed" } else { "they are not shown to be needed" };
    format!(
        "against the smaller model: F({more}, {dof}) = {}, p = {}: {} more, {verdict}; AIC {} by {}\n",
        figure(*f),
        figure(*p),
        counted(*more as usize, "parameter"),
        if *aic_difference < 0.0 { "falls" } else { "rises" },
        figure(aic_difference.abs())
    )
}

/// What a reader of the parameters has to know.
pub(crate) fn cautions(fit: &Fit) -> Vec<String> {
    let count = counted(fit.flat_derivatives, "derivative");
    let flat = (fit.flat_derivatives > 0).then(|| format!("{count} of the model not finite, counted as 0"));
    let is_refused = !fit.searched.is_single && fit.searched != Searched::default();
    let searched = is_refused.then(|| fit.searched.reason.clone());
    let recovery = (!fit.recovery.is_empty())
        .then(|| format!("the first search failed; tried after it: {}", fit.recovery.join(", ")));
    let undetermined = fit.undetermined.iter().map(|what| format!("the data do not determine {what}"));
    searched.into_iter().chain(flat).chain(recovery).chain(undetermined).collect()
}

/// The parameters with their errors.
pub(crate) fn parameter_table(fit: &Fit, formula: &Formula) -> TextTable {
    let percent = number(100.0 * fit.level);
    let has_profiles = fit.parameters.iter().any(|parameter| parameter.profile.is_some());
    let interval = format!("{percent} % interval");
    let profile = has_profiles.then_some("from the profile");
    let header = ["parameter", "value", "standard error", &interval].into_iter().chain(profile).chain([""]);
    let mut table = TextTable::new(header);
    for parameter in &fit.parameters {
        let none = || "–".to_owned();
        let error = parameter.stderr.unwrap_or(0.0);
        let interval =
            parameter.interval.map(|[low, high]| format!("{} to {}", precise(low, error), precise(high, error)));
        let note = match parameter {
            _ if parameter.is_fixed => "fixed",
            _ if parameter.is_at_bound => "at a bound",
            _ if formula.ties().iter().any(|tie| tie.name == parameter.name) => "tied",
            _ if parameter.stderr.is_none() && fit.undetermined.is_empty() => "error unknown",
            _ if parameter.stderr.is_none() => "not determined",
            _ => "",
        };
        let stderr = parameter.stderr.map_or_else(none, figure);
        let end = |end: f64| if end.is_finite() { precise(end, error) } else { "open".to_owned() };
        let profile = parameter.profile.map_or_else(none, |[low, high]| format!("{} to {}", end(low), end(high)));
        let cells = [parameter.name.clone(), precise(parameter.value, error), stderr, interval.unwrap_or_else(none)];
        table = table.row(cells.into_iter().chain(has_profiles.then_some(profile)).chain([note.to_owned()]));
    }
    table
}

/// Whether the search converged, and after how much work.
pub(crate) fn stop_text(fit: &Fit) -> String {
    let shift = |shift| format!(" (expected shift {} standard errors)", figure(shift));
    let spent = counted(fit.evaluations, "evaluation") + &fit.expected_shift.map_or(String::new(), shift);
    let on_device = match &fit.searched {
        Searched { is_single: true, device, evaluations, .. } => {
            format!(", after {evaluations} in single precision on {device}")
        }
        _ => String::new(),
    };
    let spent = spent + &on_device;
    match fit.stop {
        Stop::Evaluations => format!("not converged in {spent}: raise --max-evaluations, or start nearer with --p0"),
        Stop::Stuck => format!("not converged: stuck after {spent}; start elsewhere with --p0, or set --bounds"),
        _ => format!("converged in {spent}"),
    }
}

/// As many digits as a standard error leaves, with two of its own; six at least.
fn precise(value: f64, error: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let certain = if error > 0.0 { size.log10().floor() - error.log10().floor() } else { 0.0 };
    let decimals = (certain as i32 + 1).clamp(5, 15);
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.*e}", decimals as usize);
    }
    format!("{value:.*}", (decimals - size.log10().floor() as i32).max(0) as usize)
}

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
