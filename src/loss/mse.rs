//! The squared error.

use super::{BuiltIn, Target};
use crate::program::expr::square;

pub(super) static LOSS: BuiltIn = BuiltIn {
    name: "mse",
    doc: "Squared error, (p - y)²",
    target: Target::Numbers,
    constants: &[],
    formula: |p, y, _| square(p - y),
    oracle: |p, y, _| (p - y).powi(2),
};
