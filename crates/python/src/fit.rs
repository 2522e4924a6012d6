//! Curve fits.

use std::time::Instant;

use meromorph::fit::{
    self as curves, FitOptions, FitRows, FitTable, Fits, Formula, Journal, OPTIONS, SmallFit, approach, report,
    solve_each, solve_from,
};
use meromorph::options::{Naming, Value};
use meromorph::program::source::Language;
use meromorph::{Error, Result};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pollster::block_on;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{Columns, View};
use crate::device;
use crate::errors::raised;
use crate::signals::Signals;
use crate::values::apply;

/// The device of searches in double precision.
const CPU: &str = "cpu";

/// What a fit found, before it is Python's.
struct Fitted {
    report: String,
    notes: Vec<String>,
    dropped: usize,
    excluded: usize,
    draws: Option<Vec<Vec<f64>>>,
}

/// Report, notes, rows left out for their missing cells and by the condition, and draws.
type Answer<'py> = (String, Vec<String>, usize, usize, Option<Bound<'py, PyArray2<f64>>>);

/// Fits a formula to columns. Returns the report as JSON, what a person should know of the data, how many rows with missing cells and how many by the
/// condition are left out, and the draws of the posterior. While it searches, other threads of Python run.
#[pyfunction]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    data: &Columns,
    model: &str,
    options: &Bound<'py, PyDict>,
    device: &str,
    threads: usize,
) -> PyResult<Answer<'py>> {
    let options = options_of("fit", options, threads)?;
    let mut signals = Signals::new();
    let fitted = data.with(py, |view| {
        let result = py.detach(|| solved(view, model, &options, device, &mut signals));
        signals.ended(result.map_err(named))
    })?;
    let Fitted { report, notes, dropped, excluded, draws } = fitted;
    let draws = draws.map(|draws| PyArray2::from_vec2(py, &draws)).transpose();
    let draws = draws.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((report, notes, dropped, excluded, draws))
}

fn options_of(call: &str, given: &Bound<'_, PyDict>, threads: usize) -> PyResult<FitOptions> {
    let mut options = FitOptions::default();
    apply(&OPTIONS, &mut options, given, call)?;
    options.solve.threads = threads;
    Ok(options)
}

/// The engine's messages name options as the command does.
fn named(error: Error) -> Error {
    let message = error.to_string();
    Error::new(message.replace("--", "")).with_kind(error.kind())
}

/// The formula of the model, and what is observed.
fn model_of(view: &View<'_>, model: &str, options: &FitOptions) -> Result<(Formula, String)> {
    let names = view.names();
    let formula = options.formula(model, &names)?;
    let target = options.target(&names, &formula)?;
    Ok((formula, target))
}

fn solved(view: &View<'_>, model: &str, options: &FitOptions, device: &str, signals: &mut Signals) -> Result<Fitted> {
    let started = Instant::now();
    let (formula, target) = model_of(view, model, options)?;
    let notes = options.target_note(&view.names(), &formula, &target, Naming::Python).into_iter().collect();
    let mut rows = FitRows::of(options, view, &formula, &target, Naming::Python)?;
    rows.subtract_background(options, &formula)?;
    let target = options.without_background(target);
    let problem = rows.problem(options, &formula)?;
    let mut journal = Journal::default();
    if device != CPU {
        device::with(device, options.solve.threads, |device| match device.info().device {
            CPU => Ok(()),
            _ => block_on(approach(&problem, &options.solve, device, &mut journal)),
        })?;
    }
    let mut fit = solve_from(&problem, &options.solve, &mut journal, &mut |_| signals.look())?;
    signals.look()?;
    options.add_figures(&problem, &mut fit, rows.sigma_x.as_deref())?;
    let report = report(&problem, &fit, &target, started.elapsed().as_secs_f64()).to_string();
    let draws = fit.posterior.map(|posterior| posterior.draws);
    Ok(Fitted { report, notes, dropped: rows.dropped, excluded: rows.excluded, draws })
}

/// Fits a formula to the rows of each level of the column `each`. Returns the levels in order, and arrays by name with a number for each fit.
#[pyfunction]
pub(crate) fn fit_many<'py>(
    py: Python<'py>,
    data: &Columns,
    model: &str,
    options: &Bound<'py, PyDict>,
    each: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let options = options_of("fit_many", options, threads)?;
    let fits = data.with(py, |view| {
        py.detach(|| solved_each(view, model, &options, each)).map_err(|error| raised(named(error)))
    })?;
    arrays(py, &fits, &options)
}

fn solved_each(view: &View<'_>, model: &str, options: &FitOptions, each: &str) -> Result<Fits> {
    let FitOptions { profile, bootstrap, sample, derive, sigma_x, .. } = options;
    if *profile || *bootstrap > 0 || *sample > 0 || !derive.is_empty() || sigma_x.is_some() {
        return Err(Error::usage("fit_many: sigma_x, profile, bootstrap, sample and derive are about one fit"));
    }
    let (formula, target) = model_of(view, model, options)?;
    let formula = formula.for_each(each).map_err(|error| renamed(&error))?;
    let mut rows = FitRows::of(options, view, &formula, &target, Naming::Python)?;
    rows.subtract_background(options, &formula)?;
    let problem = rows.problem(options, &formula)?;
    if problem.groups() < 2 {
        return Err(Error::usage(format!(
            "fit_many: each: column \"{each}\" has one level, expected two or more: use fit"
        )));
    }
    solve_each(&problem, &options.for_many(&problem))
}

/// Errors of the engine about many fits have the name of the function in JavaScript.
fn renamed(error: &Error) -> Error {
    Error::new(error.to_string().replace("fitMany", "fit_many")).with_kind(error.kind())
}

fn arrays<'py>(py: Python<'py>, fits: &Fits, options: &FitOptions) -> PyResult<Bound<'py, PyDict>> {
    let numbers = |pick: &dyn Fn(&SmallFit) -> f64| -> Bound<'py, PyArray1<f64>> {
        let values: Vec<f64> = fits.fits.iter().map(|fit| fit.as_ref().map_or(f64::NAN, pick)).collect();
        values.into_pyarray(py)
    };
    let (parameters, stderrs) = (PyDict::new(py), PyDict::new(py));
    for (at, name) in fits.parameters.iter().enumerate() {
        parameters.set_item(name, numbers(&|fit| fit.values[at]))?;
        let place = fits.free.iter().position(|&free| free == at);
        if place.is_some() || !options.fix.iter().any(|(fixed, _)| fixed == name) {
            stderrs.set_item(name, numbers(&|fit| place.map_or(f64::NAN, |place| fit.stderr(place))))?;
        }
    }
    let converged: Vec<bool> =
        fits.fits.iter().map(|fit| fit.as_ref().is_ok_and(|fit| fit.stop.is_converged())).collect();
    let failures: Vec<(usize, String)> =
        fits.fits.iter().enumerate().filter_map(|(at, fit)| Some((at, fit.as_ref().err()?.to_string()))).collect();
    let levels: Vec<&str> = fits.levels.iter().filter_map(|levels| levels.first()).map(String::as_str).collect();
    let answer = PyDict::new(py);
    answer.set_item("levels", levels)?;
    answer.set_item("parameters", parameters)?;
    answer.set_item("stderrs", stderrs)?;
    answer.set_item("rmse", numbers(&|fit| fit.rmse))?;
    answer.set_item("rows", numbers(&|fit| fit.rows as f64))?;
    answer.set_item("converged", converged.into_pyarray(py))?;
    answer.set_item("failures", failures)?;
    Ok(answer)
}

/// Observed values less the model's in the rows that a fit used.
#[pyfunction]
pub(crate) fn residuals<'py>(
    py: Python<'py>,
    data: &Columns,
    model: &str,
    options: &Bound<'py, PyDict>,
    saved: &SavedFit,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let options = options_of("fit", options, 0)?;
    let residuals = data.with(py, |view| {
        let all = py.detach(|| {
            let (formula, target) = model_of(view, model, &options)?;
            let mut rows = FitRows::of(&options, view, &formula, &target, Naming::Python)?;
            rows.subtract_background(&options, &formula)?;
            let columns: Vec<&[f64]> = rows.columns.iter().map(AsRef::as_ref).collect();
            let levels: Vec<&curves::Levels> = rows.levels.iter().collect();
            let values = saved.0.predict_levels(&columns, &levels, rows.y.len(), saved.0.level())?.values;
            Ok(rows.y.iter().zip(values).map(|(y, value)| y - value).collect::<Vec<f64>>())
        });
        all.map_err(raised)
    })?;
    Ok(residuals.into_pyarray(py))
}

/// A formula over columns with these names, written out, and its parameters in the order of their first use.
#[pyfunction]
pub(crate) fn formula_parameters(text: &str, columns: Vec<String>) -> PyResult<(String, Vec<String>)> {
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let formula = FitOptions::default().formula(text, &names).map_err(raised)?;
    Ok((formula.text().to_owned(), formula.parameters().to_vec()))
}

/// The formulas of models with names, with their summaries and parameters.
#[pyfunction]
pub(crate) fn fit_models() -> Vec<(&'static str, &'static str, &'static str, Vec<&'static str>)> {
    curves::MODELS.iter().map(|one| (one.name, one.summary, one.formula, one.parameters.to_vec())).collect()
}

/// A fit that predicts.
#[pyclass(frozen, module = "meromorph._engine")]
pub(crate) struct SavedFit(curves::SavedFit);

/// Values and half widths of the bands.
type Bands<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Option<Bound<'py, PyArray1<f64>>>);

#[pymethods]
impl SavedFit {
    /// Reads the report of a fit; `source` names it in errors.
    #[staticmethod]
    fn parse(text: &str, source: &str) -> PyResult<Self> {
        curves::SavedFit::parse(text, source).map(Self).map_err(raised)
    }

    /// Values and half widths of the confidence band and, if it is known, of the prediction band.
    fn predict<'py>(&self, py: Python<'py>, data: &Columns, level: Option<f64>) -> PyResult<Bands<'py>> {
        let level = level.unwrap_or(self.0.level());
        let kind = &OPTIONS.entry("level").kind;
        kind.check(&Value::Number(level), "level", Naming::Python).map_err(|error| raised(error.within("predict")))?;
        let formula = self.0.formula();
        let predicted = data.with(py, |view| {
            let predicted = py.detach(|| {
                let columns: Vec<&[f64]> =
                    formula.columns().iter().map(|name| view.numbers(name)).collect::<Result<_>>()?;
                let levels = formula.level_columns().into_iter();
                let levels = levels.map(|name| Ok(view.cells(name)?.levels(0..view.rows())));
                let levels: Vec<curves::Levels> = levels.collect::<Result<_>>()?;
                let levels: Vec<&curves::Levels> = levels.iter().collect();
                self.0.predict_levels(&columns, &levels, view.rows(), level)
            });
            predicted.map_err(|error| raised(error.within("predict")))
        })?;
        let prediction = (!predicted.prediction.is_empty()).then(|| predicted.prediction.into_pyarray(py));
        Ok((predicted.values.into_pyarray(py), predicted.confidence.into_pyarray(py), prediction))
    }

    /// The values of each summand of the formula, with its text; none if it is no sum, or has levels or integrals.
    fn components<'py>(&self, py: Python<'py>, data: &Columns) -> PyResult<Vec<(String, Bound<'py, PyArray1<f64>>)>> {
        let names = self.0.formula().columns();
        let parts = data.with(py, |view| {
            let columns: Result<Vec<&[f64]>> = names.iter().map(|name| view.numbers(name)).collect();
            let parts = columns.and_then(|columns| self.0.components(&columns, view.rows()));
            parts.map_err(|error| raised(error.within("components")))
        })?;
        Ok(parts.into_iter().map(|(text, values)| (text, values.into_pyarray(py))).collect())
    }

    /// The formula with its values as `latex`, `python` or `rust`.
    fn code(&self, language: &str) -> PyResult<String> {
        let text = match language {
            "latex" => self.0.latex(),
            "python" => self.0.function(Language::Python),
            "rust" => self.0.function(Language::Rust),
            other => Err(Error::usage(format!("code: got \"{other}\", expected \"latex\", \"python\" or \"rust\""))),
        };
        text.map_err(raised)
    }
}
