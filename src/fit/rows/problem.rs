//! A fit to be solved: a formula, its data, starts and bounds of its parameters, and a loss.

use std::collections::HashMap;

use super::data::Data;
use super::levels::{Groups, Levels};
use super::powers::check_powers;
use super::reading::Wanted;
use super::strategy::Strategy;
use crate::error::{Error, Result, hint, listed};
use crate::files::RowSource;
use crate::fit::formula::{Formula, Parameter, RobustLoss};
use crate::host::{ThreadPool, number, threads};

/// Observed values beyond these have squares that are not finite, or 0.
const LARGEST: f64 = 1e150;
const SMALLEST: f64 = 1e-150;

/// A formula with its data, and what is known of its parameters. Rows are weighted equally unless [`Problem::sigma`] is called.
#[derive(Clone)]
pub struct Problem<'a> {
    pub(crate) formula: Formula,
    /// Those of the formula, in its order, each once or once for each level.
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) data: Data<'a>,
    pub(crate) groups: Groups,
    /// For each group and each parameter of the formula, a place among the parameters.
    pub(crate) places: Vec<Vec<usize>>,
    pub(crate) is_absolute: bool,
    pub(crate) loss: RobustLoss,
    pub(crate) scale: f64,
    pub(crate) strategy: Strategy,
}

impl<'a> Problem<'a> {
    /// The formula over data: columns by name, each with a value per row, and the observed values. Errors if the formula uses a column that is not
    /// there, if lengths differ or if a number is not finite.
    pub fn new(formula: Formula, columns: &[(&str, &'a [f64])], y: &'a [f64]) -> Result<Self> {
        Self::with_levels(formula, columns, &[], y)
    }

    /// The same with columns of levels for parameters such as `a[set]`. Levels of other columns that the formula uses so are their distinct numbers.
    pub fn with_levels(
        formula: Formula,
        columns: &[(&str, &'a [f64])],
        levels: &[(&str, &Levels)],
        y: &'a [f64],
    ) -> Result<Self> {
        check_finite("y", y)?;
        let rows = y.len();
        let check_length = |name: &str, got: usize| {
            let wrong = || Error::new(format!("fit: column \"{name}\": got {got} values, expected {rows} as for y"));
            if got == rows { Ok(()) } else { Err(wrong()) }
        };
        let find = |expected: &str| {
            let found = columns.iter().find(|(known, _)| *known == expected);
            let (_, values) = found.ok_or_else(|| {
                let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
                Error::new(format!("fit: the column \"{expected}\" is missing: got {}", listed(&names)))
            })?;
            check_length(expected, values.len())?;
            check_finite(&format!("column \"{expected}\""), values)?;
            Ok::<&'a [f64], Error>(values)
        };
        let mut used: Vec<&[f64]> = formula.columns().iter().map(|name| find(name)).collect::<Result<_>>()?;
        used.push(y);
        let mut known: Vec<(String, std::borrow::Cow<'_, Levels>)> = Vec::new();
        for name in formula.level_columns() {
            let given = levels.iter().find(|(known, _)| *known == name);
            let levels = match given {
                Some((_, levels)) => {
                    check_length(name, levels.codes.len())?;
                    std::borrow::Cow::Borrowed(*levels)
                }
                None => std::borrow::Cow::Owned(Levels::of_numbers(find(name)?)),
            };
            known.push((name.to_owned(), levels));
        }
        let known = known.iter().map(|(name, levels)| (name.clone(), levels.as_ref())).collect();
        let (data, groups) = Data::held(used, formula.integrals(), known);
        Ok(Self::over(formula, data, groups))
    }

    /// The formula over a source whose rows are read whenever they are used, so that they may be more than fit into memory: once now, then once for
    /// each evaluation. Rows with a missing number in a column that is used are an error, or left out if `drops`.
    pub fn read(
        formula: Formula,
        source: &'a dyn RowSource,
        y: &str,
        sigma: Option<(&str, bool)>,
        drops: bool,
    ) -> Result<Self> {
        let expected = Wanted {
            columns: formula.columns(),
            y,
            sigma: sigma.map(|(name, _)| name),
            levels: formula.level_columns(),
            drops,
        };
        let (data, groups) = Data::read(source, &expected, formula.integrals(), &ThreadPool::new(threads())?)?;
        let problem = Self::over(formula, data, groups);
        Ok(Self { is_absolute: sigma.is_some_and(|(_, is_absolute)| is_absolute), ..problem })
    }

    fn over(formula: Formula, data: Data<'a>, groups: Groups) -> Self {
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut places = vec![Vec::new(); groups.count()];
        for (at, name) in formula.parameters().iter().enumerate() {
            let mut known: HashMap<String, usize> = HashMap::new();
            for (group, places) in places.iter_mut().enumerate() {
                let label = groups.label(group, formula.levels(at));
                let place = *known.entry(label).or_insert_with_key(|label| {
                    let bracket = if label.is_empty() { String::new() } else { format!("[{label}]") };
                    parameters.push(Parameter::new(&format!("{name}{bracket}")));
                    parameters.len() - 1
                });
                places.push(place);
            }
        }
        let (is_absolute, loss, scale) = (false, RobustLoss::Linear, 1.0);
        let strategy = Strategy::default();
        Self { formula, parameters, data, groups, places, is_absolute, loss, scale, strategy }
    }

    /// Standard deviations of the observed values, one per row: residuals are divided by them. If they are absolute, the covariance is not
    /// scaled by the residuals. Errors if one is not above 0.
    pub fn sigma(mut self, sigma: &'a [f64], is_absolute: bool) -> Result<Self> {
        if self.data.source().is_some() {
            return Err(Error::usage("fit: sigma: rows are read from a source: expected sigma as one of its columns"));
        }
        check_finite("sigma", sigma)?;
        if sigma.len() != self.rows() {
            let (got, rows) = (sigma.len(), self.rows());
            return Err(Error::new(format!("fit: sigma: got {got} values, expected {rows} as for y")));
        }
        if let Some(row) = sigma.iter().position(|&sigma| sigma <= 0.0) {
            let (value, row) = (number(sigma[row]), row + 1);
            return Err(Error::new(format!("fit: sigma, row {row}: got {value}, expected a number above 0")));
        }
        self.data.add_sigma(sigma);
        self.is_absolute = is_absolute;
        Ok(self)
    }

    /// Starts the search for one parameter at a value; the name without a level means all of its levels.
    pub fn start(mut self, name: &str, value: f64) -> Result<Self> {
        check_number("p0", name, value)?;
        self.each("p0", name, |parameter| parameter.start = Some(value))?;
        Ok(self)
    }

    /// Keeps one parameter within bounds, which may be infinite. Errors unless `low` is below `high`.
    pub fn bounds(mut self, name: &str, low: f64, high: f64) -> Result<Self> {
        let is_range = low < high;
        if !is_range {
            let [low, high] = [low, high].map(number);
            return Err(Error::usage(format!(
                "bounds: {name}: got {low} to {high}, expected the lower bound below the upper; to keep a parameter at a value, fix it"
            )));
        }
        self.each("bounds", name, |parameter| (parameter.low, parameter.high) = (low, high))?;
        Ok(self)
    }

    /// Keeps the widths and scales of named models at 0 or above; bounds that are set later win.
    #[must_use]
    pub fn usual_bounds(mut self) -> Self {
        for name in self.formula.positive().to_vec() {
            // A tied parameter is none of the formula's.
            let _ = self.each("bounds", &name, |parameter| parameter.low = 0.0);
        }
        self
    }

    /// Keeps one parameter at a value.
    pub fn fix(mut self, name: &str, value: f64) -> Result<Self> {
        check_number("fix", name, value)?;
        self.each("fix", name, |parameter| (parameter.start, parameter.is_fixed) = (Some(value), true))?;
        Ok(self)
    }

    /// The loss of a residual, or the likelihood of counts, whose errors are absolute; and the size of residual from which it counts less, in units of y or, with sigma, of sigma.
    pub fn loss(self, loss: RobustLoss, scale: f64) -> Result<Self> {
        if !(scale > 0.0 && scale.is_finite()) {
            let got = number(scale);
            return Err(Error::usage(format!("loss scale: got {got}, expected a finite number above 0")));
        }
        if loss != RobustLoss::Poisson {
            return Ok(Self { loss, scale, ..self });
        }
        if self.data.has_sigma {
            return Err(Error::usage("loss: poisson: counts have their own standard deviations: expected no sigma"));
        }
        for piece in 0..self.data.rows().div_ceil(super::pieces::PIECE) {
            let negative = self.data.with(super::pieces::range(piece, self.data.rows()), |part| {
                let row = part.y.iter().position(|y| *y < 0.0)?;
                Some((part.numbers.of(row) + 1, part.y[row]))
            })?;
            if let Some((row, y)) = negative {
                let y = number(y);
                return Err(Error::new(format!("loss: poisson: y in row {row} is {y}, expected counts of at least 0")));
            }
        }
        Ok(Self { loss, scale, is_absolute: true, ..self })
    }

    /// What the report says of where the rows are; the source determines where they are.
    pub fn strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// The formula.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// The parameters, in the formula's order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.data.used
    }

    /// Number of groups of rows: combinations of levels; 1 if no parameter has levels.
    pub fn groups(&self) -> usize {
        self.groups.count()
    }

    /// Places of the parameters that are not fixed.
    pub(crate) fn free(&self) -> Vec<usize> {
        (0..self.parameters.len()).filter(|&at| !self.parameters[at].is_fixed).collect()
    }

    /// Errors if the fit cannot have a unique answer whatever the data are.
    pub(crate) fn check(&self) -> Result<()> {
        let (free, rows) = (self.free().len(), self.rows());
        if rows == 0 {
            return Err(Error::usage(
                "fit: no row is left: expected rows with the columns that are used, and for which the condition holds",
            ));
        }
        if free == 0 {
            return Err(Error::usage("fit: every parameter is fixed: expected at least one that is free"));
        }
        if rows < free {
            return Err(too_few(rows, free).within("fit"));
        }
        check_powers(self)?;
        self.check_values()
    }

    /// Errors if squares of the observed values overflow, or are 0 although the values are not. Rows of a source are not looked at.
    pub(crate) fn check_sizes(&self) -> Result<()> {
        if self.data.source().is_some() || self.data.has_sigma {
            return Ok(());
        }
        self.data.with(0..self.data.rows(), |part| {
            if let Some(at) = part.y.iter().position(|y| y.abs() > LARGEST) {
                let (row, value) = (part.numbers.of(at) + 1, part.y[at]);
                return Err(Error::usage(format!(
                    "fit: y, row {row}: got {value:e}, whose square is too large for double precision: expected values below 1e150"
                )));
            }
            let most = part.y.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
            if most > 0.0 && most < SMALLEST {
                return Err(Error::usage(format!(
                    "fit: y: got values up to {most:.3e}, whose squares are 0 in double precision: expected larger ones, such as y * 1e200"
                )));
            }
            Ok(())
        })?
    }

    /// Errors if a start or a fixed value is outside of its bounds.
    pub(crate) fn check_values(&self) -> Result<()> {
        for parameter in &self.parameters {
            let Parameter { name, start, low, high, is_fixed } = parameter;
            if let Some(start) = start.filter(|&start| !parameter.admits(start)) {
                let [start, low, high] = [start, *low, *high].map(number);
                let what = if *is_fixed { "fix" } else { "p0" };
                return Err(Error::usage(format!(
                    "{what}: {name}: got {start}, expected a value within its bounds {low} to {high}"
                )));
            }
        }
        Ok(())
    }

    /// Changes the parameter of this name, or with the formula's name those of all its levels.
    fn each(&mut self, option: &str, name: &str, change: impl Fn(&mut Parameter)) -> Result<()> {
        if let Some(at) = self.formula.parameters().iter().position(|known| known == name) {
            self.places.iter().for_each(|places| change(&mut self.parameters[places[at]]));
            return Ok(());
        }
        if let Some(parameter) = self.parameters.iter_mut().find(|parameter| parameter.name == name) {
            change(parameter);
            return Ok(());
        }
        let names = self.formula.parameters().iter().map(String::as_str);
        let more = self.parameters.iter().map(|parameter| parameter.name.as_str());
        let (all, near) = (listed(&names.clone().collect::<Vec<_>>()), hint(name, names.chain(more)));
        Err(Error::usage(format!("{option}: \"{name}\" is not a parameter of the model: expected one of {all}{near}")))
    }
}

/// The error of fewer rows than free parameters.
pub(crate) fn too_few(rows: usize, free: usize) -> Error {
    let plural = if rows == 1 { "" } else { "s" };
    Error::new(format!("got {rows} row{plural}, expected at least {free}, one for each free parameter"))
}

fn check_finite(what: &str, values: &[f64]) -> Result<()> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => {
            let (row, value) = (at + 1, number(values[at]));
            Err(Error::new(format!("fit: {what}, row {row}: got {value}, expected a finite number")))
        }
    }
}

fn check_number(option: &str, name: &str, value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    let value = number(value);
    Err(Error::usage(format!("{option}: {name}: got {value}, expected a finite number")))
}
