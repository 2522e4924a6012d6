//! The Gaussian error linear unit in its tanh form (Hendrycks and Gimpel 2016): x/2 (1 + tanh u) = x sigmoid(2u) with
//! u = √(2/π) (x + 0.044715 x³). The sigmoid does not cancel for negative x.

use super::BuiltIn;
use crate::program::curve::ByHand;
use crate::program::expr::sigmoid;

/// √(2/π).
const RISE: f64 = 0.797_884_560_802_865_4;
const CUBIC: f64 = 0.044_715;

pub(super) static ACTIVATION: BuiltIn = BuiltIn {
    name: "gelu",
    doc: "0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³)))",
    formula: |x| x * sigmoid(x * (2.0 * RISE + 2.0 * RISE * CUBIC * (x * x))),
    oracle: |x| 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh()),
    by_hand: ByHand::NONE,
};
