//! A fit that was read from its report, and what it predicts.

use nalgebra::{DMatrix, DVector};

use super::covariance::variance_along;
use super::report::{FORMAT, KIND};
use super::seal;
use super::statistics::{FTest, Freedom};
use crate::error::{Error, Result};
use crate::fit::formula::{Formula, Running};
use crate::fit::pass::model::with_derivatives;
use crate::fit::rows::{Groups, Levels};
use crate::json::Json;
use crate::program::{Expr, Program};

/// A solved fit that predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedFit {
    formula: Formula,
    target: String,
    /// All parameters of the formula, each once or once for each level.
    parameters: Vec<(String, f64)>,
    /// Names of the free parameters.
    free: Vec<String>,
    /// For each integral of the formula the values of its columns.
    grids: Vec<Vec<f64>>,
    covariance: DMatrix<f64>,
    /// The variance of an observation around the model; `None` if rows were weighted or the loss was robust, as that of a new row is not known.
    variance: Option<f64>,
    freedom: Freedom,
    level: f64,
    /// The sum of squares, rows and degrees of freedom; the sum is NaN with a robust loss.
    squares: f64,
    /// The weighted sum of squares of y around its mean, which tells data and weights apart; NaN if it is not known.
    spread: f64,
    rows: u64,
    dof: u64,
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
        seal::check(json)?;
        let names = |field: &str| -> Result<Vec<String>> {
            let all = need(json, field, Json::list)?;
            all.iter()
                .map(|one| one.text().map(str::to_owned).ok_or_else(|| one.unlike("a name").within(field)))
                .collect()
        };
        let (columns, levels) = (names("columns")?, names("level_columns")?);
        let columns: Vec<&str> = columns.iter().chain(&levels).map(String::as_str).collect();
        let mut formula = Formula::parse(need(json, "model", Json::text)?, &columns)?;
        for tie in need(json, "ties", Json::list)? {
            formula = formula.tied(need(tie, "name", Json::text)?, need(tie, "formula", Json::text)?)?;
        }
        let mut parameters: Vec<(String, f64)> = Vec::new();
        let Json::Fields(fields) = json.field("parameters")? else {
            return Err(json.field("parameters")?.unlike("an object").within("parameters"));
        };
        for (name, parameter) in fields {
            let value = need(parameter, "value", Json::number).map_err(|error| error.within(name))?;
            parameters.push((name.clone(), value));
        }
        for (at, name) in formula.parameters().iter().enumerate() {
            let is_level = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('['));
            let is_known = |(known, _): &(String, f64)| {
                if formula.levels(at).is_empty() { known == name } else { is_level(known) }
            };
            if !parameters.iter().any(is_known) {
                return Err(json.field("parameters")?.field(name).err().unwrap_or_else(|| Error::new("parameters")));
            }
        }
        let free = names("free")?;
        if let Some(name) = free.iter().find(|name| !parameters.iter().any(|(known, _)| known == *name)) {
            return Err(Error::new(format!("free: \"{name}\" is not a parameter of the model")));
        }
        if let Some(twice) = (1..free.len()).find(|&at| free[..at].contains(&free[at])) {
            let name = &free[twice];
            return Err(Error::new(format!("free: \"{name}\" is there twice: expected each name once")));
        }
        let mut grids: Vec<Vec<f64>> = Vec::new();
        for grid in need(json, "grids", Json::list)? {
            let numbers =
                grid.list().and_then(|numbers| numbers.iter().map(Json::number).collect::<Option<Vec<f64>>>());
            let numbers = numbers.filter(|grid| !grid.is_empty() && grid.is_sorted());
            grids.push(numbers.ok_or_else(|| grid.unlike("numbers in ascending order").within("grids"))?);
        }
        if grids.len() != formula.integrals().len() {
            let (got, expected) = (grids.len(), formula.integrals().len());
            return Err(Error::new(format!("grids: got {got}, expected {expected}, one for each integral")));
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
        let is_linear = need(json, "loss", Json::text)? == "linear";
        let squares = if is_linear { 2.0 * need(json, "cost", Json::number)? } else { f64::NAN };
        let spread = squares / (1.0 - json.get("r_squared").and_then(Json::number).unwrap_or(f64::NAN));
        let (rows, dof) = (need(json, "rows", Json::whole)?, need(json, "dof", Json::whole)?);
        let fit = Self {
            formula,
            target,
            parameters,
            free,
            grids,
            covariance,
            variance,
            freedom,
            level,
            squares,
            spread,
            rows,
            dof,
        };
        Ok(fit)
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

    /// The F test of this fit against a larger one of the same data, of which it is the special case where some parameters have fixed values: whether the
    /// other's additional parameters lower the sum of squares by more than chance would. Errors if the fits are not of the same rows and target, or if
    /// the other has no more parameters.
    pub fn tested_against(&self, larger: &Self) -> Result<FTest> {
        self.check_alike(larger)?;
        let wrong = |what: String| Err(Error::usage(format!("F test: {what}")));
        if larger.dof >= self.dof || larger.dof == 0 {
            let [own, other] = [self, larger].map(|fit| fit.rows - fit.dof);
            return wrong(format!(
                "got models of {own} and {other} free parameters, expected more in the second, and fewer than rows"
            ));
        }
        Ok(FTest::of([self.squares, larger.squares], [self.dof, larger.dof], self.rows))
    }

    /// AIC of another fit of the same data less that of this one, which need not be its special case. Errors as [`SavedFit::tested_against`] does for other
    /// data or losses.
    pub fn aic_difference(&self, other: &Self) -> Result<f64> {
        self.check_alike(other)?;
        let free = |fit: &Self| (fit.rows - fit.dof) as f64;
        Ok(self.rows as f64 * (other.squares / self.squares).ln() + 2.0 * (free(other) - free(self)))
    }

    /// Free parameters of the fit.
    pub fn free_count(&self) -> u64 {
        self.rows - self.dof
    }

    /// The mean of the squares of the weighted residuals.
    pub(crate) fn mean_square(&self) -> f64 {
        self.squares / self.rows as f64
    }

    /// The value of a parameter.
    pub(crate) fn estimate(&self, name: &str) -> Option<f64> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Errors if the fits are not of the same rows and target with the linear loss.
    fn check_alike(&self, other: &Self) -> Result<()> {
        let wrong = |what: String| Err(Error::usage(format!("F test: {what}")));
        if self.rows != other.rows || self.target != other.target {
            let [own, other] = [self, other].map(|fit| format!("{} of {} rows", fit.target, fit.rows));
            return wrong(format!("got fits of {own} and {other}, expected the same data"));
        }
        if !(self.squares - other.squares).is_finite() {
            return wrong("expected fits with the linear loss".to_owned());
        }
        // 1 - R² of a fit without residuals has no digits.
        let is_known = [self, other].iter().all(|fit| fit.spread.is_finite() && fit.squares > 1e-9 * fit.spread);
        if is_known && (self.spread / other.spread - 1.0).abs() > 1e-6 {
            return wrong(
                "the fits are of other data or weights: expected the same rows, and the same sigma".to_owned(),
            );
        }
        Ok(())
    }

    /// The value of each parameter, for each level if it has levels, then of those tied to them, and its standard error; `None` if it is fixed or the data
    /// do not determine it, and for tied ones.
    pub fn estimates(&self) -> impl Iterator<Item = (f64, Option<f64>)> + '_ {
        let stderr = |name: &String| {
            let place = self.free.iter().position(|free| free == name)?;
            Some(self.covariance[(place, place)].sqrt()).filter(|stderr| stderr.is_finite())
        };
        self.parameters.iter().map(move |(name, value)| (*value, stderr(name)))
    }

    /// Predicts rows: the columns that the formula uses, in its order. Bands are computed to first order from the covariance (the delta method).
    /// Errors if parameters have levels.
    pub fn predict(&self, columns: &[&[f64]], rows: usize, level: f64) -> Result<FitPrediction> {
        if let Some(name) = self.formula.level_columns().first() {
            return Err(Error::new(format!(
                "predict: the fit has a parameter for each level of \"{name}\": expected that column"
            )));
        }
        self.predict_levels(columns, &[], rows, level)
    }

    /// For each row the levels that the fit did not have, as `set = s9`, if there are any.
    pub fn unknown_levels(&self, levels: &[&Levels], rows: usize) -> Vec<(usize, String)> {
        let names = self.formula.level_columns();
        let owned = || names.iter().map(|name| (*name).to_owned());
        let (groups, order, ranges) = Groups::of(owned().zip(levels.iter().copied()).collect(), rows);
        let mut unknown: Vec<(usize, String)> = Vec::new();
        for (group, range) in ranges.into_iter().enumerate() {
            let missing = (0..self.formula.parameters().len()).find(|&at| self.value_in(&groups, group, at).is_none());
            if let Some(at) = missing {
                let columns = self.formula.levels(at);
                let label = format!("{} = {}", columns.join(", "), groups.label(group, columns));
                unknown.extend(order[range].iter().map(|&row| (row, label.clone())));
            }
        }
        unknown.sort_unstable();
        unknown
    }

    /// A parameter of the formula in a group: its name and its value, if the fit has one.
    fn value_in(&self, groups: &Groups, group: usize, at: usize) -> Option<(&str, f64)> {
        let name = &self.formula.parameters()[at];
        let label = groups.label(group, self.formula.levels(at));
        let name = if label.is_empty() { name.clone() } else { format!("{name}[{label}]") };
        self.parameters.iter().find(|(known, _)| *known == name).map(|(name, value)| (name.as_str(), *value))
    }

    /// The same with the levels of each of the formula's columns of levels. Errors on a level that the fit did not have.
    pub fn predict_levels(
        &self,
        columns: &[&[f64]],
        levels: &[&Levels],
        rows: usize,
        level: f64,
    ) -> Result<FitPrediction> {
        let names = self.formula.level_columns();
        let known = names.iter().map(|name| (*name).to_owned()).zip(levels.iter().copied()).collect();
        let (groups, order, ranges) = Groups::of(known, rows);
        let reach = self.freedom.reach(level);
        let mut predicted =
            FitPrediction { values: vec![0.0; rows], confidence: vec![0.0; rows], prediction: Vec::new() };
        if self.variance.is_some() {
            predicted.prediction = vec![0.0; rows];
        }
        for (group, range) in ranges.into_iter().enumerate() {
            let own = &order[range];
            let picked: Vec<Vec<f64>> =
                columns.iter().map(|column| own.iter().map(|&row| column[row]).collect()).collect();
            let (places, results) = self.over_group(&groups, group, &picked, own.len())?;
            for (at, &row) in own.iter().enumerate() {
                let mut slopes = DVector::zeros(self.free.len());
                places.iter().zip(&results[1..]).for_each(|(&place, slope)| slopes[place] = slope[at]);
                let variance = variance_along(&self.covariance, &slopes);
                // A width that is not finite is not known.
                let known = |width: f64| if width.is_finite() { width } else { f64::NAN };
                predicted.values[row] = results[0][at];
                predicted.confidence[row] = known(reach * variance.sqrt());
                if let Some(more) = self.variance {
                    predicted.prediction[row] = known(reach * (variance + more).sqrt());
                }
            }
        }
        Ok(predicted)
    }

    /// The values of each summand of the formula in so many rows, with its text; none if the formula is no sum, or has levels or integrals.
    pub fn components(&self, columns: &[&[f64]], rows: usize) -> Result<Vec<(String, Vec<f64>)>> {
        let names: Vec<&str> = self.parameters.iter().map(|(name, _)| name.as_str()).collect();
        let values: Vec<Vec<f64>> = self.parameters.iter().map(|(_, value)| vec![*value; rows]).collect();
        let inputs: Vec<&[f64]> = values.iter().map(Vec::as_slice).chain(columns.iter().copied()).collect();
        let parts = self.formula.summands(&names)?;
        Ok(parts.into_iter().map(|(text, program)| (text, program.results(&inputs, rows).swap_remove(0))).collect())
    }

    /// The model's values over rows of a group and its derivatives by free parameters, with the places of these.
    fn over_group(
        &self,
        groups: &Groups,
        group: usize,
        columns: &[Vec<f64>],
        rows: usize,
    ) -> Result<(Vec<usize>, Vec<Vec<f64>>)> {
        let formula = &self.formula;
        let (mut values, mut variables, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..formula.parameters().len() {
            let Some((name, value)) = self.value_in(groups, group, at) else {
                let (label, columns) = (groups.label(group, formula.levels(at)), formula.levels(at).join(", "));
                return Err(Error::new(format!("{columns}: got {label}, which the fit did not have")));
            };
            values.push(value);
            if let Some(place) = self.free.iter().position(|known| known == name) {
                variables.push(at);
                places.push(place);
            }
        }
        // The formula over the free parameters first, then all others as constants.
        let count = variables.len();
        let program = Program::build(count + columns.len() + self.grids.len(), |inputs| {
            let mut taken: Vec<Expr> = values.iter().map(|&value| Expr::from(value)).collect();
            variables.iter().zip(inputs).for_each(|(&at, input)| taken[at] = *input);
            taken.extend(&inputs[count..]);
            formula.program().emit(&taken)
        });
        let integrals = formula.integrals();
        let (whole, slopes) = with_derivatives(&program, &variables, columns.len(), integrals);
        let running: Vec<Running> = integrals
            .iter()
            .zip(&self.grids)
            .map(|(integral, grid)| {
                let end = |end: usize| integral.at(grid, &values, &variables, &columns[end]);
                match integral.ends[..] {
                    [from, to] => end(to).minus(&end(from)),
                    _ => end(integral.ends[0]),
                }
            })
            .collect();
        let scalars: Vec<[f64; 1]> = variables.iter().map(|&at| [values[at]]).collect();
        let inputs: Vec<&[f64]> = scalars
            .iter()
            .map(|value| &value[..])
            .chain(columns.iter().map(Vec::as_slice))
            .chain(running.iter().map(|one| one.values.as_slice()))
            .chain(slopes.iter().map(|&(integral, at)| running[integral].slopes[at].as_slice()))
            .collect();
        Ok((places, whole.results(&inputs, rows)))
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
