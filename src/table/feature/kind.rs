//! What an encoding of a column is: a record with everything that is known about it.

use super::{DateFeature, Feature, NumberFeature};
use crate::error::{Error, Result};
use crate::files::{Column, DateOrder, Table};
use crate::table::rows::ColumnRows;

/// The inputs of each row that a column has.
pub type Inputs<'i, 'x> = &'i mut dyn Iterator<Item = &'x mut [f32]>;

/// Everything about an encoding of a column: one file implements it, one word in the list of `mod.rs` makes it known. Its statistics are the fields of its
/// record in model files.
pub trait FeatureKind {
    /// The column.
    fn name(&self) -> &str;

    /// Number of inputs that it is encoded as.
    fn inputs(&self) -> usize;

    /// What the column is used as.
    fn role(&self) -> Role;

    /// What the training rows had in the column.
    fn seen(&self) -> Seen<'_>;

    /// How a cell becomes its inputs, for who writes code around an exported model.
    fn doc(&self) -> &'static str;

    /// Whether a missing cell has a fill-in value or an input of its own.
    fn takes_missing(&self) -> bool;

    /// Whether its statistics are consistent: scales above 0, as many counts as levels.
    fn is_sound(&self) -> bool;

    /// Its number, whose first input is the scaled value and whose bins follow; an exported graph makes these bins itself.
    fn number(&self) -> Option<&NumberFeature> {
        None
    }

    /// Writes the inputs of each row, all finite, which are 0 before; leaves them 0 for a cell that cannot be used.
    fn write(&self, cells: &mut ColumnRows<'_>, x: Inputs<'_, '_>) -> Result<()>;

    /// Whether a model learns what to make of a cell that it did not see, by training rows whose inputs are all 0.
    fn learns_unknown(&self) -> bool {
        false
    }

    /// Changes the inputs of training rows, so that none tells its own target.
    fn write_training(&self, training: &TrainingRows<'_>, x: Inputs<'_, '_>) -> Result<()> {
        let _ = (training, x);
        Ok(())
    }
}

/// What a column is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Numbers.
    Number,
    /// Categories.
    Category,
    /// Dates or times, written in this order.
    Date(DateOrder),
}

/// What the training rows had in a column.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'f> {
    /// Numbers.
    Numbers(&'f NumberFeature),
    /// The distinct values of a category.
    Levels {
        /// The values.
        levels: &'f [String],
        /// Number of training rows of each.
        counts: &'f [u32],
        /// The level that a missing cell counts as; their number for one of its own.
        missing: Option<u32>,
        /// Whether they are many, so that their mean targets are inputs.
        has_means: bool,
    },
    /// Dates or times.
    Times(&'f DateFeature),
    /// Any texts, of which no list is kept.
    Texts {
        /// One of them.
        example: &'f str,
        /// How they are encoded, in a few words.
        what: &'f str,
        /// What a missing cell is, in a few words; absent if it cannot be used.
        missing: Option<&'f str>,
    },
}

/// An encoding of categories, as an option names it.
pub trait NamedEncoding {
    /// Its name.
    const NAME: &str;
    /// What it makes of a column.
    const DOC: &str;

    /// Fits it to the training rows.
    fn fit(fit: &Fit<'_>) -> Result<Feature>;
}

/// What an encoding is fitted to.
pub struct Fit<'a> {
    /// The training rows.
    pub training: &'a TrainingRows<'a>,
    /// Whether missing cells are filled in.
    pub fills: bool,
    /// Whether a mean of the targets makes sense.
    pub has_means: bool,
}

impl Fit<'_> {
    /// The error for a column without a value.
    pub fn without_values(&self) -> Error {
        let (name, source) = (&self.training.column.name, self.training.table.source());
        Error::new(format!(
            "column \"{name}\" has no value in the training rows of {source}; expected a column with values"
        ))
    }
}

/// A column of the training rows, and their targets.
pub struct TrainingRows<'a> {
    /// The table.
    pub table: &'a Table,
    /// The column.
    pub column: &'a Column,
    /// The rows.
    pub rows: &'a [u32],
    /// Encoded targets, and the number of classes; 0 for numbers.
    pub of_targets: &'a dyn Fn() -> Result<(Vec<f32>, usize)>,
    /// A number of each row, by which rows are divided.
    pub fold: &'a dyn Fn(usize) -> u64,
}

impl TrainingRows<'_> {
    /// The encoded targets, and the number of classes; 0 for numbers.
    pub fn targets(&self) -> Result<(Vec<f32>, usize)> {
        (self.of_targets)()
    }
}
