//! The functions that formulas may call: operations by name or alias, and functions composed of them.

use super::expr::{self, Expr};
use super::op::{OPS, ScalarOp};

/// The expression of a function, from its arguments.
pub type Body = Box<dyn Fn(&[Expr]) -> Expr>;

/// A function that formulas may call in addition to the scalar operations.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Number of its arguments.
    pub arguments: usize,
    /// Its expression.
    pub body: Body,
}

/// Other names of operations.
const ALIASES: [(&str, &str); 11] = [
    ("log", "ln"),
    ("where", "select"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("power", "pow"),
    ("minimum", "min"),
    ("maximum", "max"),
    ("clip", "clamp"),
    ("expit", "sigmoid"),
];

/// Name, number of arguments, meaning.
type Composed = (&'static str, usize, fn(&[Expr]) -> Expr);
/// Functions composed of operations.
pub(crate) const COMPOSED: [Composed; 2] = [
    ("log10", 1, |x| expr::ln(x[0]) * std::f64::consts::LOG10_E),
    // The Voigt profile of x, with standard deviation sigma and half width at half maximum gamma.
    ("voigt", 3, |x| expr::voigt(x[0], x[1], x[2])),
];

/// Every function that formulas may call, with the number of its arguments.
pub fn functions(more: &[Function]) -> Vec<(&'static str, usize)> {
    let ops = OPS.iter().map(|op| (op.name, op.arguments.len()));
    let composed = COMPOSED.iter().map(|(name, arguments, _)| (*name, *arguments));
    let composed = composed.chain(more.iter().map(|function| (function.name, function.arguments)));
    let aliases = ALIASES.iter().filter_map(|(alias, name)| Some((*alias, operation(name)?.arguments.len())));
    ops.chain(composed).chain(aliases).collect()
}

/// The operation with this name or alias.
pub(crate) fn operation(name: &str) -> Option<&'static ScalarOp> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    OPS.iter().copied().find(|op| op.name == name)
}
