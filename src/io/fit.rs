//! Fits a preparation to the training rows: means and scales, counts, and fill-in values.

use super::choose::ColumnRoles;
use super::feature::{CategoryFeature, Feature, NumberFeature};
use super::levels::{Match, classes, levels, matches};
use super::measure::Measure;
use super::prepare::{Preparation, Target};
use super::table::{Column, Table};
use super::target::Task;
use crate::error::{Error, Result};
use crate::host::number;

impl Preparation {
    /// Computes means, scales, counts and fill-in values from the `training` rows only; classes of the target from all usable
    /// rows, since those of other rows are needed to judge the model.
    ///
    /// Errors on a column without a value in the training rows, on numbers too large to scale, and on a category whose every value is another.
    pub fn fit(table: &Table, chosen: &ColumnRoles, training: &[u32]) -> Result<Self> {
        let fills = chosen.fills;
        let feature = |&(j, is_category): &(usize, bool)| {
            let column = &table.columns()[j];
            if is_category {
                fit_category(table, column, training, fills).map(Feature::Categorical)
            } else {
                fit_number(table, column, training, fills, chosen.bins).map(Feature::Numeric)
            }
        };
        let features = chosen.features.iter().map(feature).collect::<Result<_>>()?;
        let target = fit_target(table, &table.columns()[chosen.target], chosen, training)?;
        Ok(Self { features, target })
    }
}

fn fit_number(table: &Table, column: &Column, training: &[u32], fills: bool, bins: usize) -> Result<NumberFeature> {
    let measure = measure(table, column, training)?;
    let numbers = table.numbers(&column.name)?;
    let values: Vec<f64> = training.iter().map(|&row| numbers[row as usize]).collect();
    Ok(NumberFeature::fit(&column.name, measure, &values, fills, bins))
}

fn fit_category(table: &Table, column: &Column, training: &[u32], fills: bool) -> Result<CategoryFeature> {
    let levels = levels(table, column, training)?;
    let (counts, missing) = count(column, training, &levels);
    let most = counts.iter().max().copied().unwrap_or(0);
    if most == 0 {
        return Err(empty(table, column));
    }
    let frequent = counts.iter().position(|&count| count == most).unwrap_or(0);
    let of_missing = if missing > 0 { levels.len() } else { frequent };
    let impute = fills.then_some(of_missing as u32);
    Ok(CategoryFeature { name: column.name.clone(), levels, counts, impute })
}

fn fit_target(table: &Table, column: &Column, chosen: &ColumnRoles, training: &[u32]) -> Result<Target> {
    let name = column.name.clone();
    if chosen.task == Task::Classification {
        let levels = classes(table, column, &chosen.rows)?;
        let (counts, _) = count(column, training, &levels);
        return Ok(Target::Classification { name, levels, counts });
    }
    let measure = if chosen.has_poles {
        Measure::robust(table.numbers(&column.name)?, training).ok_or_else(|| empty(table, column))?
    } else {
        measure(table, column, training)?
    };
    Ok(Target::Regression { name, mean: measure.mean, scale: measure.scale(), min: measure.min, max: measure.max })
}

fn measure(table: &Table, column: &Column, training: &[u32]) -> Result<Measure> {
    let measure = Measure::of(table.numbers(&column.name)?, training).ok_or_else(|| empty(table, column))?;
    if measure.is_finite() {
        return Ok(measure);
    }
    let (name, largest) = (&column.name, number(measure.min.abs().max(measure.max.abs())));
    Err(Error::new(format!(
        "column \"{name}\" has values up to {largest:?}; their variance does not fit a 64-bit float"
    )))
}

/// Number of training rows of each level, and of those without a value.
fn count(column: &Column, training: &[u32], levels: &[String]) -> (Vec<u32>, usize) {
    let (mut counts, mut missing) = (vec![0; levels.len()], 0);
    for found in matches(column, training, levels) {
        match found {
            Match::Level(code) => counts[code as usize] += 1,
            Match::Missing => missing += 1,
            Match::Unknown => {}
        }
    }
    (counts, missing)
}

fn empty(table: &Table, column: &Column) -> Error {
    let (name, source) = (&column.name, table.source());
    Error::new(format!("column \"{name}\" has no value in the training rows of {source}; leave it out"))
}
