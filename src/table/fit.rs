//! Fits a preparation to the training rows: means and scales, counts, and fill-in values.

use super::choose::ColumnRoles;
use super::differences::PERCENT;
use super::feature::{
    CATEGORY_ENCODINGS, CategoryFeature, DateFeature, Feature, Fit, Moments, NamedEncoding, NumberFeature, Role,
    TrainingRows,
};
use super::levels::{classes, counted_in};
use super::prepare::{Preparation, Target};
use super::target::{Quantity, Task};
use crate::error::{Error, Result};
use crate::files::{Column, DateOrder, Notation, Table};
use crate::host::number;
use crate::math::measure::Measure;

impl Preparation {
    /// Computes means, scales, counts and fill-in values from the `training` rows only; classes of the target from all usable
    /// rows, since those of other rows are needed to judge the model.
    ///
    /// Errors on a column without a value in the training rows, on numbers too large to scale, and on a category whose every value is another.
    pub fn fit(table: &Table, chosen: &ColumnRoles, training: &[u32]) -> Result<Self> {
        let fills = chosen.fills;
        let target = fit_target(table, &table.columns()[chosen.target], chosen, training)?;
        let own = &table.columns()[chosen.target];
        let target_notation = match chosen.task {
            Task::Regression if own.is_percent() => Notation { unit: PERCENT.into(), ..own.notation() },
            Task::Regression => own.notation(),
            Task::Classification => Notation::default(),
        };
        let format = table.format().cloned();
        let mut preparation = Self { features: Vec::new(), target, format, target_notation };
        for &(j, role) in &chosen.features {
            let column = &table.columns()[j];
            preparation.features.push(match role {
                Role::Category => fit_category(table, column, training, chosen, &preparation)?,
                Role::Number => Feature::Numeric(fit_number(table, column, training, fills, chosen.bins)?),
                Role::Date(order) => Feature::Date(fit_date(table, column, order, training, chosen)?),
            });
        }
        Ok(preparation)
    }
}

fn fit_number(table: &Table, column: &Column, training: &[u32], fills: bool, bins: usize) -> Result<NumberFeature> {
    let numbers = table.numbers(&column.name)?;
    let measure = measure(table, column, numbers, training)?;
    let values: Vec<f64> = training.iter().map(|&row| numbers[row as usize]).collect();
    let feature = NumberFeature::fit(&column.name, measure, &values, fills, bins);
    Ok(NumberFeature { is_percent: column.is_percent(), notation: column.notation(), ..feature })
}

fn fit_date(
    table: &Table,
    column: &Column,
    order: DateOrder,
    training: &[u32],
    chosen: &ColumnRoles,
) -> Result<DateFeature> {
    let moments = Moments::of(column, order);
    let measure = measure(table, column, &moments.days(), training)?;
    let found: Vec<_> = training.iter().map(|&row| moments.get(row as usize)).collect();
    Ok(DateFeature::fit(&column.name, order, measure, &found, chosen.fills, chosen.bins))
}

/// A category, by the encoding that the choice names for it.
fn fit_category(
    table: &Table,
    column: &Column,
    training: &[u32],
    chosen: &ColumnRoles,
    preparation: &Preparation,
) -> Result<Feature> {
    let named = chosen.encodings.iter().find(|named| named.column == column.name);
    let name = named.map_or(CategoryFeature::NAME, |named| &named.encoding);
    let fit = CATEGORY_ENCODINGS.iter().find(|(known, _, _)| *known == name).map(|(_, _, fit)| fit);
    let fit = fit.ok_or_else(|| Error::internal(format!("unknown encoding {name}")))?;
    let of_targets = || Ok((preparation.encode_target(table, training)?, preparation.target.levels().len()));
    let rows = TrainingRows { table, column, rows: training, of_targets: &of_targets, fold: &|_| 0 };
    // A target with poles has no mean, and shares have several.
    let has_means = !chosen.has_poles && chosen.quantity != Quantity::Share;
    fit(&Fit { training: &rows, fills: chosen.fills, has_means })
}

fn fit_target(table: &Table, column: &Column, chosen: &ColumnRoles, training: &[u32]) -> Result<Target> {
    let name = column.name.clone();
    if chosen.quantity == Quantity::Share {
        let places = [chosen.target].into_iter().chain(chosen.more_targets.iter().copied());
        let columns: Vec<&Column> = places.map(|at| &table.columns()[at]).collect();
        let mean = |column: &&Column| Ok(measure(table, column, table.numbers(&column.name)?, training)?.mean);
        let means = columns.iter().map(mean).collect::<Result<_>>()?;
        let columns: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        return Ok(Target::Shares { name: columns.join(", "), columns, means });
    }
    if chosen.task == Task::Classification {
        let levels = classes(table, column, &chosen.rows, &chosen.classes)?;
        let (counts, _) = counted_in(column, training, &levels);
        return Ok(Target::Classification { name, levels, counts });
    }
    let measure = if chosen.has_poles {
        Measure::robust(table.numbers(&column.name)?, training).ok_or_else(|| empty(table, column))?
    } else {
        measure(table, column, table.numbers(&column.name)?, training)?
    };
    if chosen.quantity == Quantity::Count {
        return Ok(Target::Counts { name, mean: measure.mean, min: measure.min, max: measure.max });
    }
    Ok(Target::Regression { name, mean: measure.mean, scale: measure.scale(), min: measure.min, max: measure.max })
}

fn measure(table: &Table, column: &Column, numbers: &[f64], training: &[u32]) -> Result<Measure> {
    let measure = Measure::of(numbers, training).ok_or_else(|| empty(table, column))?;
    if measure.is_finite() {
        return Ok(measure);
    }
    let (name, largest) = (&column.name, number(measure.min.abs().max(measure.max.abs())));
    Err(Error::new(format!(
        "column \"{name}\" has values up to {largest:?}; their variance does not fit a 64-bit float"
    )))
}

fn empty(table: &Table, column: &Column) -> Error {
    let (name, source) = (&column.name, table.source());
    Error::new(format!(
        "column \"{name}\" has no value in the training rows of {source}; expected a column with values"
    ))
}
