//! A fraction P/Q of polynomials, composed by the laws of total arithmetic (Bergstra and Tucker's fracterm calculus):
//!
//! p/q + u/v = (p·v + u·q)/(q·v), p/q · u/v = p·u/(q·v), and x/(u/v) = x·v²/(u·v), which keeps the ⊥ at v = 0.

use std::fmt;
use std::ops::{Add, Div, Mul};

use super::monomial::Values;
use super::polynomial::Polynomial;
use super::refusal::{Flattening, Refusal};
use super::simplify::{Cancellation, Nonzero, reduced};
use crate::Scm;
use meromorph::error::Result;

/// P/Q, and the growth of its degrees over levels of composition.
#[derive(Clone, Debug, PartialEq)]
pub struct Fracterm {
    numerator: Polynomial,
    denominator: Polynomial,
    /// Per level of composition the largest degrees of numerator and denominator.
    degrees: Vec<(u32, u32)>,
}

/// Limits on a fracterm that is flattened; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Levels of composition.
    pub depth: Option<usize>,
    /// The degree of numerator and denominator.
    pub degree: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: Some(5), degree: None }
    }
}

impl Fracterm {
    /// numerator/denominator, of depth 1.
    pub fn new(numerator: Polynomial, denominator: Polynomial) -> Self {
        let degrees = vec![(numerator.degree(), denominator.degree())];
        Self { numerator, denominator, degrees }
    }

    /// value/1.
    pub fn constant(value: Scm) -> Self {
        Self::new(Polynomial::constant(value), Polynomial::constant(Scm::ONE))
    }

    /// name/1.
    pub fn variable(name: &str) -> Self {
        Self::new(Polynomial::variable(name), Polynomial::constant(Scm::ONE))
    }

    /// P.
    pub fn numerator(&self) -> &Polynomial {
        &self.numerator
    }

    /// Q.
    pub fn denominator(&self) -> &Polynomial {
        &self.denominator
    }

    /// The degrees of P and Q.
    pub fn degrees(&self) -> (u32, u32) {
        (self.numerator.degree(), self.denominator.degree())
    }

    /// Its levels of composition: 1 for a leaf, otherwise one more than its deeper operand.
    pub fn depth(&self) -> usize {
        self.degrees.len()
    }

    /// The largest degrees of P and Q at each level of composition.
    pub fn degree_profile(&self) -> &[(u32, u32)] {
        &self.degrees
    }

    /// The same fraction, simplified. With `Cancellation::FieldRational` it may have a value where it was ⊥; also where a
    /// polynomial in `nonzero`, declared to be never 0, is 0 nevertheless.
    pub fn flattened(&self, mode: Cancellation, nonzero: &[Polynomial], limits: Limits) -> Flattening<Self> {
        let depth = self.depth();
        if let Some(limit) = limits.depth.filter(|&limit| depth > limit) {
            return Err(Refusal::Depth { depth, limit });
        }
        let flat = self.simplified(mode, &Nonzero::new(nonzero)?);
        let degrees = flat.degrees();
        if let Some(limit) = limits.degree.filter(|&limit| degrees.0.max(degrees.1) > limit) {
            return Err(Refusal::Degree { degrees, limit });
        }
        if flat.is_bottom() { Err(Refusal::Coefficient) } else { Ok(flat) }
    }

    /// The quotient in a field, p·v/(q·u): shorter than the strict one, but with a value where v = 0.
    pub fn over_in_field(&self, other: &Self) -> Self {
        self.joined(other, &self.numerator * &other.denominator, &self.denominator * &other.numerator)
    }

    /// P/Q: ⊥ where Q is 0, where any variable that it ever contained is ⊥, and where it overflows. Errors on a
    /// variable without a value.
    pub fn evaluate(&self, values: &Values<'_>) -> Result<Scm> {
        Ok(self.numerator.evaluate(values)? / self.denominator.evaluate(values)?)
    }

    pub(super) fn is_bottom(&self) -> bool {
        self.numerator.is_bottom() || self.denominator.is_bottom()
    }

    /// The same degree history with other polynomials.
    pub(super) fn with(&self, (numerator, denominator): (Polynomial, Polynomial)) -> Self {
        Self { numerator, denominator, degrees: self.degrees.clone() }
    }

    fn simplified(&self, mode: Cancellation, nonzero: &Nonzero<'_>) -> Self {
        self.with(reduced(&self.numerator, &self.denominator, mode, nonzero))
    }

    fn joined(&self, other: &Self, numerator: Polynomial, denominator: Polynomial) -> Self {
        let (long, short) = if self.depth() >= other.depth() { (self, other) } else { (other, self) };
        let mut degrees = long.degrees.clone();
        for (most, also) in degrees.iter_mut().zip(&short.degrees) {
            *most = (most.0.max(also.0), most.1.max(also.1));
        }
        degrees.push((numerator.degree(), denominator.degree()));
        Self { numerator, denominator, degrees }.simplified(Cancellation::ScmStrict, &Nonzero::default())
    }
}

impl Add for &Fracterm {
    type Output = Fracterm;

    fn add(self, other: Self) -> Fracterm {
        let numerator = &(&self.numerator * &other.denominator) + &(&other.numerator * &self.denominator);
        self.joined(other, numerator, &self.denominator * &other.denominator)
    }
}

impl Mul for &Fracterm {
    type Output = Fracterm;

    fn mul(self, other: Self) -> Fracterm {
        self.joined(other, &self.numerator * &other.numerator, &self.denominator * &other.denominator)
    }
}

impl Div for &Fracterm {
    type Output = Fracterm;

    fn div(self, other: Self) -> Fracterm {
        let numerator = &(&self.numerator * &other.denominator) * &other.denominator;
        let denominator = &(&self.denominator * &other.numerator) * &other.denominator;
        self.joined(other, numerator, denominator)
    }
}

impl fmt::Display for Fracterm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({})/({})", self.numerator, self.denominator)
    }
}
