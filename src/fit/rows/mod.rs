//! Where the rows are, in which groups and pieces, and the problem of a formula over them.

mod chosen;
mod computed;
mod data;
mod levels;
mod part;
pub(super) mod pieces;
mod powers;
pub(super) mod problem;
mod reading;
mod strategy;

pub use chosen::{FitRows, FitTable, LevelCells};
pub use computed::ComputedRows;
pub use levels::Levels;
pub use problem::Problem;
pub use strategy::{Facts, Plan, Strategy};

pub(super) use data::Data;
pub(super) use levels::Groups;
pub(super) use part::{Numbers, Part};
