//! The hinge loss of a score p and a probability y: y max(0, 1 - p) + (1 - y) max(0, 1 + p) (Cortes and Vapnik 1995).

use super::{Link, LossRecord, Rule, Target};
use crate::program::expr::max;

pub(super) static LOSS: LossRecord = LossRecord {
    name: "hinge",
    doc: "Hinge loss of scores, each class against the rest; its probabilities mean little",
    target: Target::EACH_CLASS,
    link: &Link::SIGMOID,
    constants: &[],
    rule: Rule::Pointwise {
    formula: |p, y, _| y * max(0.0, 1.0 - p) + (1.0 - y) * max(0.0, 1.0 + p),
    oracle: |p, y, _| {
        let part = |score: f64| if score < 1.0 { 1.0 - score } else { 0.0 };
        y * part(p) + (1.0 - y) * part(-p)
    },
    },
};
