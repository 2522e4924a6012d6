//! Encodes rows as model inputs and targets. A cell that the model cannot use is an error, or leaves its row without a prediction.

use super::feature::{FeatureKind, NumberFeature};
use super::levels::codes;
use super::prepare::{Preparation, Target, find};
use super::rows::{ColumnRows, Note, NoteKind, Unknown, too_large};
use crate::error::{Error, Result};
use crate::files::Table;
use crate::host;

/// Encoded rows, and what was noticed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoded {
    /// Inputs [rows, inputs], row-major; 0 for a cell that cannot be used.
    pub x: Vec<f32>,
    /// In order of the columns, then of the rows.
    pub notes: Vec<Note>,
}

impl Preparation {
    /// The inputs of some rows, row-major `[rows.len(), inputs]`. Columns are found by name; others are ignored.
    ///
    /// Errors on an absent column, on text in a numeric column, on a missing cell without a fill-in value, on an unknown level,
    /// and on a number that is infinite or overflows.
    pub fn encode(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        Ok(self.encode_noting(table, rows, Unknown::Refuse)?.x)
    }

    /// The inputs of some rows; a category that training did not see counts as none of those it saw. Errors on a cell that cannot be used.
    /// A text among numbers counts as missing, as reading the table has warned.
    pub fn encode_known(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        let Encoded { x, notes } = self.encode_cells(table, rows, Unknown::Other, false)?;
        let unusable = notes.iter().find_map(|note| match &note.kind {
            NoteKind::Unusable(why) => Some((note, why)),
            _ => None,
        });
        match unusable {
            Some((note, why)) => Err(table.at(rows[note.row] as usize, self.features[note.feature].name(), why)),
            None => Ok(x),
        }
    }

    /// The inputs of some rows and what was noticed. Errors on an absent column, and with [`Unknown::Refuse`] as [`Self::encode`].
    pub fn encode_noting(&self, table: &Table, rows: &[u32], unknown: Unknown) -> Result<Encoded> {
        self.encode_cells(table, rows, unknown, true)
    }

    /// The same; a text among numbers cannot be used, or counts as missing.
    fn encode_cells(&self, table: &Table, rows: &[u32], unknown: Unknown, has_texts: bool) -> Result<Encoded> {
        let inputs = self.inputs();
        let what = || format!("{} rows of {inputs} inputs", rows.len());
        let x = host::filled(0.0, rows.len() * inputs, what).map_err(|what| too_large(table, &what))?;
        let mut encoded = Encoded { x, notes: Vec::new() };
        let mut at = 0;
        for (j, feature) in self.features.iter().enumerate() {
            let column = find(table, feature.name())?;
            let notes = &mut encoded.notes;
            let mut cells = ColumnRows { table, column, rows, unknown, has_texts, feature: j, notes };
            let mut x = encoded.x.chunks_exact_mut(inputs).map(|row| &mut row[at..at + feature.inputs()]);
            feature.as_kind().write(&mut cells, &mut x)?;
            at += feature.inputs();
        }
        Ok(encoded)
    }

    /// Target pairs of some rows, [rows, 2]: (y, 1) for a scaled number, (1, 0) and (-1, 0) for the poles +∞ and -∞. Errors as
    /// in [`Self::encode`], and on a target of classes.
    pub fn encode_pairs(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        let Target::Regression { name, mean, scale, .. } = &self.target else {
            let kind = if self.target.levels().is_empty() { "count" } else { "class" };
            return Err(Error::new(format!("column \"{}\" is a {kind}; only numbers have poles", self.target.name())));
        };
        find(table, name)?;
        let values = table.numbers(name)?;
        let is_pole = |row: u32| values[row as usize].is_infinite();
        let numbers: Vec<u32> = rows.iter().copied().filter(|&row| !is_pole(row)).collect();
        let mut numbers = self.strict(table, name, &numbers, [*mean, *scale])?.into_iter();
        let mut pairs = Vec::with_capacity(2 * rows.len());
        for &row in rows {
            pairs.extend(if is_pole(row) {
                [values[row as usize].signum() as f32, 0.0]
            } else {
                [numbers.next().expect("a number for each row that is not a pole"), 1.0]
            });
        }
        Ok(pairs)
    }

    /// Targets of some rows: scaled numbers, counts, shares [rows, columns], or indices of classes. Errors as in [`Self::encode`].
    pub fn encode_target(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        match &self.target {
            Target::Regression { name, mean, scale, .. } => self.strict(table, name, rows, [*mean, *scale]),
            Target::Counts { name, .. } => self.strict(table, name, rows, [0.0, 1.0]),
            Target::Shares { columns, .. } => {
                let share = |name: &String| self.strict(table, name, rows, [0.0, 1.0]);
                let columns: Vec<Vec<f32>> = columns.iter().map(share).collect::<Result<_>>()?;
                Ok((0..rows.len()).flat_map(|at| columns.iter().map(move |column| column[at])).collect())
            }
            Target::Classification { name, levels, .. } => {
                let codes = codes(table, find(table, name)?, rows, levels)?;
                Ok(codes.iter().map(|&code| code as f32).collect())
            }
        }
    }

    /// (x - mean) / scale for some rows of a column; an error for a cell without a value.
    fn strict(&self, table: &Table, name: &str, rows: &[u32], [mean, scale]: [f64; 2]) -> Result<Vec<f32>> {
        let (column, unknown) = (find(table, name)?, Unknown::Refuse);
        let (mut notes, [min, max]) = (Vec::new(), [f64::NEG_INFINITY, f64::INFINITY]);
        let mut cells = ColumnRows { table, column, rows, unknown, has_texts: false, feature: 0, notes: &mut notes };
        let number =
            NumberFeature { mean, scale, min, max, notation: self.target_notation.clone(), ..NumberFeature::default() };
        let mut scaled = vec![0.0; rows.len()];
        number.write(&mut cells, &mut scaled.chunks_exact_mut(1))?;
        Ok(scaled)
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
