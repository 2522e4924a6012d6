//! The squared error.

use super::{Link, LossRecord, Rule, Target};
use crate::program::expr::square;

pub(super) static LOSS: LossRecord = LossRecord {
    name: "mse",
    doc: "Squared error, (p - y)²",
    target: Target::NUMBERS,
    link: &Link::IDENTITY,
    constants: &[],
    rule: Rule::Pointwise {
    formula: |p, y, _| square(p - y),
    oracle: |p, y, _| (p - y).powi(2),
    },
};
