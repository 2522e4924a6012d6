//! ln cosh(p - y): about d²/2 for small errors d = p - y, |d| - ln 2 for large ones. Computed as |d| + ln(1 + e^(-2|d|)) - ln 2, since cosh
//! overflows.

use super::{Link, LossRecord, Rule, Target};
use crate::program::expr::{abs, softplus};

pub(super) static LOSS: LossRecord = LossRecord {
    name: "log_cosh",
    doc: "ln cosh(p - y), square near 0 and linear far away",
    target: Target::NUMBERS,
    link: &Link::IDENTITY,
    constants: &[],
    rule: Rule::Pointwise {
    formula: |p, y, _| {
        let size = abs(p - y);
        size + softplus(-2.0 * size) - std::f64::consts::LN_2
    },
    oracle: |p, y, _| (p - y).cosh().ln(),
    },
};
