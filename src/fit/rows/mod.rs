//! Where the rows are, in which groups and pieces, and the problem of a formula over them.

pub(super) mod data;
pub(super) mod levels;
pub(super) mod part;
pub(super) mod pieces;
pub(super) mod problem;
mod reading;
mod strategy;

pub use levels::Levels;
pub use problem::Problem;
pub use strategy::{Facts, Plan, Strategy};
