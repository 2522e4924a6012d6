//! Starts of models whose terms have places: what the terms of a formula are, where they go, and which of the points with the same model is reported.

mod canonical;
mod pursuit;
mod roles;
mod rows;
mod spacing;
mod terms;

pub(in crate::fit) use canonical::{Collapsed, Symmetry};
pub(in crate::fit) use roles::Role;
pub(in crate::fit) use spacing::spacings;
pub(in crate::fit) use terms::Terms;

pub(super) use pursuit::Pursuit;
pub(super) use spacing::Spacing;
