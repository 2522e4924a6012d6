//! The rows of a table as coordinates and classes.

use crate::{Answer, Failure};
use meromorph::error::Error;
use meromorph::files::{Cells, Column, MISSING_CODE, Table};
use meromorph::internal::host::number;

/// The names of the chosen columns, or of all but `without`, and their numbers [rows, columns].
pub(crate) fn coordinates(table: &Table, chosen: &[String], without: Option<&str>) -> Answer<(Vec<String>, Vec<f32>)> {
    let all = || table.names().filter(|name| Some(*name) != without).map(str::to_owned).collect();
    let names: Vec<String> = if chosen.is_empty() { all() } else { chosen.to_vec() };
    if names.is_empty() {
        return Err(Failure::usage(format!(
            "{}: got no columns besides the target, expected at least one",
            table.source()
        )));
    }
    let columns = names.iter().map(|name| table.numbers(name)).collect::<meromorph::Result<Vec<&[f64]>>>()?;
    let mut x = Vec::with_capacity(names.len() * table.rows());
    for row in 0..table.rows() {
        for (column, name) in columns.iter().zip(&names) {
            let value = column[row];
            if !(value as f32).is_finite() {
                let (source, got) =
                    (table.source(), if value.is_nan() { "nothing".to_owned() } else { number(value).to_string() });
                let row = row + 1;
                return Err(Error::new(format!(
                    "{source}: row {row}, column \"{name}\": got {got}, expected a number"
                ))
                .into());
            }
            x.push(value as f32);
        }
    }
    Ok((names, x))
}

/// The class of each row, and the names of the classes in order.
pub(crate) fn classes(table: &Table, column: &Column) -> Answer<(Vec<u32>, Vec<String>)> {
    let missing = |row: usize| {
        let (source, name) = (table.source(), &column.name);
        Failure::from(Error::new(format!(
            "{source}: row {}, column \"{name}\": got no label, expected one for each row",
            row + 1
        )))
    };
    match column.as_category() {
        Cells::Categorical { codes, levels } => match codes.iter().position(|code| *code == MISSING_CODE) {
            Some(row) => Err(missing(row)),
            None => Ok((codes.clone(), levels.clone())),
        },
        Cells::Numeric(values) => {
            if let Some(row) = values.iter().position(|value| value.is_nan()) {
                return Err(missing(row));
            }
            let mut levels = values.clone();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            let code = |value: &f64| levels.partition_point(|level| level < value) as u32;
            Ok((values.iter().map(code).collect(), levels.iter().map(|level| number(*level).to_string()).collect()))
        }
    }
}
