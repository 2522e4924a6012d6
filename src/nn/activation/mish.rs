//! x · tanh(ln(1 + e^x)) (Misra 2019).

use super::BuiltIn;
use crate::program::curve::ByHand;
use crate::program::expr::{softplus, tanh};

pub(super) static ACTIVATION: BuiltIn = BuiltIn {
    name: "mish",
    doc: "x · tanh(ln(1 + e^x)) (Misra 2019)",
    formula: |x| x * tanh(softplus(x)),
    // tanh(ln u) = (u² - 1) / (u² + 1).
    oracle: |x| {
        let square = (1.0 + x.exp()).powi(2);
        x * (square - 1.0) / (square + 1.0)
    },
    by_hand: ByHand::NONE,
};
