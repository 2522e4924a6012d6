//! The report of a fit as JSON, which is also the file that predicts.

use super::bootstrap::Bootstrap;
use super::posterior::{Drawn, Posterior, QUANTILES};
use super::result::{Fit, Fitted};
use super::seal::sealed;
use super::statistics::Statistics;
use crate::fit::formula::Tie;
use crate::fit::rows::Problem;
use crate::host::number;
use crate::json::Json;

/// The schema of the file.
pub(crate) const FORMAT: u64 = 1;
/// What the file says it is.
pub(crate) const KIND: &str = "meromorph fit";

/// The report of a fit: the model, the parameters by name, covariance, statistics, how it was solved and in how
/// many seconds.
pub fn report(problem: &Problem<'_>, fit: &Fit, target: &str, seconds: f64) -> Json {
    let texts = |all: &[String]| Json::List(all.iter().map(|one| text(one)).collect());
    let formula = &problem.formula;
    let tie = |tie: &Tie| Json::fields([("name", text(&tie.name)), ("formula", text(&tie.text))]);
    let rows = |matrix: &[Vec<f64>]| Json::List(matrix.iter().map(|row| list(row)).collect());
    let Statistics { r_squared, rmse, reduced_chi_square, aic, bic } = fit.statistics;
    sealed(Json::fields([
        ("event", text("report")),
        ("kind", text(KIND)),
        ("format", whole(FORMAT)),
        ("model", text(formula.text())),
        ("target", text(target)),
        ("columns", texts(formula.columns())),
        ("level_columns", Json::List(formula.level_columns().into_iter().map(text).collect())),
        ("grids", Json::List(problem.data.grids.iter().map(|grid| list(grid)).collect())),
        ("ties", Json::List(formula.ties().iter().map(tie).collect())),
        ("parameters", Json::Fields(fit.parameters.iter().map(|one| (one.name.clone(), fitted(one))).collect())),
        ("derived", Json::Fields(fit.derived.iter().map(|one| (one.name.clone(), derived(one))).collect())),
        ("bootstrap", fit.bootstrap.map_or(Json::Null, resampled)),
        ("posterior", fit.posterior.as_ref().map_or(Json::Null, |posterior| sampled(posterior, &fit.free))),
        ("free", texts(&fit.free)),
        ("covariance", rows(&fit.covariance)),
        ("correlation", rows(&fit.correlation())),
        ("undetermined", texts(&fit.undetermined)),
        ("cautions", texts(&fit.cautions)),
        ("flat_derivatives", whole(fit.flat_derivatives as u64)),
        ("cost", real(fit.cost)),
        ("rows", whole(fit.rows as u64)),
        ("dof", whole(fit.dof as u64)),
        ("level", real(fit.level)),
        ("is_weighted", Json::Bool(problem.data.has_sigma)),
        ("is_absolute", Json::Bool(problem.is_absolute)),
        ("loss", text(problem.loss.name())),
        ("loss_scale", real(problem.scale)),
        ("r_squared", real(r_squared)),
        ("rmse", real(rmse)),
        ("reduced_chi_square", real(reduced_chi_square)),
        ("aic", real(aic)),
        ("bic", real(bic)),
        ("stop", text(fit.stop.name())),
        ("is_converged", Json::Bool(fit.stop.is_converged())),
        ("is_compared", Json::Bool(fit.is_compared)),
        ("recovery", texts(&fit.recovery)),
        ("evaluations", whole(fit.evaluations as u64)),
        ("history", list(&fit.history)),
        ("expected_shift_in_sigma", fit.expected_shift.map_or(Json::Null, real)),
        ("seconds", real(seconds)),
        ("device", text(&fit.searched.device)),
        ("precision", text(fit.searched.precision())),
        ("precision_reason", text(&fit.searched.reason)),
        ("device_evaluations", whole(fit.searched.evaluations as u64)),
        ("strategy", text(problem.strategy.name())),
    ]))
}

fn fitted(parameter: &Fitted) -> Json {
    Json::fields([
        ("value", real(parameter.value)),
        ("stderr", parameter.stderr.map_or(Json::Null, real)),
        ("interval", parameter.interval.map_or(Json::Null, |interval| list(&interval))),
        ("profile_interval", parameter.profile.map_or(Json::Null, |profile| list(&profile))),
        ("bootstrap_interval", parameter.bootstrap.map_or(Json::Null, |ends| list(&ends))),
        ("is_fixed", Json::Bool(parameter.is_fixed)),
        ("is_at_bound", Json::Bool(parameter.is_at_bound)),
    ])
}

fn derived(value: &Fitted) -> Json {
    Json::fields([
        ("value", real(value.value)),
        ("stderr", value.stderr.map_or(Json::Null, real)),
        ("interval", value.interval.map_or(Json::Null, |interval| list(&interval))),
    ])
}

fn resampled(bootstrap: Bootstrap) -> Json {
    Json::fields([("fits", whole(bootstrap.fits as u64)), ("failed", whole(bootstrap.failed as u64))])
}

fn sampled(posterior: &Posterior, free: &[String]) -> Json {
    let one = |(name, drawn): (&String, &Drawn)| {
        let fields = Json::fields([
            ("mean", real(drawn.mean)),
            ("deviation", real(drawn.deviation)),
            ("quantiles", list(&drawn.quantiles)),
            ("r_hat", real(drawn.r_hat)),
            ("effective", real(drawn.effective)),
        ]);
        (name.clone(), fields)
    };
    Json::fields([
        ("draws", whole(posterior.draws.len() as u64)),
        ("acceptance", real(posterior.acceptance)),
        ("shares", list(&QUANTILES)),
        ("parameters", Json::Fields(free.iter().zip(&posterior.parameters).map(one).collect())),
    ])
}

/// A text.
pub(crate) fn text(text: &str) -> Json {
    Json::Text(text.to_owned())
}

/// A whole number.
pub(crate) fn whole(value: u64) -> Json {
    Json::Number(value.to_string())
}

/// A number with all its digits, with an exponent where they would be many zeros; null if it is not finite.
pub(crate) fn real(value: f64) -> Json {
    if !value.is_finite() {
        return Json::Null;
    }
    let is_far = value != 0.0 && !(1e-4..1e16).contains(&value.abs());
    Json::Number(if is_far { format!("{:e}", number(value)) } else { number(value).to_string() })
}

fn list(values: &[f64]) -> Json {
    Json::List(values.iter().map(|&value| real(value)).collect())
}
