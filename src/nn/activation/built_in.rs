//! What a built-in activation is.

use crate::program::Expr;
use crate::program::curve::ByHand;

/// A built-in activation.
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Its formula and source in one line.
    pub doc: &'static str,
    /// f(x).
    pub formula: fn(Expr) -> Expr,
    /// f(x) in plain f64, written independently of `formula`, for comparison in cases.
    pub oracle: fn(f64) -> f64,
    /// Hand-written versions, where measurements justify them.
    pub by_hand: ByHand,
}
