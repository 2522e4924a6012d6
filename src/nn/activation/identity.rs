//! The identity, x.

use super::BuiltIn;
use crate::program::curve::ByHand;

pub(super) static ACTIVATION: BuiltIn =
    BuiltIn { name: "identity", doc: "x", formula: |x| x, oracle: |x| x, by_hand: ByHand::NONE };
