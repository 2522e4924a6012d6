//! How the rows of a run were read from a table.

use crate::files::Format;
use crate::record;
use crate::table::{Choice, Fractions};

/// How the rows were read from a table. With the seed this reproduces the same split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// How the file was read.
    pub format: Format,
    /// Target, features, and the treatment of missing values.
    pub choice: Choice,
    /// The fractions of validation and test rows.
    pub fractions: Fractions,
    /// The file of the validation rows, if they are in one of their own.
    pub validation_file: Option<String>,
    /// The file of the test rows.
    pub test_file: Option<String>,
}

record! { Origin { format, choice, fractions, validation_file = None, test_file = None } }
