//! Hyperbolic tangent.

use super::BuiltIn;
use crate::program::curve::ByHand;
use crate::program::expr::tanh;

pub(super) static ACTIVATION: BuiltIn =
    BuiltIn { name: "tanh", doc: "tanh(x)", formula: |x| tanh(x), oracle: |x| x.tanh(), by_hand: ByHand::NONE };
