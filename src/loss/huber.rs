//! Huber's loss (1964): d²/2 up to |d| = delta and delta (|d| - delta/2) beyond, with d = p - y. With n = d clamped to [-delta, delta] that is
//! n (d - n/2) in both cases.

use super::{Link, LossRecord, Rule, Target};
use crate::program::constants::Constant;
use crate::program::expr::clamp;

pub(super) static LOSS: LossRecord = LossRecord {
    name: "huber",
    doc: "(p - y)²/2 up to delta, then delta (|p - y| - delta/2)",
    target: Target::NUMBERS,
    link: &Link::IDENTITY,
    constants: &[Constant::positive(
        "delta",
        1.0,
        "Where huber turns from square to linear, in standard deviations of the target",
    )],
    rule: Rule::Pointwise {
    formula: |p, y, constants| {
        let (d, delta) = (p - y, constants.get("delta"));
        let near = clamp(d, -delta, delta);
        near * (d - 0.5 * near)
    },
    oracle: |p, y, constants| {
        let (size, delta) = ((p - y).abs(), constants.get("delta"));
        if size <= delta { 0.5 * size * size } else { delta * (size - 0.5 * delta) }
    },
    },
};
