//! How the minimum is searched, from where, and what of that is written down.

mod approach;
mod arrow;
pub(super) mod batch;
mod bounds;
mod cmaes;
pub(super) mod draws;
mod exact;
pub(super) mod factor;
mod journal;
mod levenberg;
mod local;
mod options;
pub(super) mod places;
mod polish;
mod searched;
pub(super) mod start;
mod stop;
pub(super) mod tries;
mod trust_region;

pub use approach::approach;
pub use journal::Journal;
pub use options::{Global, Method, SolveOptions};
pub use searched::Searched;
pub use stop::Stop;

pub(super) use arrow::Pattern;
pub(super) use batch::{Choices, Few, Job, Solved};
pub(super) use bounds::Bounds;
pub(super) use exact::refined;
pub(super) use journal::Recorded;
pub(super) use local::Search;
pub(super) use start::start;
pub(super) use stop::Found;
