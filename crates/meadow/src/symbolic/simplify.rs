//! Cancellation in P/Q. Cancelling a factor of Q loses the ⊥ where the factor is 0, so by default only numbers are
//! cancelled, and variables that the caller declares to be never 0.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::monomial::{Monomial, Variable};
use super::polynomial::Polynomial;
use super::refusal::{Flattening, Refusal};
use crate::Scm;
use meromorph::error::{Error, Result};

/// Which factors common to P and Q are cancelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cancellation {
    /// Integers, and variables declared to be non-zero: the value is ⊥ exactly where it was before.
    #[default]
    ScmStrict,
    /// All monomials, as in a field. Unsafe: x/x becomes 1, also where x = 0.
    FieldRational,
}

impl FromStr for Cancellation {
    type Err = Error;

    /// `scm_strict`, or `field_rational`, also called `bergstra_tucker`.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "scm_strict" => Ok(Self::ScmStrict),
            "field_rational" | "bergstra_tucker" => Ok(Self::FieldRational),
            _ => Err(Error::new(format!(
                "simplify: unknown mode \"{text}\": expected scm_strict, field_rational or bergstra_tucker"
            ))),
        }
    }
}

/// Polynomials that the caller declares to be never 0.
#[derive(Default)]
pub(super) struct Nonzero<'a> {
    polynomials: &'a [Polynomial],
    variables: BTreeSet<Variable>,
}

impl<'a> Nonzero<'a> {
    /// If a single term is never 0, none of its variables is ever 0.
    pub(super) fn new(polynomials: &'a [Polynomial]) -> Flattening<Self> {
        if polynomials.iter().any(Polynomial::is_zero) {
            return Err(Refusal::ZeroDeclaredNonzero);
        }
        let monomials = polynomials.iter().filter_map(Polynomial::as_monomial);
        let variables = monomials.flat_map(Monomial::factors).map(|(variable, _)| variable.clone()).collect();
        Ok(Self { polynomials, variables })
    }

    /// Whether a polynomial is never 0, by declaration or because it is a constant.
    pub(super) fn covers(&self, polynomial: &Polynomial) -> bool {
        let is_known = |(variable, _): &(Variable, u32)| self.variables.contains(variable);
        self.polynomials.iter().any(|declared| has_zeros_of(declared, polynomial))
            || polynomial.as_monomial().is_some_and(|monomial| monomial.factors().iter().all(is_known))
    }
}

/// P and Q after the cancellation that the mode allows.
pub(super) fn reduced(
    p: &Polynomial,
    q: &Polynomial,
    mode: Cancellation,
    nonzero: &Nonzero<'_>,
) -> (Polynomial, Polynomial) {
    let is_field = mode == Cancellation::FieldRational && !p.is_zero();
    let (p, short_q) = cancelled(p, q, |variable| is_field || nonzero.variables.contains(variable));
    if p.is_zero() && !q.is_bottom() && (nonzero.covers(q) || nonzero.covers(&short_q)) {
        return (p, Polynomial::constant(Scm::ONE).reading(q));
    }
    without_whole_factor(p, short_q)
}

/// P and Q without the common monomials of some variables; if P = 0, all monomials of Q are common.
pub(super) fn cancelled(
    p: &Polynomial,
    q: &Polynomial,
    is_cancelled: impl Fn(&Variable) -> bool,
) -> (Polynomial, Polynomial) {
    let common = if p.is_zero() { q.common() } else { p.common().common(&q.common()) };
    let common = common.only(is_cancelled);
    (p.over(&common), q.over(&common))
}

/// P and Q divided by the greatest common divisor of all their coefficients, if these are integers.
pub(super) fn without_whole_factor(p: Polynomial, q: Polynomial) -> (Polynomial, Polynomial) {
    match whole_factor(p.terms().chain(q.terms()).map(|(_, coefficient)| coefficient)) {
        Some(divisor) => (p.scaled_down(divisor), q.scaled_down(divisor)),
        None => (p, q),
    }
}

/// Whether two polynomials are equal up to an integer factor, so that they have the same zeros.
pub(super) fn has_zeros_of(a: &Polynomial, b: &Polynomial) -> bool {
    let primitive = |polynomial: &Polynomial| {
        let divisor = whole_factor(polynomial.terms().map(|(_, coefficient)| coefficient));
        divisor.map_or_else(|| polynomial.clone(), |divisor| polynomial.scaled_down(divisor))
    };
    primitive(a).has_terms_of(&primitive(b))
}

/// The greatest common divisor of integers, if it is more than 1.
fn whole_factor(mut coefficients: impl Iterator<Item = Scm>) -> Option<Scm> {
    let divisor = coefficients.try_fold(0.0, |divisor, value| Some(common_divisor(divisor, whole(value)?)))?;
    (divisor > 1.0).then(|| Scm::from_ieee(divisor))
}

/// The absolute value of the integer within 1e-12 of a coefficient, if there is one.
fn whole(coefficient: Scm) -> Option<f64> {
    let number = coefficient.number()?;
    let nearest = number.re.round();
    (number.im == 0.0 && (number.re - nearest).abs() <= 1e-12).then_some(nearest.abs())
}

/// Euclid's algorithm; the remainder of two f64 is exact.
fn common_divisor(a: f64, b: f64) -> f64 {
    if b == 0.0 { a } else { common_divisor(b, a % b) }
}
