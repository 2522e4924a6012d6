//! Why a formula is not flattened. A refusal is about cost and form, never about a value: an undefined value is ⊥.

use std::fmt;

use crate::error::Error;

/// A refusal, with what was met and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A fracterm was composed over more levels than allowed.
    Depth {
        /// Its levels.
        depth: usize,
        /// The limit.
        limit: usize,
    },
    /// The degree of a fracterm's numerator or denominator is over the limit.
    Degree {
        /// Of its numerator and denominator.
        degrees: (u32, u32),
        /// The limit of both.
        limit: u32,
    },
    /// A rational leaf has too many terms.
    Terms {
        /// The leaf.
        leaf: String,
        /// Terms of its numerator and denominator.
        terms: (u64, u64),
        /// The limit of their product.
        limit: u64,
    },
    /// Flattening might take too many steps, or give too many terms.
    Work {
        /// The bound on the steps; at least this many where it is very large.
        steps: u64,
        /// The bounds on the terms of the numerator and the denominator.
        terms: (u64, u64),
        /// The limit of each of these.
        limit: u64,
    },
    /// An expression is nested too deeply to be walked.
    Nesting {
        /// Its depth.
        depth: usize,
        /// The limit.
        limit: usize,
    },
    /// A coefficient is ⊥, or a product of coefficients or a degree is too large or too small for a number.
    Coefficient,
    /// The zero polynomial was declared to be never 0.
    ZeroDeclaredNonzero,
    /// A rational unit of no depth, or deeper than its maximum.
    UnitDepth {
        /// The depth that was asked for.
        depth: usize,
        /// The maximum.
        limit: usize,
    },
    /// An expression that is deeper than the rational unit it should fit.
    OverDepth {
        /// The depth of the expression.
        depth: usize,
        /// The depth of the unit.
        limit: usize,
    },
    /// An expression whose flattened degrees are over the bounds of its rational unit.
    OverDegree {
        /// Degrees of the numerator and the denominator.
        degrees: (u32, u32),
        /// The bound of both.
        limit: u64,
    },
}

/// What was asked for, or why not.
pub type Flattening<T> = Result<T, Refusal>;

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth { depth, limit } => {
                write!(f, "flatten: the fracterm is composed over {depth} levels, over the limit of {limit}")
            }
            Self::Degree { degrees: (p, q), limit } => {
                write!(f, "flatten: the degrees are {p} over {q}, over the limit of {limit}")
            }
            Self::Terms { leaf, terms: (p, q), limit } => {
                let product = p.saturating_mul(*q);
                write!(f, "flatten: {leaf} has {p} x {q} = {product} terms, over the limit of {limit}; split it")
            }
            Self::Work { steps, terms: (p, q), limit } => {
                write!(f, "flatten: it may take {steps} steps and give {p} terms over {q}, over the limit of {limit}")
            }
            Self::Nesting { depth, limit } => {
                write!(f, "expression: it is nested {depth} deep, over the limit of {limit}")
            }
            Self::Coefficient => {
                f.write_str("flatten: a coefficient is ⊥, or a coefficient or degree leaves the range of numbers")
            }
            Self::ZeroDeclaredNonzero => f.write_str("flatten: the polynomial 0 was declared to be never 0"),
            Self::UnitDepth { depth, limit } => {
                write!(f, "rational unit: the depth {depth} should be from 1 to {limit}")
            }
            Self::OverDepth { depth, limit } => {
                write!(f, "rational unit: the expression is {depth} levels deep, the unit {limit}")
            }
            Self::OverDegree { degrees: (p, q), limit } => {
                write!(f, "rational unit: the expression has degrees {p} over {q}, the unit's bound is {limit}")
            }
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.to_string())
    }
}
