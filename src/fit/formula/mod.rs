//! What is fitted: a formula, its parameters, and the loss of a residual.

mod indexed;
pub(super) mod integral;
mod library;
mod linear;
mod loss;
mod over_columns;
mod parameter;
mod parsed;
mod quoted;
mod terms;
mod words;

pub use library::{MODELS, NamedModel, is_named, named};
pub use loss::RobustLoss;
pub use over_columns::ColumnFormula;
pub use parameter::Parameter;
pub use parsed::Formula;

pub(super) use integral::{Integral, Running};
pub(super) use linear::linear;
pub(super) use parsed::Tie;
pub(super) use quoted::quoted;
