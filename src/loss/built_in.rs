//! What a built-in pointwise loss is.

use super::target::Target;
use crate::program::Expr;
use crate::program::constants::{Constant, Values};

/// A built-in pointwise loss.
#[derive(Debug)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Its description in one line.
    pub doc: &'static str,
    /// Kind of its targets.
    pub target: Target,
    /// Its constants that a user may set.
    pub constants: &'static [Constant],
    /// The loss of one prediction p against its target y.
    pub formula: fn(Expr, Expr, &Values) -> Expr,
    /// The same in plain f64, written independently of `formula`, for comparison in cases.
    pub oracle: fn(f64, f64, &Values) -> f64,
}
