//! What a fit answers: parameters, their covariance, statistics, predictions, and the reports of these.

mod caution;
mod code;
mod corner;
mod covariance;
mod many;
mod profile;
mod report;
mod result;
mod saved;
mod seal;
mod solve;
mod statistics;
mod summary;

pub use many::{Fits, SmallFit, solve_each};
pub use profile::add_profiles;
pub use report::report;
pub use result::{Fit, Fitted};
pub use saved::{FitPrediction, SavedFit};
pub use seal::sealed;
pub use solve::{solve, solve_from};
pub use statistics::{FTest, Statistics};
pub use summary::{Spread, report_many};
