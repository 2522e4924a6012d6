//! Fits a preparation to the training rows: means and scales, counts, and fill-in values.

use super::choose::ColumnRoles;
use super::levels::{Match, classes, levels, matches};
use super::measure::Measure;
use super::missing::Missing;
use super::prepare::{Feature, Preparation, Target};
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
        let does_impute = chosen.missing == Missing::Impute;
        let feature = |&(j, is_category): &(usize, bool)| {
            let column = &table.columns()[j];
            if is_category {
                fit_category(table, column, training, does_impute)
            } else {
                fit_number(table, column, training, does_impute)
            }
        };
        let features = chosen.features.iter().map(feature).collect::<Result<_>>()?;
        let target = fit_target(table, &table.columns()[chosen.target], chosen, training)?;
        Ok(Self { features, target })
    }
}

fn fit_number(table: &Table, column: &Column, training: &[u32], does_impute: bool) -> Result<Feature> {
    let measure = measure(table, column, training)?;
    let (name, scale, impute) = (column.name.clone(), measure.scale(), does_impute.then_some(measure.mean));
    Ok(Feature::Numeric { name, mean: measure.mean, scale, min: measure.min, max: measure.max, impute })
}

fn fit_category(table: &Table, column: &Column, training: &[u32], does_impute: bool) -> Result<Feature> {
    let levels = levels(table, column, training)?;
    let counts = count(column, training, &levels);
    let most = counts.iter().max().copied().unwrap_or(0);
    if most == 0 {
        return Err(empty(table, column));
    }
    let frequent = counts.iter().position(|&count| count == most).map(|level| level as u32);
    let impute = if does_impute { frequent } else { None };
    Ok(Feature::Categorical { name: column.name.clone(), levels, counts, impute })
}

fn fit_target(table: &Table, column: &Column, chosen: &ColumnRoles, training: &[u32]) -> Result<Target> {
    let name = column.name.clone();
    if chosen.task == Task::Classification {
        let levels = classes(table, column, &chosen.rows)?;
        let counts = count(column, training, &levels);
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

/// Number of training rows of each level.
fn count(column: &Column, training: &[u32], levels: &[String]) -> Vec<u32> {
    let mut counts = vec![0; levels.len()];
    for found in matches(column, training, levels) {
        if let Match::Level(code) = found {
            counts[code as usize] += 1;
        }
    }
    counts
}

fn empty(table: &Table, column: &Column) -> Error {
    let (name, source) = (&column.name, table.source());
    Error::new(format!("column \"{name}\" has no value in the training rows of {source}; leave it out"))
}
