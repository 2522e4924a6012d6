//! Curve fitting by nonlinear least squares, in double precision. A [`Formula`] names data columns and parameters; a [`Problem`] adds the
//! data, starts, bounds and a loss; [`solve`] finds the parameters; a [`Fit`] holds them with their covariance and statistics.

mod bounds;
mod code;
mod covariance;
mod formula;
mod levenberg;
mod library;
mod linear;
mod loss;
mod parameter;
mod polish;
mod problem;
mod result;
mod saved;
mod solve;
mod start;
mod statistics;
mod sums;
mod tile;
mod trust_region;

pub use formula::Formula;
pub use library::{MODELS, NamedModel, is_named, named};
pub use loss::RobustLoss;
pub use parameter::Parameter;
pub use problem::Problem;
pub use result::{Fit, Fitted};
pub use saved::{FitPrediction, SavedFit, report};
pub use solve::{Method, SolveOptions, Stop, solve};
pub use statistics::Statistics;
