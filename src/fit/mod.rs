//! Curve fitting by nonlinear least squares, in double precision. A [`Formula`] names data columns and parameters; a [`Problem`] adds the
//! data, starts, bounds and a loss; [`solve`] finds the parameters, and with [`approach`] before it a device does most of the work; a [`Fit`] holds them
//! with their covariance and statistics.

mod answer;
mod formula;
mod options;
mod pass;
mod rows;
mod search;

pub use answer::{
    FTest, Fit, FitPrediction, Fits, Fitted, SavedFit, SmallFit, Spread, Statistics, add_profiles, report, report_many,
    sealed, solve, solve_each, solve_from,
};
pub use formula::{Formula, MODELS, NamedModel, Parameter, RobustLoss, is_named, named};
pub use options::{FitOptions, OPTIONS};
pub use rows::{Facts, Levels, Plan, Problem, Strategy};
pub use search::{Global, Journal, Method, Searched, SolveOptions, Stop, approach};
