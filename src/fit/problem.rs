//! A fit to be solved: a formula, its data, starts and bounds of its parameters, and a loss.

use super::formula::Formula;
use super::loss::RobustLoss;
use super::parameter::Parameter;
use crate::error::{Error, Result, hint, listed};
use crate::host::number;

/// A formula with its data, and what is known of its parameters. Rows are weighted equally unless [`Problem::sigma`] is called.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    pub(super) formula: Formula,
    pub(super) parameters: Vec<Parameter>,
    /// Those that the formula uses, in its order.
    pub(super) columns: Vec<&'a [f64]>,
    pub(super) y: &'a [f64],
    pub(super) sigma: Option<&'a [f64]>,
    pub(super) is_absolute: bool,
    pub(super) loss: RobustLoss,
    pub(super) scale: f64,
}

impl<'a> Problem<'a> {
    /// The formula over data: columns by name, each with a value per row, and the observed values. Errors if the formula uses a column that is not
    /// there, if lengths differ or if a number is not finite.
    pub fn new(formula: Formula, columns: &[(&str, &'a [f64])], y: &'a [f64]) -> Result<Self> {
        check_finite("y", y)?;
        let mut used = Vec::new();
        for name in formula.columns() {
            let found = columns.iter().find(|(known, _)| known == name);
            let (_, values) = found.ok_or_else(|| {
                let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
                Error::new(format!("fit: the column \"{name}\" is missing: got {}", listed(&names)))
            })?;
            if values.len() != y.len() {
                let (got, rows) = (values.len(), y.len());
                return Err(Error::new(format!("fit: column \"{name}\": got {got} values, expected {rows} as for y")));
            }
            check_finite(&format!("column \"{name}\""), values)?;
            used.push(*values);
        }
        let parameters = formula.parameters().iter().map(|name| Parameter::new(name)).collect();
        let (sigma, is_absolute, loss, scale) = (None, false, RobustLoss::Linear, 1.0);
        Ok(Self { formula, parameters, columns: used, y, sigma, is_absolute, loss, scale })
    }

    /// Standard deviations of the observed values, one per row: residuals are divided by them. If they are absolute, the covariance is not
    /// scaled by the residuals. Errors if one is not above 0.
    pub fn sigma(self, sigma: &'a [f64], is_absolute: bool) -> Result<Self> {
        check_finite("sigma", sigma)?;
        if sigma.len() != self.y.len() {
            let (got, rows) = (sigma.len(), self.y.len());
            return Err(Error::new(format!("fit: sigma: got {got} values, expected {rows} as for y")));
        }
        if let Some(row) = sigma.iter().position(|&sigma| sigma <= 0.0) {
            let (value, row) = (number(sigma[row]), row + 1);
            return Err(Error::new(format!("fit: sigma, row {row}: got {value}, expected a number above 0")));
        }
        Ok(Self { sigma: Some(sigma), is_absolute, ..self })
    }

    /// Starts the search for one parameter at a value.
    pub fn start(mut self, name: &str, value: f64) -> Result<Self> {
        check_number("p0", name, value)?;
        self.parameter("p0", name)?.start = Some(value);
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
        let parameter = self.parameter("bounds", name)?;
        (parameter.low, parameter.high) = (low, high);
        Ok(self)
    }

    /// Keeps the widths and scales of named models at 0 or above; bounds that are set later win.
    #[must_use]
    pub fn usual_bounds(mut self) -> Self {
        let positive = self.formula.positive();
        let parameters = self.parameters.iter_mut().filter(|parameter| positive.contains(&parameter.name));
        parameters.for_each(|parameter| parameter.low = 0.0);
        self
    }

    /// Keeps one parameter at a value.
    pub fn fix(mut self, name: &str, value: f64) -> Result<Self> {
        check_number("fix", name, value)?;
        let parameter = self.parameter("fix", name)?;
        (parameter.start, parameter.is_fixed) = (Some(value), true);
        Ok(self)
    }

    /// The loss of a residual, and the size of residual from which it counts less, in units of y or, with sigma, of sigma.
    pub fn loss(self, loss: RobustLoss, scale: f64) -> Result<Self> {
        if !(scale > 0.0 && scale.is_finite()) {
            let got = number(scale);
            return Err(Error::usage(format!("loss scale: got {got}, expected a finite number above 0")));
        }
        Ok(Self { loss, scale, ..self })
    }

    /// The parameters, in the formula's order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.y.len()
    }

    /// Places of the parameters that are not fixed.
    pub(super) fn free(&self) -> Vec<usize> {
        (0..self.parameters.len()).filter(|&at| !self.parameters[at].is_fixed).collect()
    }

    /// Errors if the fit cannot have a unique answer whatever the data are.
    pub(super) fn check(&self) -> Result<()> {
        let (free, rows) = (self.free().len(), self.y.len());
        if free == 0 {
            return Err(Error::usage("fit: every parameter is fixed: expected at least one that is free"));
        }
        if rows < free {
            return Err(Error::new(format!(
                "fit: got {rows} row{}, expected at least {free}, one for each free parameter",
                if rows == 1 { "" } else { "s" }
            )));
        }
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

    fn parameter(&mut self, option: &str, name: &str) -> Result<&mut Parameter> {
        let names = || self.parameters.iter().map(|parameter| parameter.name.as_str());
        let Some(at) = names().position(|known| known == name) else {
            let (all, near) = (listed(&names().collect::<Vec<_>>()), hint(name, names()));
            return Err(Error::usage(format!(
                "{option}: \"{name}\" is not a parameter of the model: expected one of {all}{near}"
            )));
        };
        Ok(&mut self.parameters[at])
    }
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
