//! The JavaScript interface of curve fitting: a part of its own, fetched when it is needed. Its typed interface is `web/src/fit.ts`.

mod fit_data;
mod fit_options;
mod panic;
mod values;

use js_sys::{Array, Float64Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use panic::on_panic;

use crate::error::{Error, Result, listed};
use crate::fit::{Fits, Formula, MODELS, Problem, SavedFit, SmallFit, is_named, named, report, solve, solve_each};
use crate::host;
use crate::program::parse::is_name;
use crate::program::source::Language;
use fit_data::{Columns, FitRows};
use fit_options::{FitOptions, check_level};
use values::{Answer, object, set, strings, thrown};

/// Fits a model to `data`, an object of arrays by the names of their columns. Returns the report of the fit as JSON, which [`Saved`] reads.
#[wasm_bindgen]
pub fn fit(data: &JsValue, model: &str, options: &JsValue) -> Answer<String> {
    fitted(&Columns::of(data), model.trim(), options).map_err(thrown)
}

/// Fits a model to each of the runs of rows that the column `each` tells apart. Returns arrays of the values and standard errors of the parameters by
/// name, the rms residuals, whether each fit converged, and why some have no answer.
#[wasm_bindgen]
pub fn fit_many(data: &JsValue, model: &str, options: &JsValue, each: &str) -> Answer {
    let fits = solved(&Columns::of(data), model.trim(), options, Some(each), |problem, options, _| {
        solve_each(problem, &options.solve)
    });
    fits.map(|fits| arrays(&fits)).map_err(thrown)
}

fn arrays(fits: &Fits) -> JsValue {
    let numbers = |pick: &dyn Fn(&SmallFit) -> f64| {
        let values: Vec<f64> = fits.fits.iter().map(|fit| fit.as_ref().map_or(f64::NAN, pick)).collect();
        JsValue::from(Float64Array::from(&values[..]))
    };
    let [parameters, stderrs] = [(); 2].map(|()| object([]));
    for (at, name) in fits.parameters.iter().enumerate() {
        set(&parameters, name, &numbers(&|fit| fit.values[at]));
        if let Some(place) = fits.free.iter().position(|&free| free == at) {
            set(&stderrs, name, &numbers(&|fit| fit.stderr(place)));
        }
    }
    let failures = fits.fits.iter().enumerate().filter_map(|(at, fit)| {
        let message = fit.as_ref().err()?.to_string();
        Some(object([("fit", (at as f64).into()), ("message", message.into())]))
    });
    object([
        ("parameters", parameters),
        ("stderrs", stderrs),
        ("rms", numbers(&|fit| fit.rmse)),
        ("converged", numbers(&|fit| f64::from(u8::from(fit.stop.is_converged())))),
        ("failures", failures.collect::<Array>().into()),
    ])
}

fn fitted(data: &Columns, model: &str, options: &JsValue) -> Result<String> {
    solved(data, model, options, None, |problem, options, target| {
        let started = host::now_ms();
        let fit = solve(problem, &options.solve)?;
        Ok(report(problem, &fit, target, (host::now_ms() - started) / 1e3).to_string())
    })
}

/// What `solve` makes of the problem. With the column `each`, every parameter has a value for each of its levels.
fn solved<T>(
    data: &Columns,
    model: &str,
    options: &JsValue,
    each: Option<&str>,
    solve: impl FnOnce(&Problem<'_>, &FitOptions, &str) -> Result<T>,
) -> Result<T> {
    let options = FitOptions::read(options)?;
    let names = data.names();
    let mut formula = formula(model, &names, &options)?;
    check_names(&formula, &names)?;
    for (name, text) in &options.ties {
        formula = formula.tied(name, text)?;
    }
    let target = options.target(&names, &formula)?;
    if let Some(each) = each {
        formula = formula.for_each(each)?;
    }
    let rows = FitRows::of(data, &formula, &target, &options)?;
    let columns = formula.columns().iter().map(String::as_str).zip(&rows.columns);
    let columns = columns.chain(formula.level_columns().into_iter().zip(&rows.levels));
    let columns: Vec<(&str, &[f64])> = columns.map(|(name, column)| (name, column.as_slice())).collect();
    let mut problem = Problem::new(formula.clone(), &columns, &rows.y)?.loss(options.loss, options.loss_scale)?;
    if let Some(sigma) = &rows.sigma {
        problem = problem.sigma(sigma, options.is_absolute)?;
    }
    solve(&options.known(problem)?, &options, &target)
}

/// The model: a formula, or a named model over the first column that is not y.
fn formula(model: &str, names: &[&str], options: &FitOptions) -> Result<Formula> {
    let others = [options.y.as_deref(), options.sigma.as_deref()];
    let first = names.iter().find(|name| !others.contains(&Some(**name)));
    let text = match first {
        // A column alone has no parameters, so a name that is both means the model.
        Some(first) if is_name(model) && (!names.contains(&model) || is_named(model)) => named(model, first)?,
        _ => model.to_owned(),
    };
    Formula::parse(&text, names)
}

/// Errors if the formula uses no column; perhaps a parameter is a mistyped one.
fn check_names(formula: &Formula, names: &[&str]) -> Result<()> {
    if !formula.columns().is_empty() {
        return Ok(());
    }
    let like = |name: &String| names.iter().find(|column| column.eq_ignore_ascii_case(name));
    let near = formula.parameters().iter().find_map(like);
    let near = near.map_or(String::new(), |column| format!("; did you mean \"{column}\"?"));
    let columns = listed(names);
    Err(Error::usage(format!("model: it uses no column: expected at least one of {columns}{near}")))
}

/// Every named model: `{ name, summary, formula, parameters }`.
#[wasm_bindgen]
pub fn models() -> JsValue {
    let model = |model: &crate::fit::NamedModel| {
        object([
            ("name", model.name.into()),
            ("summary", model.summary.into()),
            ("formula", model.formula.into()),
            ("parameters", strings(model.parameters.iter().copied())),
        ])
    };
    MODELS.iter().map(model).collect::<Array>().into()
}

/// A fit that predicts.
#[wasm_bindgen]
pub struct Saved {
    fit: SavedFit,
}

#[wasm_bindgen]
impl Saved {
    /// Reads the report of a fit; `source` names it in errors.
    pub fn parse(text: &str, source: &str) -> Answer<Saved> {
        SavedFit::parse(text, source).map(|fit| Saved { fit }).map_err(thrown)
    }

    /// Values and half widths of the bands for rows of columns by name: `{ values, confidence, prediction }`, the last only if it is known.
    pub fn predict(&self, data: &JsValue, level: Option<f64>) -> Answer {
        self.predicted(&Columns::of(data), level).map_err(thrown)
    }

    /// The fit as `latex`, `python` or `rust`.
    pub fn code(&self, language: &str) -> Answer<String> {
        let text = match language {
            "latex" => self.fit.latex(),
            "python" => self.fit.function(Language::Python),
            "rust" => self.fit.function(Language::Rust),
            other => Err(Error::usage(format!("code: got \"{other}\", expected \"latex\", \"python\" or \"rust\""))),
        };
        text.map_err(thrown)
    }
}

impl Saved {
    fn predicted(&self, data: &Columns, level: Option<f64>) -> Result<JsValue> {
        let level = level.unwrap_or(self.fit.level());
        check_level(level)?;
        let names = self.fit.formula().columns();
        let columns: Vec<Vec<f64>> = names.iter().map(|name| data.numbers("predict", name)).collect::<Result<_>>()?;
        let rows = columns.first().map_or(0, Vec::len);
        if let Some((name, column)) = names.iter().zip(&columns).find(|(_, column)| column.len() != rows) {
            let (got, first) = (column.len(), &names[0]);
            return Err(Error::new(format!(
                "predict: column \"{name}\": got {got} values, expected {rows} as in column \"{first}\""
            )));
        }
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let predicted = self.fit.predict(&slices, rows, level)?;
        let array = |values: &[f64]| JsValue::from(Float64Array::from(values));
        let answer = object([("values", array(&predicted.values)), ("confidence", array(&predicted.confidence))]);
        if predicted.prediction.len() == rows {
            set(&answer, "prediction", &array(&predicted.prediction));
        }
        Ok(answer)
    }
}
