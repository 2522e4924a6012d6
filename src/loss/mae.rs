//! The absolute error.

use super::{BuiltIn, Target};
use crate::program::expr::abs;

pub(super) static LOSS: BuiltIn = BuiltIn {
    name: "mae",
    doc: "Absolute error, |p - y|",
    target: Target::Numbers,
    constants: &[],
    formula: |p, y, _| abs(p - y),
    oracle: |p, y, _| (p - y).abs(),
};
