//! From options and a table to a judged model: preparation, folds, held-out rows, provenance. Serves every face; nothing here prints.

mod blend;
mod described;
mod doctor;
mod finding;
mod folds;
mod held;
mod intervals;
mod judged;
mod low_coverage;
mod options;
mod origin;
mod provenance;
mod saved;
mod split;

pub use crate::nn::Norm;
pub use blend::Blend;
pub use described::described;
pub use doctor::{CheckUp, Trained};
pub use finding::{Finding, Verdict};
pub use folds::{Fold, mean_and_spread, residuals};
pub use held::{HeldRows, check_groups};
pub use judged::{About, Judged};
pub use options::{PREDICTING, Predicting, READING, TABLE as OPTIONS, TrainOptions, absent};
pub use origin::Origin;
pub use provenance::Provenance;
pub use split::{Run, SplitTable};
