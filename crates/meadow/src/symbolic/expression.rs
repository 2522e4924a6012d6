//! A rational formula as a tree: constants, variables, rational leaves, sums, products, quotients. Subtrees are shared,
//! so a tree may represent far more nodes than it stores. Evaluation node by node is the oracle for its flattened
//! forms.

use std::collections::HashMap;
use std::ops::{Add, Div, Mul, Sub};
use std::sync::Arc;
use std::{fmt, mem};

use super::monomial::{Values, Variable, value_of};
use super::polynomial::Polynomial;
use super::refusal::{Flattening, Refusal};
use crate::Scm;
use meromorph::error::{Error, Result};

/// Maximal nesting depth: traversals recurse, and a browser's stack is small.
const MAX_NESTING: usize = 1000;

/// Maximal number of nodes that are printed; shared subtrees are printed each time.
const MAX_PRINTED: u64 = 1000;

/// Maximal number of terms of a polynomial that are printed inside an expression.
const MAX_PRINTED_TERMS: usize = 20;

/// A formula; cloning it shares it.
#[derive(Clone)]
pub struct Expression(Arc<Shared>);

struct Shared {
    node: Node,
    /// Its depth, 1 for a leaf.
    depth: usize,
    /// Number of nodes of the tree without sharing.
    visits: u64,
}

/// A node of an expression.
pub(super) enum Node {
    Constant(Scm),
    Variable(Variable),
    Rational { numerator: Polynomial, denominator: Polynomial, label: Option<String> },
    Pair { operation: Operation, left: Expression, right: Expression },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Mul,
    Div,
}

impl Expression {
    /// A variable.
    pub fn variable(name: &str) -> Self {
        Self::leaf(Node::Variable(name.into()))
    }

    /// A fraction of polynomials; the label is its name in errors and in the flattened formula's factors.
    pub fn rational(numerator: Polynomial, denominator: Polynomial, label: Option<&str>) -> Self {
        Self::leaf(Node::Rational { numerator, denominator, label: label.map(str::to_owned) })
    }

    /// The value, node by node, with an exact test for 0 at every division. Errors on a variable without a value, and
    /// on a nesting of more than 1000.
    pub fn evaluate(&self, values: &Values<'_>) -> Result<Scm> {
        self.check_nesting()?;
        self.value(values, Numbers::Any, &mut HashMap::new())
    }

    /// The same, with an error on coefficients and values that are not integers below 2^53, so that all numbers are
    /// exact.
    pub fn evaluate_whole(&self, values: &Values<'_>) -> Result<Scm> {
        self.check_nesting()?;
        self.value(values, Numbers::Whole, &mut HashMap::new())
    }

    pub(super) fn node(&self) -> &Node {
        &self.0.node
    }

    /// The same for all clones of one expression.
    pub(super) fn address(&self) -> *const Node {
        &raw const self.0.node
    }

    pub(super) fn check_nesting(&self) -> Flattening<()> {
        let (depth, limit) = (self.0.depth, MAX_NESTING);
        if depth > limit { Err(Refusal::Nesting { depth, limit }) } else { Ok(()) }
    }

    /// The expression with constants folded: 0 + x, 1·x, x/1, and operations on two constants. 0·x stays: it is ⊥
    /// where x is.
    pub(super) fn folded(&self) -> Self {
        match self.node() {
            Node::Constant(_) | Node::Variable(_) => self.clone(),
            Node::Rational { .. } => self.constant().map_or_else(|| self.clone(), Self::from),
            Node::Pair { operation, left, right } => joined(*operation, left.folded(), right.folded()),
        }
    }

    /// Its value if it is a constant, or a fraction of constants, and not ⊥.
    fn constant(&self) -> Option<Scm> {
        let value = match self.node() {
            Node::Constant(value) => *value,
            // A polynomial whose variables cancelled is ⊥ where one of them is, so it is not a constant.
            Node::Rational { numerator, denominator, .. }
                if numerator.reads().chain(denominator.reads()).count() == 0 =>
            {
                numerator.as_constant()? / denominator.as_constant()?
            }
            _ => return None,
        };
        (!value.is_bottom()).then_some(value)
    }

    fn value(&self, values: &Values<'_>, numbers: Numbers, known: &mut HashMap<*const Node, Scm>) -> Result<Scm> {
        if let Some(value) = known.get(&self.address()) {
            return Ok(*value);
        }
        let value = match self.node() {
            Node::Constant(value) => numbers.check("the constant", *value)?,
            Node::Variable(name) => numbers.check(&format!("{name} ="), value_of(name, values)?)?,
            Node::Rational { numerator, denominator, .. } => {
                for polynomial in [numerator, denominator] {
                    polynomial.terms().try_for_each(|(_, value)| numbers.check("the coefficient", value).map(drop))?;
                    for name in polynomial.reads() {
                        numbers.check(&format!("{name} ="), value_of(name, values)?)?;
                    }
                }
                numerator.evaluate(values)? / denominator.evaluate(values)?
            }
            Node::Pair { operation, left, right } => {
                operation.apply(left.value(values, numbers, known)?, right.value(values, numbers, known)?)
            }
        };
        known.insert(self.address(), value);
        Ok(value)
    }

    fn leaf(node: Node) -> Self {
        Self(Arc::new(Shared { node, depth: 1, visits: 1 }))
    }

    fn pair(operation: Operation, left: Self, right: Self) -> Self {
        let depth = left.0.depth.max(right.0.depth) + 1;
        let visits = left.0.visits.saturating_add(right.0.visits).saturating_add(1);
        Self(Arc::new(Shared { node: Node::Pair { operation, left, right }, depth, visits }))
    }
}

/// Which numbers an evaluation accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Any,
    Whole,
}

impl Numbers {
    fn check(self, what: &str, value: Scm) -> Result<Scm> {
        let is_whole = |part: f64| part.fract() == 0.0 && part.abs() < 9_007_199_254_740_992.0;
        let is_fine = value.number().is_none_or(|number| is_whole(number.re) && is_whole(number.im));
        if is_fine || self == Self::Any {
            return Ok(value);
        }
        Err(Error::new(format!("evaluate: {what} {value} is not exact: expected an integer below 2^53")))
    }
}

impl Operation {
    fn apply(self, a: Scm, b: Scm) -> Scm {
        match self {
            Self::Add => a + b,
            Self::Mul => a * b,
            Self::Div => a / b,
        }
    }

    /// The neutral operand, and whether it is neutral on the left as well.
    fn neutral(self) -> (Scm, bool) {
        match self {
            Self::Add => (Scm::ZERO, true),
            Self::Mul => (Scm::ONE, true),
            Self::Div => (Scm::ONE, false),
        }
    }

    fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Mul => '*',
            Self::Div => '/',
        }
    }
}

fn joined(operation: Operation, left: Expression, right: Expression) -> Expression {
    let (neutral, is_neutral_left) = operation.neutral();
    let (a, b) = (left.constant(), right.constant());
    if is_neutral_left && a == Some(neutral) {
        return right;
    }
    if b == Some(neutral) {
        return left;
    }
    let value = a.zip(b).map(|(a, b)| operation.apply(a, b)).filter(|value| !value.is_bottom());
    value.map_or_else(|| Expression::pair(operation, left, right), Expression::from)
}

impl From<Scm> for Expression {
    fn from(value: Scm) -> Self {
        Self::leaf(Node::Constant(value))
    }
}

impl From<f64> for Expression {
    /// NaN and the infinities are ⊥.
    fn from(value: f64) -> Self {
        Scm::from_ieee(value).into()
    }
}

impl<T: Into<Expression>> Add<T> for Expression {
    type Output = Self;

    fn add(self, other: T) -> Self {
        Self::pair(Operation::Add, self, other.into())
    }
}

impl<T: Into<Expression>> Sub<T> for Expression {
    type Output = Self;

    /// a + (-1)·b.
    fn sub(self, other: T) -> Self {
        let negative = Self::pair(Operation::Mul, (-1.0).into(), other.into());
        Self::pair(Operation::Add, self, negative)
    }
}

impl<T: Into<Expression>> Mul<T> for Expression {
    type Output = Self;

    fn mul(self, other: T) -> Self {
        Self::pair(Operation::Mul, self, other.into())
    }
}

impl<T: Into<Expression>> Div<T> for Expression {
    type Output = Self;

    fn div(self, other: T) -> Self {
        Self::pair(Operation::Div, self, other.into())
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.visits > MAX_PRINTED {
            return write!(f, "(an expression of {} nodes)", self.0.visits);
        }
        match self.node() {
            Node::Constant(value) => write!(f, "{value}"),
            Node::Variable(name) => f.write_str(name),
            Node::Rational { label: Some(label), .. } => f.write_str(label),
            Node::Rational { numerator: p, denominator: q, .. } if p.count().max(q.count()) > MAX_PRINTED_TERMS => {
                write!(f, "(a fraction of {} terms over {})", p.count(), q.count())
            }
            Node::Rational { numerator, denominator, .. } => write!(f, "({numerator})/({denominator})"),
            Node::Pair { operation, left, right } => write!(f, "({left} {} {right})", operation.sign()),
        }
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expression({self})")
    }
}

impl Drop for Shared {
    /// Iterative, because recursion down a long chain would exhaust the stack.
    fn drop(&mut self) {
        let mut waiting = Vec::new();
        take_operands(&mut self.node, &mut waiting);
        while let Some(expression) = waiting.pop() {
            if let Some(mut last) = Arc::into_inner(expression.0) {
                take_operands(&mut last.node, &mut waiting);
            }
        }
    }
}

fn take_operands(node: &mut Node, waiting: &mut Vec<Expression>) {
    if let Node::Pair { left, right, .. } = mem::replace(node, Node::Constant(Scm::ZERO)) {
        waiting.extend([left, right]);
    }
}
