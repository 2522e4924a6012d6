//! A fit for people: its parameters with their errors, how the search ended, and what to be careful about.

use meromorph::fit::{Bootstrap, Drawn, Fit, Fitted, Formula, Searched, Stop};
use meromorph::internal::host::number;
use meromorph::report::{Table, counted, figure};

/// The parameters with their errors.
pub(crate) fn parameter_table(fit: &Fit, formula: &Formula) -> Table {
    let percent = number((1e6 * fit.level).round() / 1e4);
    let has_profiles = fit.parameters.iter().any(|parameter| parameter.profile.is_some());
    let interval = format!("{percent} % interval");
    let profile = has_profiles.then_some("from the profile");
    let has_bootstrap = fit.bootstrap.is_some();
    let bootstrap = has_bootstrap.then_some("from drawn data");
    let header = ["parameter", "value", "standard error", &interval].into_iter().chain(profile).chain(bootstrap);
    let header = header.chain([""]);
    let mut table = Table::new(header);
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
        let bootstrap = parameter.bootstrap.map_or_else(none, |[low, high]| format!("{} to {}", end(low), end(high)));
        let more = has_profiles.then_some(profile).into_iter().chain(has_bootstrap.then_some(bootstrap));
        table = table.row(cells.into_iter().chain(more).chain([note.to_owned()]));
    }
    table
}

/// The draws of the posterior, if there are any.
pub(crate) fn posterior_table(fit: &Fit) -> Option<Table> {
    let posterior = fit.posterior.as_ref()?;
    let header = ["posterior", "mean", "deviation", "2.5 %", "50 %", "97.5 %", "R-hat", "independent draws"];
    let row = |(name, drawn): (&String, &Drawn)| {
        let Drawn { mean, deviation, quantiles, r_hat, effective } = *drawn;
        let [low, _, middle, _, high] = quantiles;
        let places = [mean, low, middle, high].map(|value| precise(value, deviation));
        let [mean, low, middle, high] = places;
        let effective = format!("{:.0}", effective.floor());
        [name.clone(), mean, figure(deviation), low, middle, high, format!("{r_hat:.3}"), effective]
    };
    Some(Table::new(header).rows(fit.free.iter().zip(&posterior.parameters).map(row)))
}

/// The values that are computed from parameters, if there are any.
pub(crate) fn derived_table(fit: &Fit) -> Option<Table> {
    let interval = format!("{} % interval", number((1e6 * fit.level).round() / 1e4));
    let row = |one: &Fitted| {
        let (none, error) = (|| "–".to_owned(), one.stderr.unwrap_or(0.0));
        let ends = one.interval.map(|[low, high]| format!("{} to {}", precise(low, error), precise(high, error)));
        [one.name.clone(), precise(one.value, error), one.stderr.map_or_else(none, figure), ends.unwrap_or_else(none)]
    };
    let table = Table::new(["computed", "value", "standard error", &interval]);
    (!fit.derived.is_empty()).then(|| table.rows(fit.derived.iter().map(row)))
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
        Stop::Corner => format!("converged in {spent}, at a corner of the cost"),
        _ if !fit.is_compared => format!("converged in {spent}; only the given start was tried"),
        _ => format!("converged in {spent}"),
    }
}

/// What a reader of the parameters has to know.
pub(crate) fn cautions(fit: &Fit) -> Vec<String> {
    let count = counted(fit.flat_derivatives, "derivative");
    let flat = (fit.flat_derivatives > 0).then(|| format!("{count} of the model not finite, counted as 0"));
    let is_refused = !fit.searched.is_single && fit.searched != Searched::default();
    let searched = is_refused.then(|| fit.searched.reason.clone());
    let recovery = (!fit.recovery.is_empty())
        .then(|| format!("the first search failed; tried after it: {}", fit.recovery.join(", ")));
    let failed = fit.bootstrap.filter(|bootstrap| bootstrap.failed > 0);
    let failed =
        failed.map(|Bootstrap { fits, failed }| format!("{failed} of {fits} fits of drawn data did not converge"));
    let is_short = |drawn: &Drawn| drawn.r_hat > 1.1 || drawn.effective < 100.0;
    let is_short = fit.posterior.as_ref().is_some_and(|posterior| posterior.parameters.iter().any(is_short));
    let short = is_short.then(|| "the walk through the posterior is short: raise --sample".to_owned());
    let undetermined = fit.undetermined.iter().map(|what| format!("the data do not determine {what}"));
    let own = fit.cautions.iter().cloned();
    let all = searched.into_iter().chain(flat).chain(recovery).chain(failed).chain(short);
    all.chain(undetermined).chain(own).collect()
}
