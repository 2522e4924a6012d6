//! Whether a model is the special case of another: fitted to the values of the smaller model, the larger one has to reproduce them.

use super::saved::SavedFit;
use super::solve::solve;
use crate::error::Result;
use crate::fit::formula::Parameter;
use crate::fit::rows::{Levels, Problem};
use crate::fit::search::SolveOptions;

/// The share of the smaller model's sum of squares below which what is left is rounding errors of the search.
const REPRODUCED: f64 = 1e-8;

impl SavedFit {
    /// Whether this model is a special case of that of `larger`, at least at its fitted parameters, in some rows: the columns and levels of the larger
    /// formula, in its order, and the standard deviations, if rows are weighted. The larger model is fitted to this model's values there; its
    /// search starts where parameters have the values of this fit, as far as names agree, and others are 0 or as in the fit of the larger model.
    pub fn is_within(
        &self,
        larger: &Problem<'_>,
        fitted: &Self,
        columns: &[impl AsRef<[f64]>],
        levels: &[Levels],
        sigma: Option<&[f64]>,
    ) -> Result<bool> {
        let formula = &larger.formula;
        let (names, level_names) = (formula.columns(), formula.level_columns());
        let own: Option<Vec<&[f64]>> = self
            .formula()
            .columns()
            .iter()
            .map(|name| names.iter().position(|known| known == name).map(|at| columns[at].as_ref()))
            .collect();
        let own_levels: Option<Vec<&Levels>> = self
            .formula()
            .level_columns()
            .into_iter()
            .map(|name| level_names.iter().position(|known| *known == name).map(|at| &levels[at]))
            .collect();
        let (Some(own), Some(own_levels)) = (own, own_levels) else { return Ok(false) };
        let rows = columns.first().map_or(0, |column| column.as_ref().len());
        let values = self.predict_levels(&own, &own_levels, rows, self.level())?.values;
        if values.iter().any(|value| !value.is_finite()) {
            return Ok(false);
        }
        let named: Vec<(&str, &[f64])> =
            names.iter().map(String::as_str).zip(columns.iter().map(AsRef::as_ref)).collect();
        let levels: Vec<(&str, &Levels)> = level_names.into_iter().zip(levels).collect();
        let mut problem = Problem::with_levels(formula.clone(), &named, &levels, &values)?;
        if let Some(sigma) = sigma {
            problem = problem.sigma(sigma, true)?;
        }
        let size: f64 = values.iter().map(|value| value * value).sum();
        let limit = REPRODUCED * self.mean_square() * rows as f64 + f64::EPSILON * f64::EPSILON * size;
        let given = |name: &str| larger.parameters.iter().find(|one| one.name == name);
        for other in [Some(Other::Fitted), Some(Other::Zero), None] {
            for parameter in &mut problem.parameters {
                let Some(known) = given(&parameter.name) else { continue };
                let Parameter { low, high, is_fixed, start, .. } = known.clone();
                let fitted = fitted.estimate(&parameter.name);
                let value = match (other, self.like(&parameter.name)) {
                    _ if is_fixed => start,
                    (None, _) => None,
                    (Some(_), Some(value)) => Some(value),
                    (Some(Other::Zero), None) => Some(0.0),
                    (Some(Other::Fitted), None) => fitted,
                };
                let start = value.map(|value| value.clamp(low, high));
                *parameter = Parameter { name: parameter.name.clone(), start, low, high, is_fixed };
            }
            let options = SolveOptions { recovers: other.is_none(), ..SolveOptions::default() };
            if solve(&problem, &options).is_ok_and(|fit| 2.0 * fit.cost <= limit) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The value of the parameter that has a name in another model: the same one, or that without level or number.
    fn like(&self, name: &str) -> Option<f64> {
        let plain = name.split('[').next().unwrap_or(name);
        let stem = plain.trim_end_matches(|c: char| c.is_ascii_digit());
        [name, plain, stem].into_iter().find_map(|name| self.estimate(name))
    }
}

/// Where parameters start that the smaller model does not have.
#[derive(Clone, Copy)]
enum Other {
    Zero,
    Fitted,
}
