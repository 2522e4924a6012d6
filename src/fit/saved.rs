//! A fit as JSON: the report of a fit, which is also the file that predicts.

use nalgebra::{DMatrix, DVector};

use super::covariance::variance_along;
use super::formula::Formula;
use super::problem::Problem;
use super::result::{Fit, Fitted};
use super::statistics::{Freedom, Statistics};
use crate::error::{Error, Result};
use crate::host::number;
use crate::json::Json;

/// The schema of the file.
const FORMAT: u64 = 1;
/// What the file says it is.
const KIND: &str = "meromorph fit";

/// A solved fit that predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedFit {
    formula: Formula,
    target: String,
    /// Of all parameters of the formula.
    values: Vec<f64>,
    /// Places of the free parameters.
    free: Vec<usize>,
    covariance: DMatrix<f64>,
    /// The variance of an observation around the model; `None` if rows were weighted or the loss was robust, as that of a new row is not known.
    variance: Option<f64>,
    freedom: Freedom,
    level: f64,
}

/// A prediction with its bands, a number per row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitPrediction {
    /// The model's values.
    pub values: Vec<f64>,
    /// Half widths of the confidence band, which holds the model's true value.
    pub confidence: Vec<f64>,
    /// Half widths of the prediction band, which holds a new observation; empty if the fit was weighted by sigma or its loss was robust.
    pub prediction: Vec<f64>,
}

/// The report of a fit: the model, the parameters by name, covariance, statistics, how it was solved and in how
/// many seconds.
pub fn report(problem: &Problem<'_>, fit: &Fit, target: &str, seconds: f64) -> Json {
    let text = |text: &str| Json::Text(text.to_owned());
    let texts = |all: &[String]| Json::List(all.iter().map(|one| text(one)).collect());
    let formula = &problem.formula;
    let tie = |tie: &super::formula::Tie| Json::fields([("name", text(&tie.name)), ("formula", text(&tie.text))]);
    let rows = |matrix: &[Vec<f64>]| Json::List(matrix.iter().map(|row| list(row)).collect());
    let Statistics { r_squared, rmse, reduced_chi_square, aic, bic } = fit.statistics;
    Json::fields([
        ("event", text("report")),
        ("kind", text(KIND)),
        ("format", whole(FORMAT)),
        ("model", text(formula.text())),
        ("target", text(target)),
        ("columns", texts(formula.columns())),
        ("ties", Json::List(formula.ties().iter().map(tie).collect())),
        ("parameters", Json::Fields(fit.parameters.iter().map(|one| (one.name.clone(), fitted(one))).collect())),
        ("free", texts(&fit.free)),
        ("covariance", rows(&fit.covariance)),
        ("correlation", rows(&fit.correlation())),
        ("undetermined", texts(&fit.undetermined)),
        ("flat_derivatives", whole(fit.flat_derivatives as u64)),
        ("cost", real(fit.cost)),
        ("rows", whole(fit.rows as u64)),
        ("dof", whole(fit.dof as u64)),
        ("level", real(fit.level)),
        ("is_weighted", Json::Bool(problem.sigma.is_some())),
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
        ("evaluations", whole(fit.evaluations as u64)),
        ("history", list(&fit.history)),
        ("expected_shift_in_sigma", fit.expected_shift.map_or(Json::Null, real)),
        ("seconds", real(seconds)),
        ("device", text("cpu")),
        ("precision", text("f64")),
        ("strategy", text("standard")),
    ])
}

fn fitted(parameter: &Fitted) -> Json {
    Json::fields([
        ("value", real(parameter.value)),
        ("stderr", parameter.stderr.map_or(Json::Null, real)),
        ("interval", parameter.interval.map_or(Json::Null, |interval| list(&interval))),
        ("is_fixed", Json::Bool(parameter.is_fixed)),
        ("is_at_bound", Json::Bool(parameter.is_at_bound)),
    ])
}

fn whole(value: u64) -> Json {
    Json::Number(value.to_string())
}

/// A number with all its digits; null if it is not finite.
fn real(value: f64) -> Json {
    if value.is_finite() { Json::Number(number(value).to_string()) } else { Json::Null }
}

fn list(values: &[f64]) -> Json {
    Json::List(values.iter().map(|&value| real(value)).collect())
}

impl SavedFit {
    /// Reads a report that [`report`] wrote; `source` names it in errors.
    pub fn parse(text: &str, source: &str) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Json::parse(text).and_then(|json| Self::read(&json)).map_err(|error| error.within(source))
    }

    fn read(json: &Json) -> Result<Self> {
        if json.field("kind")?.text() != Some(KIND) {
            return Err(Error::new("this JSON is not a fit: expected a file that mero fit --out wrote"));
        }
        let format = need(json, "format", Json::whole)?;
        if format != FORMAT {
            return Err(Error::new(format!(
                "format: got {format}, expected {FORMAT}: it was written by another version"
            )));
        }
        let names = |field: &str| -> Result<Vec<String>> {
            let all = need(json, field, Json::list)?;
            all.iter()
                .map(|one| one.text().map(str::to_owned).ok_or_else(|| one.unlike("a name").within(field)))
                .collect()
        };
        let columns = names("columns")?;
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut formula = Formula::parse(need(json, "model", Json::text)?, &columns)?;
        for tie in need(json, "ties", Json::list)? {
            formula = formula.tied(need(tie, "name", Json::text)?, need(tie, "formula", Json::text)?)?;
        }
        let parameters = json.field("parameters")?;
        let value =
            |name: &String| need(parameters.field(name)?, "value", Json::number).map_err(|error| error.within(name));
        let values: Vec<f64> = formula.parameters().iter().map(value).collect::<Result<_>>()?;
        let place = |name: &String| {
            let found = formula.parameters().iter().position(|known| known == name);
            found.ok_or_else(|| Error::new(format!("free: \"{name}\" is not a parameter of the model")))
        };
        let free: Vec<usize> = names("free")?.iter().map(place).collect::<Result<_>>()?;
        if let Some(twice) = (1..free.len()).find(|&at| free[..at].contains(&free[at])) {
            let name = &formula.parameters()[free[twice]];
            return Err(Error::new(format!("free: \"{name}\" is there twice: expected each name once")));
        }
        let covariance = square(json.field("covariance")?, free.len()).map_err(|error| error.within("covariance"))?;
        let dof = need(json, "dof", Json::whole)? as usize;
        let flag = |field: &str| match json.field(field)? {
            Json::Bool(value) => Ok(*value),
            other => Err(other.unlike("true or false").within(field)),
        };
        // The variance of a new row is not known if rows were weighted, nor from a robust loss.
        let is_plain = !flag("is_weighted")? && need(json, "loss", Json::text)? == "linear";
        let variance = json.field("reduced_chi_square")?.number().filter(|variance| is_plain && *variance >= 0.0);
        let freedom = Freedom::of(flag("is_absolute")?, dof);
        let (target, level) = (need(json, "target", Json::text)?.to_owned(), need(json, "level", Json::number)?);
        Ok(Self { formula, target, values, free, covariance, variance, freedom, level })
    }

    /// The formula.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// What was fitted: a column or a formula over columns.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Probability of the fit's intervals.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The value of each parameter of the formula and its standard error; `None` if it is fixed or the data do not determine it.
    pub fn estimates(&self) -> impl Iterator<Item = (f64, Option<f64>)> + '_ {
        let stderr = |at: usize| {
            let place = self.free.iter().position(|&free| free == at)?;
            Some(self.covariance[(place, place)].sqrt()).filter(|stderr| stderr.is_finite())
        };
        self.values.iter().enumerate().map(move |(at, &value)| (value, stderr(at)))
    }

    /// Predicts rows: the columns that the formula uses, in its order. Bands are computed to first order from the covariance (the delta method).
    pub fn predict(&self, columns: &[&[f64]], rows: usize, level: f64) -> FitPrediction {
        let program = self.formula.program().with_gradient(&self.free);
        let scalars: Vec<[f64; 1]> = self.values.iter().map(|&value| [value]).collect();
        let inputs: Vec<&[f64]> = scalars.iter().map(|value| &value[..]).chain(columns.iter().copied()).collect();
        let mut results = program.results(&inputs, rows);
        let reach = self.freedom.reach(level);
        let slopes = |row: usize| DVector::from_fn(self.free.len(), |at, _| results[1 + at][row]);
        let variances: Vec<f64> = (0..rows).map(|row| variance_along(&self.covariance, &slopes(row))).collect();
        // A width that is not finite is not known.
        let known = |width: f64| if width.is_finite() { width } else { f64::NAN };
        let around = |more: f64| variances.iter().map(|own| known(reach * (own + more).sqrt())).collect();
        let prediction = self.variance.map_or(Vec::new(), around);
        FitPrediction { confidence: around(0.0), prediction, values: results.swap_remove(0) }
    }
}

/// A square matrix; null is infinite.
fn square(json: &Json, size: usize) -> Result<DMatrix<f64>> {
    let wrong = || Error::new(format!("expected {size} rows of {size} numbers, one for each free parameter"));
    let rows = json.list().filter(|rows| rows.len() == size).ok_or_else(wrong)?;
    let mut entries = Vec::with_capacity(size * size);
    for row in rows {
        let row = row.list().filter(|row| row.len() == size).ok_or_else(wrong)?;
        for entry in row {
            entries.push(if entry == &Json::Null { f64::INFINITY } else { entry.number().ok_or_else(wrong)? });
        }
    }
    Ok(DMatrix::from_row_slice(size, size, &entries))
}

/// A field of a type, or an error that names it.
fn need<'a, T>(json: &'a Json, field: &str, pick: impl Fn(&'a Json) -> Option<T>) -> Result<T> {
    let value = json.field(field)?;
    pick(value).ok_or_else(|| value.unlike("another type").within(field))
}
