//! The absolute error.

use super::{Link, LossRecord, Rule, Target};
use crate::program::expr::abs;

pub(super) static LOSS: LossRecord = LossRecord {
    name: "mae",
    doc: "Absolute error, |p - y|",
    target: Target::NUMBERS,
    link: &Link::IDENTITY,
    constants: &[],
    rule: Rule::Pointwise {
    formula: |p, y, _| abs(p - y),
    oracle: |p, y, _| (p - y).abs(),
    },
};
