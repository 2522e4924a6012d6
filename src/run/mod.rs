//! From options and a table to a judged model: preparation, folds, held-out rows, provenance. Serves every face; nothing here prints.

mod doctor;
mod folds;
mod held;
mod judged;
mod options;
mod provenance;

pub use doctor::{Finding, Verdict};
pub use folds::{Fold, mean_and_spread, residuals};
pub use held::{HeldRows, check_groups};
pub use judged::{About, Judged};
pub use options::{Norm, READING, Run, SplitTable, TABLE as OPTIONS, TrainOptions};
pub use provenance::Provenance;
