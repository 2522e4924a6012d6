//! Binary cross-entropy of a logit p and a probability y: -y ln σ(p) - (1 - y) ln(1 - σ(p)) = ln(1 + e^p) - p y.

use super::{Link, LossRecord, Rule, Target};
use crate::program::expr::softplus;

pub(super) static LOSS: LossRecord = LossRecord {
    name: "bce",
    doc: "Binary cross-entropy of logits, each class against the rest",
    target: Target::EACH_CLASS,
    link: &Link::SIGMOID,
    constants: &[],
    rule: Rule::Pointwise {
    formula: |p, y, _| softplus(p) - p * y,
    oracle: |p, y, _| {
        let chance = 1.0 / (1.0 + (-p).exp());
        -y * chance.ln() - (1.0 - y) * (1.0 - chance).ln()
    },
    },
};
