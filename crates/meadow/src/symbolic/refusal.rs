//! Reasons why a formula is not flattened: cost and form, never a value, since an undefined value is ⊥.

use std::fmt;

use meromorph::error::Error;

/// A reason, with the actual size and the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A fracterm was composed over more levels than allowed.
    Depth {
        /// Levels of the fracterm.
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
    /// Flattening may take too many steps, or give too many terms.
    Work {
        /// The estimated number of steps; saturates.
        steps: u64,
        /// The bounds on the terms of the numerator and the denominator.
        terms: (u64, u64),
        /// The limit of each of these.
        limit: u64,
    },
    /// An expression is nested too deeply.
    Nesting {
        /// Its depth.
        depth: usize,
        /// The limit.
        limit: usize,
    },
    /// A coefficient is ⊥, or a product of coefficients or a degree is not representable.
    Coefficient,
    /// The zero polynomial was declared to be never 0.
    ZeroDeclaredNonzero,
    /// A rational unit of depth 0, or deeper than its maximum.
    UnitDepth {
        /// The requested depth.
        depth: usize,
        /// The maximum.
        limit: usize,
    },
    /// An expression that is deeper than its rational unit.
    OverDepth {
        /// The depth of the expression.
        depth: usize,
        /// The depth of the unit.
        limit: usize,
    },
    /// An expression whose flattened degrees exceed the bounds of its rational unit.
    OverDegree {
        /// Degrees of the numerator and the denominator.
        degrees: (u32, u32),
        /// The bound of both.
        limit: u64,
    },
}

/// A result, or the reason why there is none.
pub type Flattening<T> = Result<T, Refusal>;

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Depth { depth, limit } => {
                write!(f, "flatten: too many levels of composition: got {depth}, expected at most {limit}")
            }
            Self::Degree { degrees: (p, q), limit } => {
                write!(f, "flatten: degrees too high: got {p} over {q}, expected at most {limit}")
            }
            Self::Terms { leaf, terms: (p, q), limit } => {
                let product = p.saturating_mul(*q);
                write!(
                    f,
                    "flatten: {leaf} has too many terms: got {p} x {q} = {product}, expected at most {limit}; split it"
                )
            }
            Self::Work { steps, terms: (p, q), limit } => {
                write!(
                    f,
                    "flatten: cost too high: got up to {steps} steps and {p} terms over {q}, expected at most {limit} each"
                )
            }
            Self::Nesting { depth, limit } => {
                write!(f, "expression: nested too deeply: got {depth} levels, expected at most {limit}")
            }
            Self::Coefficient => {
                f.write_str("flatten: a coefficient is ⊥, or a coefficient or degree is not representable")
            }
            Self::ZeroDeclaredNonzero => f.write_str("flatten: the polynomial 0 was declared to be never 0"),
            Self::UnitDepth { depth, limit } => {
                write!(f, "rational unit: depth: got {depth}, expected 1 to {limit}")
            }
            Self::OverDepth { depth, limit } => {
                write!(f, "rational unit: expression too deep: got {depth} levels, expected at most {limit}")
            }
            Self::OverDegree { degrees: (p, q), limit } => {
                write!(
                    f,
                    "rational unit: degrees of the expression too high: got {p} over {q}, expected at most {limit}"
                )
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
