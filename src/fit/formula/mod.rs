//! What is fitted: a formula, its parameters, and the loss of a residual.

mod indexed;
pub(super) mod integral;
mod library;
pub(super) mod linear;
pub(super) mod loss;
pub(super) mod parameter;
pub(super) mod parsed;
mod words;

pub use library::{MODELS, NamedModel, is_named, named};
pub use loss::RobustLoss;
pub use parameter::Parameter;
pub use parsed::Formula;
