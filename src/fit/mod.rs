//! Curve fitting by nonlinear least squares, in double precision. A [`Formula`] names data columns and parameters; a [`Problem`] adds the
//! data, starts, bounds and a loss; [`solve`] finds the parameters, and with [`approach`] before it a device does most of the work; a [`Fit`] holds them
//! with their covariance and statistics.

mod answer;
mod background;
mod formula;
mod observed;
mod options;
mod pass;
mod rows;
mod search;
mod wanted;

pub use answer::{
    Bootstrap, Drawn, FTest, Fit, FitPrediction, Fits, Fitted, Posterior, QUANTILES, Resampling, SavedFit, SmallFit,
    Spread, Statistics, add_bootstrap, add_derived, add_posterior, add_profiles, report, report_many, sealed, solve,
    solve_each, solve_from, solve_inexact, with_errors_in_x,
};
pub use background::Background;
pub use formula::{ColumnFormula, Formula, MODELS, NamedModel, Parameter, RobustLoss, is_named, named};
pub use options::{FitOptions, OPTIONS};
pub use rows::{ComputedRows, Facts, FitRows, FitTable, LevelCells, Levels, Plan, Problem, Strategy};
pub use search::{Global, Journal, Method, Searched, SolveOptions, Stop, approach};
