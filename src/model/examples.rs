//! Rows of a table as inputs of a model and targets of its loss.

use crate::error::Result;
use crate::files::Table;
use crate::loss::{Loss, TargetForm};
use crate::table::Preparation;

/// Inputs and targets of some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examples {
    /// [rows, inputs], row-major.
    pub x: Vec<f32>,
    /// [rows, targets], row-major; class indices for cross-entropy.
    pub y: Vec<f32>,
}

impl Examples {
    /// Rows of a table as inputs of a model and targets of its loss, to judge it: a category that training did not see counts as none of
    /// those it saw. Classes become one value each, 1 for the row's class, if the loss compares each with all others. Errors if the table does not fit the
    /// preparation, or a row does not fit the loss.
    pub fn encode(preparation: &Preparation, table: &Table, rows: &[u32], loss: &Loss) -> Result<Self> {
        Self::with_targets(preparation.encode_known(table, rows)?, preparation, table, rows, loss)
    }

    /// The same for rows to train on; see [`Preparation::encode_training`].
    pub fn encode_training(preparation: &Preparation, table: &Table, rows: &[u32], loss: &Loss) -> Result<Self> {
        Self::with_targets(preparation.encode_training(table, rows)?, preparation, table, rows, loss)
    }

    fn with_targets(x: Vec<f32>, preparation: &Preparation, table: &Table, rows: &[u32], loss: &Loss) -> Result<Self> {
        if let Loss::Pairs(_) = loss {
            return Ok(Self { x, y: preparation.encode_pairs(table, rows)? });
        }
        let y = preparation.encode_target(table, rows)?;
        loss.target().check(loss.text(), &y, preparation.target.outputs(), &|row, column| {
            let (source, row) = (table.source(), rows[row] + 1);
            let column = column.map(|at| format!(", column \"{}\"", preparation.target.columns()[at]));
            format!("{source}: row {row}{}", column.unwrap_or_default())
        })?;
        let y = match preparation.target.levels().len() {
            classes @ 1.. if loss.target().form == TargetForm::EachClass => one_hot(&y, classes),
            _ => y,
        };
        Ok(Self { x, y })
    }

    /// Number of rows.
    pub fn rows(&self, targets: usize) -> usize {
        self.y.len() / targets.max(1)
    }
}

/// [rows, classes] of 1 for a row's own class and 0 for the others.
fn one_hot(indices: &[f32], classes: usize) -> Vec<f32> {
    let row = |&index: &f32| (0..classes).map(move |class| f32::from(u8::from(class == index as usize)));
    indices.iter().flat_map(row).collect()
}
