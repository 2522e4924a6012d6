//! The quantile loss (Koenker and Bassett 1978): q d for d = y - p above 0, (q - 1) d below. The best constant is the quantile q of the targets.

use super::{Link, LossRecord, Rule, Target};
use crate::program::constants::Constant;
use crate::program::expr::max;

pub(super) static LOSS: LossRecord = LossRecord {
    name: "quantile",
    doc: "Quantile (pinball) loss: predicts the value that a share of the targets is below",
    target: Target::NUMBERS,
    link: &Link::IDENTITY,
    constants: &[Constant::inner_share("quantile", 0.5, "Share of the targets that the quantile loss leaves below the prediction")],
    rule: Rule::Pointwise {
    formula: |p, y, constants| {
        let (d, quantile) = (y - p, constants.get("quantile"));
        max(quantile * d, (quantile - 1.0) * d)
    },
    oracle: |p, y, constants| {
        let quantile = constants.get("quantile");
        if y > p { quantile * (y - p) } else { (1.0 - quantile) * (p - y) }
    },
    },
};
