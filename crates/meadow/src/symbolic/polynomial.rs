//! Sparse polynomials in several variables: a map from monomials to coefficients, and all variables ever read.
//!
//! A coefficient is never 0: terms that cancel are removed. But x - x is not 0 where x is ⊥, so a polynomial keeps the
//! names of all variables it was built from and is ⊥ where one of them is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::{Add, Mul};

use super::monomial::{Monomial, Values, Variable, value_of};
use crate::Scm;
use meromorph::error::Result;

/// A polynomial. Two are equal if they have the same terms and were built from the same variables, so that they also
/// agree at ⊥.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polynomial {
    terms: BTreeMap<Monomial, Scm>,
    reads: BTreeSet<Variable>,
}

impl Polynomial {
    /// A constant.
    pub fn constant(value: Scm) -> Self {
        Self::term(value, &[])
    }

    /// A variable.
    pub fn variable(name: &str) -> Self {
        Self::term(Scm::ONE, &[(name, 1)])
    }

    /// coefficient · Π variable^exponent.
    pub fn term(coefficient: Scm, factors: &[(&str, u32)]) -> Self {
        let factors: Vec<(Variable, u32)> = factors.iter().map(|&(name, exponent)| (name.into(), exponent)).collect();
        let reads = factors.iter().map(|(variable, _)| variable.clone()).collect();
        let times = |product: Monomial, (variable, exponent)| product.times(&Monomial::power(variable, exponent));
        Self::gathered([(factors.into_iter().try_fold(Monomial::default(), times), coefficient)], reads)
    }

    /// The terms: the exponents of the variables, and the coefficient.
    pub fn terms(&self) -> impl Iterator<Item = (&[(Variable, u32)], Scm)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial.factors(), *coefficient))
    }

    /// Every variable that this was built from, even if no term contains it.
    pub fn reads(&self) -> impl Iterator<Item = &Variable> {
        self.reads.iter()
    }

    /// The largest sum of exponents of a term; 0 if there is no term.
    pub fn degree(&self) -> u32 {
        self.terms.keys().map(Monomial::degree).max().unwrap_or(0)
    }

    /// The value: ⊥ where a variable that this was built from is ⊥, and where it overflows. Errors on a variable without a
    /// value.
    pub fn evaluate(&self, values: &Values<'_>) -> Result<Scm> {
        for variable in &self.reads {
            if value_of(variable, values)?.is_bottom() {
                return Ok(Scm::BOTTOM);
            }
        }
        self.terms.iter().try_fold(Scm::ZERO, |sum, (monomial, &value)| Ok(sum + monomial.evaluate(value, values)?))
    }

    /// Whether a coefficient is ⊥ or a coefficient or degree overflowed; the polynomial is then ⊥ everywhere.
    pub(super) fn is_bottom(&self) -> bool {
        self.terms.values().any(|coefficient| coefficient.is_bottom())
    }

    pub(super) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.terms.len()
    }

    /// Its value if no term has a variable.
    pub(super) fn as_constant(&self) -> Option<Scm> {
        match self.terms.first_key_value() {
            None => Some(Scm::ZERO),
            Some((monomial, &value)) if self.count() == 1 && monomial.is_one() => Some(value),
            Some(_) => None,
        }
    }

    /// Its monomial if it is a single term.
    pub(super) fn as_monomial(&self) -> Option<&Monomial> {
        self.terms.keys().next().filter(|_| self.count() == 1)
    }

    /// The largest monomial that divides every term; 1 if there is no term.
    pub(super) fn common(&self) -> Monomial {
        let mut monomials = self.terms.keys();
        let first = monomials.next().cloned().unwrap_or_default();
        monomials.fold(first, |common, monomial| common.common(monomial))
    }

    /// The quotient by a monomial that divides every term.
    pub(super) fn over(&self, divisor: &Monomial) -> Self {
        let terms = self.terms.iter().map(|(monomial, &value)| (monomial.over(divisor), value)).collect();
        Self { terms, reads: self.reads.clone() }
    }

    /// The quotient by a number that is not 0.
    pub(super) fn scaled_down(&self, divisor: Scm) -> Self {
        let terms = self.terms.iter().map(|(monomial, &value)| (Some(monomial.clone()), value / divisor));
        Self::gathered(terms, self.reads.clone())
    }

    /// The same terms, with the variables of another polynomial added.
    pub(super) fn reading(mut self, other: &Self) -> Self {
        self.reads.extend(other.reads.iter().cloned());
        self
    }

    fn reads_with(&self, other: &Self) -> BTreeSet<Variable> {
        &self.reads | &other.reads
    }

    pub(super) fn has_terms_of(&self, other: &Self) -> bool {
        self.terms == other.terms
    }

    /// Adds up terms; one that is not representable makes the whole ⊥, and no later term can cancel it.
    fn gathered(terms: impl IntoIterator<Item = (Option<Monomial>, Scm)>, reads: BTreeSet<Variable>) -> Self {
        let mut sums = BTreeMap::new();
        for (monomial, coefficient) in terms {
            let sum = monomial.map(|monomial| sums.entry(monomial).or_insert(Scm::ZERO));
            let Some(sum) = sum else { return Self::bottom(reads) };
            *sum = *sum + coefficient;
            if sum.is_bottom() {
                return Self::bottom(reads);
            }
        }
        sums.retain(|_, coefficient| !coefficient.is_zero());
        Self { terms: sums, reads }
    }

    fn bottom(reads: BTreeSet<Variable>) -> Self {
        Self { terms: BTreeMap::from([(Monomial::default(), Scm::BOTTOM)]), reads }
    }
}

impl Add for &Polynomial {
    type Output = Polynomial;

    fn add(self, other: Self) -> Polynomial {
        let terms = self.terms.iter().chain(&other.terms);
        let terms = terms.map(|(monomial, &coefficient)| (Some(monomial.clone()), coefficient));
        Polynomial::gathered(terms, self.reads_with(other))
    }
}

impl Mul for &Polynomial {
    type Output = Polynomial;

    fn mul(self, other: Self) -> Polynomial {
        let reads = self.reads_with(other);
        if self.is_bottom() || other.is_bottom() {
            return Polynomial::bottom(reads);
        }
        let terms = self.terms.iter().flat_map(|a| other.terms.iter().map(move |b| (a, b)));
        let times = |((left, &a), (right, &b)): ((&Monomial, &Scm), (&Monomial, &Scm))| {
            // A product of coefficients that underflows to 0 would remove its term.
            let product = if (a * b).is_zero() { Scm::BOTTOM } else { a * b };
            (left.times(right), product)
        };
        Polynomial::gathered(terms.map(times), reads)
    }
}

impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        for (at, (factors, coefficient)) in self.terms().enumerate() {
            let is_negative = coefficient.to_ieee() < 0.0;
            f.write_str(match (at, is_negative) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            })?;
            write_term(f, factors, if is_negative { -coefficient } else { coefficient })?;
        }
        Ok(())
    }
}

fn write_term(f: &mut fmt::Formatter<'_>, factors: &[(Variable, u32)], coefficient: Scm) -> fmt::Result {
    let power = |(variable, exponent): &(Variable, u32)| match exponent {
        1 => variable.to_string(),
        _ => format!("{variable}^{exponent}"),
    };
    let mut parts: Vec<String> = factors.iter().map(power).collect();
    if coefficient != Scm::ONE || parts.is_empty() {
        let is_real = coefficient.number().is_none_or(|number| number.im == 0.0);
        parts.insert(0, if is_real { coefficient.to_string() } else { format!("({coefficient})") });
    }
    f.write_str(&parts.join("*"))
}
