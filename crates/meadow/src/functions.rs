//! The functions of one argument, and powers. Each is ⊥ where its argument is, where it is undefined, and where it
//! overflows.

use super::complex::Complex;
use super::value::{Payload, Scm};

impl Scm {
    /// 1/x; ⊥ at 0.
    pub fn inv(self) -> Self {
        Self::ONE / self
    }

    /// x^e for a real e; x^0 = 1 for every x except ⊥. ⊥ at 0 with e < 0, at a real x < 0 with a fractional e (a complex x
    /// has its principal power there), and for an e that is not finite.
    pub fn pow(self, exponent: f64) -> Self {
        let Some(number) = self.number() else { return Self::BOTTOM };
        if !exponent.is_finite() || (number.is_zero() && exponent < 0.0) {
            return Self::BOTTOM;
        }
        match self.payload() {
            Payload::Real(x) if x < 0.0 && exponent.fract() != 0.0 => Self::BOTTOM,
            Payload::Real(x) => Self::from_ieee(x.powf(exponent)),
            _ if number.is_zero() => Self::from_ieee(0f64.powf(exponent)),
            _ => Self::from_complex(number.pow(exponent)),
        }
    }

    /// The natural logarithm, the principal branch of a complex one; ⊥ at 0 and at a real x < 0.
    pub fn ln(self) -> Self {
        if self.is_zero() {
            return Self::BOTTOM;
        }
        // The logarithm of a negative real is NaN, which is ⊥.
        self.unary(f64::ln, Complex::ln)
    }

    /// e^x.
    pub fn exp(self) -> Self {
        self.unary(f64::exp, Complex::exp)
    }

    /// The square root, the principal one of a complex x; ⊥ at a real x < 0.
    pub fn sqrt(self) -> Self {
        self.unary(f64::sqrt, Complex::sqrt)
    }

    /// The sine of x radians.
    pub fn sin(self) -> Self {
        self.unary(f64::sin, Complex::sin)
    }

    /// The cosine of x radians.
    pub fn cos(self) -> Self {
        self.unary(f64::cos, Complex::cos)
    }

    /// The tangent of x radians. No f64 is a pole of it, so no finite x is ⊥.
    pub fn tan(self) -> Self {
        self.unary(f64::tan, Complex::tan)
    }

    fn unary(self, real: fn(f64) -> f64, complex: fn(Complex) -> Complex) -> Self {
        match self.payload() {
            Payload::Bottom => Self::BOTTOM,
            Payload::Real(x) => Self::from_ieee(real(x)),
            Payload::Complex(z) => Self::from_complex(complex(z)),
        }
    }
}
