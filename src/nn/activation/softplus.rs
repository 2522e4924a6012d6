//! ln(1 + e^x).

use super::BuiltIn;
use crate::program::curve::ByHand;
use crate::program::expr::softplus;

pub(super) static ACTIVATION: BuiltIn = BuiltIn {
    name: "softplus",
    doc: "ln(1 + e^x)",
    formula: |x| softplus(x),
    oracle: |x| x.exp().ln_1p(),
    by_hand: ByHand::NONE,
};
