//! max(x, 0), with slope 0 at 0.

use super::BuiltIn;
use crate::program::curve::ByHand;
use crate::program::expr::relu;

pub(super) static ACTIVATION: BuiltIn = BuiltIn {
    name: "relu",
    doc: "max(x, 0)",
    formula: |x| relu(x),
    oracle: |x| x.max(0.0),
    by_hand: ByHand::NONE,
};
