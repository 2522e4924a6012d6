//! How the minimum is searched, from where, and what of that is written down.

pub(super) mod approach;
pub(super) mod arrow;
pub(super) mod batch;
pub(super) mod bounds;
mod cmaes;
mod draws;
pub(super) mod factor;
pub(super) mod journal;
mod levenberg;
pub(super) mod local;
pub(super) mod options;
mod polish;
pub(super) mod searched;
pub(super) mod start;
pub(super) mod stop;
pub(super) mod tries;
mod trust_region;

pub use approach::approach;
pub use journal::Journal;
pub use options::{Global, Method, SolveOptions};
pub use searched::Searched;
pub use stop::Stop;
