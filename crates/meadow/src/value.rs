//! The scalar of total arithmetic: a finite number, real or complex, or ⊥.
//!
//! One convention everywhere: an operation is ⊥ where an operand is ⊥, where it is undefined (a zero divisor of either
//! sign, a logarithm of 0, a real root of a negative number) and where its result would not be finite. ZeroProofML's
//! scalars raise an error on overflow and return a complex number for (-1)^½, but its vectorised form gives ⊥ for both;
//! here both are ⊥.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::complex::Complex;
use meromorph::error::{Error, Result};

/// A finite real or complex number, or ⊥. Equal numbers are equal whether real or complex, 0 = -0, and ⊥ = ⊥.
#[derive(Clone, Copy)]
pub struct Scm(Payload);

#[derive(Clone, Copy)]
pub(super) enum Payload {
    Bottom,
    Real(f64),
    Complex(Complex),
}

impl Scm {
    /// ⊥, which absorbs in every operation.
    pub const BOTTOM: Self = Self(Payload::Bottom);
    /// The real 0.
    pub const ZERO: Self = Self(Payload::Real(0.0));
    /// The real 1.
    pub const ONE: Self = Self(Payload::Real(1.0));

    /// A real number. Errors on NaN and infinities, which are faults; `from_ieee` turns them into ⊥.
    pub fn real(value: f64) -> Result<Self> {
        if value.is_finite() { Ok(Self(Payload::Real(value))) } else { Err(not_finite(&value.to_string())) }
    }

    /// A complex number, complex even if its imaginary part is 0. Errors on NaN and infinities.
    pub fn complex(re: f64, im: f64) -> Result<Self> {
        let value = Complex::new(re, im);
        if value.is_finite() { Ok(Self(Payload::Complex(value))) } else { Err(not_finite(&format!("{re}{im:+}i"))) }
    }

    /// From an IEEE number: NaN and the infinities are ⊥.
    pub fn from_ieee(value: f64) -> Self {
        if value.is_finite() { Self(Payload::Real(value)) } else { Self::BOTTOM }
    }

    /// To an IEEE number: ⊥ is NaN, and so is a number that is not real.
    pub fn to_ieee(self) -> f64 {
        match self.0 {
            Payload::Real(value) => value,
            Payload::Complex(Complex { re, im: 0.0 }) => re,
            _ => f64::NAN,
        }
    }

    /// Whether this is ⊥.
    pub fn is_bottom(self) -> bool {
        matches!(self.0, Payload::Bottom)
    }

    /// Whether this is 0, of either sign, real or complex.
    pub fn is_zero(self) -> bool {
        self.number().is_some_and(Complex::is_zero)
    }

    /// The number as a complex one; `None` for ⊥.
    pub fn number(self) -> Option<Complex> {
        match self.0 {
            Payload::Bottom => None,
            Payload::Real(re) => Some(Complex::new(re, 0.0)),
            Payload::Complex(value) => Some(value),
        }
    }

    /// |x|, infinite where it is not representable; `None` for ⊥.
    pub fn modulus(self) -> Option<f64> {
        self.number().map(Complex::modulus)
    }

    pub(super) fn payload(self) -> Payload {
        self.0
    }

    /// A computed complex number: ⊥ if it is not finite.
    pub(super) fn from_complex(value: Complex) -> Self {
        if value.is_finite() { Self(Payload::Complex(value)) } else { Self::BOTTOM }
    }

    fn binary(self, other: Self, real: fn(f64, f64) -> f64, complex: fn(Complex, Complex) -> Complex) -> Self {
        if let (Payload::Real(a), Payload::Real(b)) = (self.0, other.0) {
            return Self::from_ieee(real(a, b));
        }
        let (Some(a), Some(b)) = (self.number(), other.number()) else { return Self::BOTTOM };
        Self::from_complex(complex(a, b))
    }
}

fn not_finite(value: &str) -> Error {
    Error::new(format!(
        "scm: got {value}, expected a finite number; for an undefined value use Scm::BOTTOM or Scm::from_ieee"
    ))
}

impl Add for Scm {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.binary(other, f64::add, Complex::add)
    }
}

impl Sub for Scm {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.binary(other, f64::sub, Complex::sub)
    }
}

impl Mul for Scm {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.binary(other, f64::mul, Complex::mul)
    }
}

impl Div for Scm {
    type Output = Self;

    /// ⊥ where the divisor is 0, of either sign, even for 0/0.
    fn div(self, other: Self) -> Self {
        if other.is_zero() { Self::BOTTOM } else { self.binary(other, f64::div, Complex::div) }
    }
}

impl Neg for Scm {
    type Output = Self;

    fn neg(self) -> Self {
        match self.0 {
            Payload::Bottom => Self::BOTTOM,
            Payload::Real(value) => Self(Payload::Real(-value)),
            Payload::Complex(value) => Self(Payload::Complex(value.scaled(-1.0))),
        }
    }
}

impl PartialEq for Scm {
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl Eq for Scm {}

impl Hash for Scm {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Adding 0 makes -0 and 0 one value, as equality does.
        self.number().map(|value| [value.re + 0.0, value.im + 0.0].map(f64::to_bits)).hash(state);
    }
}

impl fmt::Display for Scm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Payload::Bottom => f.write_str("⊥"),
            Payload::Real(value) => write!(f, "{value}"),
            Payload::Complex(Complex { re, im }) => write!(f, "{re}{im:+}i"),
        }
    }
}

impl fmt::Debug for Scm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scm({self})")
    }
}
