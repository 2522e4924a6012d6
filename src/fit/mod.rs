//! Curve fitting by nonlinear least squares, in double precision. A [`Formula`] names data columns and parameters; a [`Problem`] adds the
//! data, starts, bounds and a loss; [`solve`] finds the parameters, and with [`approach`] before it a device does most of the work; a [`Fit`] holds them
//! with their covariance and statistics.

mod approach;
mod arrow;
mod batch;
mod bounds;
mod cmaes;
mod code;
mod covariance;
mod data;
mod device_sums;
mod factor;
mod formula;
mod indexed;
mod integral;
mod journal;
mod levels;
mod levenberg;
mod library;
mod linear;
mod loss;
mod many;
mod model;
mod parameter;
mod pieces;
mod polish;
mod problem;
mod profile;
mod reading;
mod result;
mod saved;
mod single;
mod solve;
mod start;
mod statistics;
mod strategy;
mod summary;
mod sums;
mod tile;
mod trust_region;

pub use approach::{Searched, approach};
pub use formula::Formula;
pub use journal::Journal;
pub use levels::Levels;
pub use library::{MODELS, NamedModel, is_named, named};
pub use loss::RobustLoss;
pub use many::{Fits, SmallFit, solve_each};
pub use parameter::Parameter;
pub use problem::Problem;
pub use profile::add_profiles;
pub use result::{Fit, Fitted};
pub use saved::{FitPrediction, SavedFit, report};
pub use solve::{Global, Method, SolveOptions, Stop, solve, solve_from};
pub use statistics::{FTest, Statistics};
pub use strategy::{Facts, Plan, Strategy};
pub use summary::{Spread, report_many};
