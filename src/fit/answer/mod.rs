//! What a fit answers: parameters, their covariance, statistics, predictions, and the reports of these.

mod bootstrap;
mod caution;
mod code;
mod corner;
mod covariance;
mod derived;
mod inexact;
mod many;
mod nested;
mod posterior;
mod profile;
mod random;
mod report;
mod result;
mod saved;
mod seal;
mod solve;
mod statistics;
mod summary;

pub use bootstrap::{Bootstrap, Resampling, add_bootstrap};
pub use derived::add_derived;
pub(super) use derived::check_derived;
pub use inexact::{solve_inexact, with_errors_in_x};
pub use many::{Fits, SmallFit, solve_each};
pub use posterior::{Drawn, Posterior, QUANTILES, add_posterior};
pub use profile::add_profiles;
pub use report::report;
pub use result::{Fit, Fitted};
pub use saved::{FitPrediction, SavedFit};
pub use seal::sealed;
pub use solve::{solve, solve_from};
pub use statistics::{FTest, Statistics};
pub use summary::{Spread, report_many};
