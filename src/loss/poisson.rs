//! Negative log-likelihood of a count y under a Poisson distribution of rate e^p, without the terms that do not depend on p: e^p - y p.

use super::{Link, LossRecord, Rule, Target};
use crate::program::expr::exp;

pub(super) static LOSS: LossRecord = LossRecord {
    name: "poisson",
    doc: "Poisson likelihood of counts, exp(p) - y p: targets stay as they are, predictions are rates exp(p)",
    target: Target::COUNTS,
    link: &Link::LOG,
    constants: &[],
    rule: Rule::Pointwise {
    formula: |p, y, _| exp(p) - y * p,
    oracle: |p, y, _| p.exp() - y * p,
    },
};
