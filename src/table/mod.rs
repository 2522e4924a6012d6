//! Columns of a table as inputs and targets of a model: which columns and rows are used, how each is encoded, what the target is, how rows are split.

mod choose;
mod commas;
mod compact;
mod differences;
mod encode;
mod encode_training;
mod feature;
mod fit;
mod folds;
mod inspect;
mod levels;
mod missing;
mod named;
mod prepare;
mod rows;
mod split;
mod target;
mod texts;
mod time;
mod totals;
mod unread;

pub use choose::{Choice, ColumnEncoding, ColumnRoles, choose};
pub use encode::Encoded;
pub use feature::*;
pub use folds::fold_splits;
pub use inspect::inspect;
pub use levels::MAX_LEVELS;
pub(crate) use levels::frequent_levels;
pub use missing::{Gaps, Missing, MissingReport};
pub use prepare::{Preparation, Target};
pub use rows::{ColumnRows, Note, NoteKind, Unknown};
pub use split::{Fractions, Split, split_table};
pub use target::{Quantity, Task};
