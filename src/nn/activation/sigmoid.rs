//! 1 / (1 + e^-x).

use super::BuiltIn;
use crate::program::curve::ByHand;
use crate::program::expr::sigmoid;

pub(super) static ACTIVATION: BuiltIn = BuiltIn {
    name: "sigmoid",
    doc: "1 / (1 + e^-x)",
    formula: |x| sigmoid(x),
    oracle: |x| 1.0 / (1.0 + (-x).exp()),
    by_hand: ByHand::NONE,
};
