//! Levels of a column, for parameters that have a value for each group of rows.

use meromorph::files::{Cells, Column};
use meromorph::fit::Levels;

/// The levels of some rows of a column: numbers in ascending order, or texts.
pub(crate) fn levels(column: &Column, rows: &[usize]) -> Levels {
    match &column.cells {
        Cells::Numeric(values) => Levels::of_numbers(&rows.iter().map(|&row| values[row]).collect::<Vec<f64>>()),
        Cells::Categorical { codes, levels } => {
            let text = |&row: &usize| levels.get(codes[row] as usize).map_or("", String::as_str);
            Levels::of_texts(rows.iter().map(text))
        }
    }
}
