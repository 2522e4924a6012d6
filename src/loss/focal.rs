//! The focal loss of a logit p and a probability y (Lin et al. 2017): y (1 - c)^γ (-ln c) + (1 - y) c^γ (-ln(1 - c)) with c = σ(p), where
//! ln c = -ln(1 + e^(-p)) and ln(1 - c) = -ln(1 + e^p).

use super::{Link, LossRecord, Rule, Target};
use crate::program::constants::Constant;
use crate::program::expr::{exp, softplus};

pub(super) static LOSS: LossRecord = LossRecord {
    name: "focal",
    doc: "Focal loss of logits, each class against the rest: rows that are already certain count less",
    target: Target::EACH_CLASS,
    link: &Link::SIGMOID,
    constants: &[Constant::at_least_zero("gamma", 2.0, "How much less rows that are certain count for the focal loss; with 0 it is bce")],
    rule: Rule::Pointwise {
    formula: |p, y, constants| {
        let gamma = constants.get("gamma");
        let (own, other) = (softplus(-p), softplus(p));
        y * (exp(-gamma * other) * own) + (1.0 - y) * (exp(-gamma * own) * other)
    },
    oracle: |p, y, constants| {
        let chance = 1.0 / (1.0 + (-p).exp());
        let part = |own: f64| -(1.0 - own).powf(constants.get("gamma")) * own.ln();
        y * part(chance) + (1.0 - y) * part(1.0 - chance)
    },
    },
};
