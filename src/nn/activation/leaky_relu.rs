//! x above 0, 0.01 x below (Maas, Hannun and Ng 2013).

use super::BuiltIn;
use crate::program::curve::ByHand;
use crate::program::expr::{gt, select};

pub(super) static ACTIVATION: BuiltIn = BuiltIn {
    name: "leaky_relu",
    doc: "x above 0, 0.01 x below",
    formula: |x| select(gt(x, 0.0), x, 0.01 * x),
    oracle: |x| if x > 0.0 { x } else { x / 100.0 },
    by_hand: ByHand::NONE,
};
