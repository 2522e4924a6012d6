//! x above 0, e^x - 1 below (Clevert, Unterthiner and Hochreiter 2016).

use super::BuiltIn;
use crate::program::curve::ByHand;
use crate::program::expr::{expm1, gt, select};

pub(super) static ACTIVATION: BuiltIn = BuiltIn {
    name: "elu",
    doc: "x above 0, e^x - 1 below",
    // The exponential of a large x would overflow even where it is not selected; min would lose NaN on some devices.
    formula: |x| select(gt(x, 0.0), x, expm1(select(gt(x, 0.0), 0.0, x))),
    oracle: |x| if x > 0.0 { x } else { x.exp() - 1.0 },
    by_hand: ByHand::NONE,
};
