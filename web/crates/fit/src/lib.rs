//! The JavaScript interface of curve fitting: a part of its own, fetched when it is needed. Its typed interface is `web/src/fit.ts`.
#![cfg(target_arch = "wasm32")]

mod data;

use js_sys::{Array, Float64Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use data::Columns;
pub use meromorph_web_values::on_panic;

use data::FitRows;
use meromorph::error::{Error, ErrorKind, Result};
use meromorph::fit::{
    Fit, FitOptions, Formula, Levels, MODELS, OPTIONS, Problem, SavedFit, SmallFit, SolveOptions, report, solve,
    solve_each,
};
use meromorph::internal::host;
use meromorph::options::{Naming, Value};
use meromorph::program::source::Language;
use meromorph_web_values::options::apply;
use meromorph_web_values::{Answer, object, set, strings, thrown};

/// Fits a model to `data`, an object of arrays by the names of their columns. Returns the report of the fit as JSON, which [`Saved`] reads.
#[wasm_bindgen]
pub fn fit(data: &JsValue, model: &str, options: &JsValue) -> Answer<String> {
    fitted(data, model, options).map_err(thrown)
}

fn fitted(data: &JsValue, model: &str, options: &JsValue) -> Result<String> {
    let started = host::now_ms();
    let request = FitRequest::read(&Columns::of(data), model, options, None)?;
    let problem = request.problem()?;
    let fit = solve(&problem, &request.options.solve)?;
    request.report(&problem, fit, started)
}

/// Fits a model to each of the runs of rows that the column `each` numbers, from 0 up to `count`. Returns arrays of the values and standard errors of
/// the parameters by name, the rms residuals, whether each fit converged, and why some have no answer.
#[wasm_bindgen]
pub fn fit_many(data: &JsValue, model: &str, options: &JsValue, each: &str, count: usize) -> Answer {
    many(data, model, options, each, count).map_err(thrown)
}

fn many(data: &JsValue, model: &str, options: &JsValue, each: &str, count: usize) -> Result<JsValue> {
    let request = FitRequest::read(&Columns::of(data), model, options, Some(each))?;
    let FitOptions { profile, bootstrap, sample, derive, condition, sigma_x, .. } = &request.options;
    if *profile || *bootstrap > 0 || *sample > 0 || !derive.is_empty() || condition.is_some() || sigma_x.is_some() {
        return Err(Error::usage("fitMany: where, sigmaX, profile, bootstrap, sample and derive are about one fit"));
    }
    // A fit all of whose rows are left out is not among those that are solved.
    let mut fits: Vec<Option<Result<SmallFit>>> = (0..count).map(|_| None).collect();
    let mut places: Vec<usize> = Vec::new();
    if !request.rows.y.is_empty() {
        let problem = request.problem()?;
        let solved = solve_each(&problem, &request.options.for_many(&problem))?;
        places = solved.free;
        for (levels, fit) in solved.levels.iter().zip(solved.fits) {
            let place = levels[0].parse::<usize>().ok().and_then(|number| fits.get_mut(number));
            place.map(|place| place.replace(fit));
        }
    }
    let names = request.formula.parameters();
    // Fits in parts have the same names in each, whatever is free there.
    let is_free = |name: &String| !request.options.fix.iter().any(|(fixed, _)| fixed == name);
    let free = names.iter().enumerate().filter(|(_, name)| is_free(name));
    let place = |(at, name)| (name, places.iter().position(|&free| free == at));
    let free: Vec<(&String, Option<usize>)> = free.map(place).collect();
    Ok(arrays(names, &free, &fits))
}

/// `free` are the parameters with standard errors and their places in the covariances, if they have one; a fit without rows is `None`.
fn arrays(names: &[String], free: &[(&String, Option<usize>)], fits: &[Option<Result<SmallFit>>]) -> JsValue {
    let numbers = |pick: &dyn Fn(&SmallFit) -> f64| {
        let number = |fit: &Option<Result<SmallFit>>| match fit {
            Some(Ok(fit)) => pick(fit),
            _ => f64::NAN,
        };
        let values: Vec<f64> = fits.iter().map(number).collect();
        JsValue::from(Float64Array::from(&values[..]))
    };
    let [parameters, stderrs] = [(); 2].map(|()| object([]));
    for (at, name) in names.iter().enumerate() {
        set(&parameters, name, &numbers(&|fit| fit.values[at]));
    }
    for (name, place) in free {
        set(&stderrs, name, &numbers(&|fit| place.map_or(f64::NAN, |place| fit.stderr(place))));
    }
    let failures = fits.iter().enumerate().filter_map(|(at, fit)| {
        let message = match fit {
            Some(Ok(_)) => return None,
            Some(Err(error)) => error.to_string(),
            None => NO_ROWS.to_owned(),
        };
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

const NO_ROWS: &str = "fit: no row has all values: expected at least one";

/// A fit with its data and options.
pub struct FitRequest {
    formula: Formula,
    target: String,
    rows: FitRows,
    options: FitOptions,
}

impl FitRequest {
    /// With the column `each`, every parameter has a value for each of its levels.
    pub fn read(data: &Columns, model: &str, options: &JsValue, each: Option<&str>) -> Result<Self> {
        let options = options_of(if each.is_some() { "fitMany" } else { "fit" }, options)?;
        let names = data.names();
        let mut formula = options.formula(model, &names)?;
        let target = options.target(&names, &formula)?;
        if let Some(each) = each {
            formula = formula.for_each(each)?;
        }
        let mut rows = FitRows::of(data, &formula, &target, &options)?;
        options.subtract_background(&formula, &rows.columns, &mut rows.y)?;
        let target = options.without_background(target);
        Ok(Self { formula, target, rows, options })
    }

    /// What is to be minimised.
    pub fn problem(&self) -> Result<Problem<'_>> {
        let Self { formula, rows, options, .. } = self;
        if rows.y.is_empty() {
            return Err(Error::new(NO_ROWS));
        }
        let columns = formula.columns().iter().map(String::as_str).zip(rows.columns.iter().map(Vec::as_slice));
        let columns: Vec<(&str, &[f64])> = columns.collect();
        let levels: Vec<(&str, &Levels)> = formula.level_columns().into_iter().zip(&rows.levels).collect();
        let mut problem = Problem::with_levels(formula.clone(), &columns, &levels, &rows.y)?;
        if let Some(sigma) = &rows.sigma {
            problem = problem.sigma(sigma, options.absolute_sigma)?;
        }
        options.completed(problem)
    }

    /// How it is searched for.
    pub fn solve_options(&self) -> &SolveOptions {
        &self.options.solve
    }

    /// The report of a solved fit, whose intervals from profiles are added if they are wanted. It took the time since `started`, in milliseconds.
    pub fn report(&self, problem: &Problem<'_>, mut fit: Fit, started: f64) -> Result<String> {
        self.options.add_figures(problem, &mut fit, self.rows.sigma_x.as_deref())?;
        Ok(report(problem, &fit, &self.target, (host::now_ms() - started) / 1e3).to_string())
    }
}

/// The options of a fit from a JavaScript object, for the function `call`.
fn options_of(call: &str, object: &JsValue) -> Result<FitOptions> {
    let mut options = FitOptions::default();
    apply(&OPTIONS, &mut options, object, |_| None).map_err(|error| error.within(call).with_kind(ErrorKind::Usage))?;
    options.solve.threads = 1;
    Ok(options)
}

/// Every named model: `{ name, summary, formula, parameters }`.
#[wasm_bindgen]
pub fn models() -> JsValue {
    let model = |model: &meromorph::fit::NamedModel| {
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
        OPTIONS
            .entry("level")
            .kind
            .check(&Value::Number(level), "level", Naming::JavaScript)
            .map_err(|error| error.within("predict"))?;
        let formula = self.fit.formula();
        let numbers = |name: &String| Ok((name.clone(), data.numbers("predict", name)?));
        let columns: Vec<(String, Vec<f64>)> = formula.columns().iter().map(numbers).collect::<Result<_>>()?;
        let levels = |name: &str| Ok((name.to_owned(), data.cells("predict", name)?.all("predict", name)?));
        let levels: Vec<(String, Levels)> = formula.level_columns().into_iter().map(levels).collect::<Result<_>>()?;
        let lengths = columns.iter().map(|(name, column)| (name, column.len()));
        let lengths: Vec<(&String, usize)> =
            lengths.chain(levels.iter().map(|(name, levels)| (name, levels.codes.len()))).collect();
        let rows = lengths.first().map_or(0, |(_, rows)| *rows);
        if let Some((name, got)) = lengths.iter().find(|(_, length)| *length != rows) {
            let (first, _) = lengths[0];
            return Err(Error::new(format!(
                "predict: column \"{name}\": got {got} values, expected {rows} as in column \"{first}\""
            )));
        }
        let columns: Vec<&[f64]> = columns.iter().map(|(_, column)| column.as_slice()).collect();
        let levels: Vec<&Levels> = levels.iter().map(|(_, levels)| levels).collect();
        let predicted = self.fit.predict_levels(&columns, &levels, rows, level)?;
        let array = |values: &[f64]| JsValue::from(Float64Array::from(values));
        let answer = object([("values", array(&predicted.values)), ("confidence", array(&predicted.confidence))]);
        if predicted.prediction.len() == rows {
            set(&answer, "prediction", &array(&predicted.prediction));
        }
        Ok(answer)
    }
}
