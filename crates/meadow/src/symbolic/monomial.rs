//! A product of variables with exponents, x²·y, sorted by name; and values of variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Scm;
use meromorph::error::{Error, Result};

/// The name of a variable.
pub type Variable = Arc<str>;

/// Values of the variables of a formula.
pub type Values<'a> = BTreeMap<&'a str, Scm>;

/// The value of a variable; an error if it is not given.
pub(super) fn value_of(variable: &str, values: &Values<'_>) -> Result<Scm> {
    values.get(variable).copied().ok_or_else(|| {
        let given: Vec<&str> = values.keys().copied().collect();
        let given = if given.is_empty() { "none".to_owned() } else { given.join(", ") };
        Error::new(format!("evaluate: the variable \"{variable}\" has no value; given: {given}"))
    })
}

/// The exponents are at least 1, and their sum fits a u32.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Monomial(Vec<(Variable, u32)>);

impl Monomial {
    pub(super) fn factors(&self) -> &[(Variable, u32)] {
        &self.0
    }

    pub(super) fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn degree(&self) -> u32 {
        self.0.iter().map(|(_, exponent)| exponent).sum()
    }

    /// variable^exponent.
    pub(super) fn power(variable: Variable, exponent: u32) -> Self {
        Self(if exponent == 0 { Vec::new() } else { vec![(variable, exponent)] })
    }

    /// The product; `None` if its degree overflows.
    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        self.degree().checked_add(other.degree())?;
        let mut product = self.0.clone();
        for (variable, exponent) in &other.0 {
            match product.binary_search_by(|(known, _)| known.cmp(variable)) {
                Ok(at) => product[at].1 += exponent,
                Err(at) => product.insert(at, (variable.clone(), *exponent)),
            }
        }
        Some(Self(product))
    }

    /// The greatest common divisor.
    pub(super) fn common(&self, other: &Self) -> Self {
        let shared = |(variable, exponent): &(Variable, u32)| {
            let least = other.exponent(variable).min(*exponent);
            (least > 0).then(|| (variable.clone(), least))
        };
        Self(self.0.iter().filter_map(shared).collect())
    }

    pub(super) fn divides(&self, other: &Self) -> bool {
        self.common(other) == *self
    }

    /// The quotient by a divisor of this.
    pub(super) fn over(&self, divisor: &Self) -> Self {
        let left = |(variable, exponent): &(Variable, u32)| {
            let left = exponent - divisor.exponent(variable);
            (left > 0).then(|| (variable.clone(), left))
        };
        Self(self.0.iter().filter_map(left).collect())
    }

    /// The part in some of its variables.
    pub(super) fn only(&self, is_kept: impl Fn(&Variable) -> bool) -> Self {
        Self(self.0.iter().filter(|(variable, _)| is_kept(variable)).cloned().collect())
    }

    /// `coefficient` times this.
    pub(super) fn evaluate(&self, coefficient: Scm, values: &Values<'_>) -> Result<Scm> {
        let times = |product: Scm, (variable, exponent): &(Variable, u32)| {
            Ok(product * raised(value_of(variable, values)?, *exponent))
        };
        self.0.iter().try_fold(coefficient, times)
    }

    fn exponent(&self, variable: &Variable) -> u32 {
        self.0.iter().find(|(known, _)| known == variable).map_or(0, |(_, exponent)| *exponent)
    }
}

/// By repeated squaring, without the unused square after the last bit, which might overflow.
fn raised(base: Scm, exponent: u32) -> Scm {
    let (mut power, mut square, mut left) = (Scm::ONE, base, exponent);
    while left > 1 {
        if left & 1 == 1 {
            power = power * square;
        }
        square = square * square;
        left >>= 1;
    }
    if left == 1 { power * square } else { power }
}
