//! A complex number in f64, with the operations that total arithmetic needs. Results may be infinite or NaN; `Scm` turns
//! those into ⊥.

use std::ops::{Add, Div, Mul, Sub};

/// re + i·im.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Complex {
    /// re + i·im.
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    pub(super) fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }

    pub(super) fn is_zero(self) -> bool {
        self.re == 0.0 && self.im == 0.0
    }

    pub(super) fn modulus(self) -> f64 {
        self.re.hypot(self.im)
    }

    pub(super) fn scaled(self, by: f64) -> Self {
        Self::new(self.re * by, self.im * by)
    }

    /// z/|z| for a z that is not 0. Dividing by the larger part first keeps |z| from overflowing and from being
    /// subnormal.
    pub(super) fn direction(self) -> Self {
        let larger = self.re.abs().max(self.im.abs());
        let near_one = Self::new(self.re / larger, self.im / larger);
        let modulus = near_one.modulus();
        Self::new(near_one.re / modulus, near_one.im / modulus)
    }

    pub(super) fn exp(self) -> Self {
        let (sin, cos) = self.im.sin_cos();
        Self::new(cos, sin).scaled(self.re.exp())
    }

    /// The principal branch; not for 0.
    pub(super) fn ln(self) -> Self {
        let (large, small) = (self.re.abs().max(self.im.abs()), self.re.abs().min(self.im.abs()));
        let near_one = (0.5..=2.0).contains(&large) && self.modulus() < 2.0;
        let ln_modulus = if near_one {
            // ln|z| = ½ ln(1 + (|z|² - 1)), with the difference taken before rounding.
            0.5 * ((large - 1.0) * (large + 1.0) + small * small).ln_1p()
        } else {
            large.ln() + 0.5 * (small / large).powi(2).ln_1p()
        };
        Self::new(ln_modulus, self.im.atan2(self.re))
    }

    /// The square root with non-negative real part.
    pub(super) fn sqrt(self) -> Self {
        if self.is_zero() {
            return Self::default();
        }
        // Powers of four keep |z| + |re| inside the range of f64; their roots are exact.
        let large = self.re.abs().max(self.im.abs());
        let (scale, back) = if large < 1e-290 { (2f64.powi(200), 2f64.powi(-100)) } else { (0.0625, 4.0) };
        let (re, im) = (self.re * scale, self.im * scale);
        let root = re.abs().midpoint(re.hypot(im)).sqrt();
        let other = im.abs() / (2.0 * root);
        let (re, size) = if re >= 0.0 { (root, other) } else { (other, root) };
        Self::new(re, size.copysign(im)).scaled(back)
    }

    pub(super) fn sin(self) -> Self {
        let (sin, cos) = self.re.sin_cos();
        Self::new(sin * self.im.cosh(), cos * self.im.sinh())
    }

    pub(super) fn cos(self) -> Self {
        let (sin, cos) = self.re.sin_cos();
        Self::new(cos * self.im.cosh(), -sin * self.im.sinh())
    }

    /// With t = tan re, s = sinh im: (t + i (1 + t²) s √(1 + s²)) / (1 + (1 + t²) s²) (Kahan 1987).
    pub(super) fn tan(self) -> Self {
        if self.im.abs() > 20.0 {
            let (sin, cos) = self.re.sin_cos();
            return Self::new(4.0 * sin * cos * (-2.0 * self.im.abs()).exp(), 1f64.copysign(self.im));
        }
        let (t, s) = (self.re.tan(), self.im.sinh());
        let secant = 1.0 + t * t;
        let below = 1.0 + secant * s * s;
        Self::new(t / below, secant * s * self.im.cosh() / below)
    }

    /// z^e for a z that is not 0.
    pub(super) fn pow(self, exponent: f64) -> Self {
        // Up to this exponent repeated products are more accurate.
        if exponent.fract() != 0.0 || exponent.abs() > 64.0 {
            return self.ln().scaled(exponent).exp();
        }
        let base = if exponent < 0.0 { Self::new(1.0, 0.0) / self } else { self };
        (0..exponent.abs() as u32).fold(Self::new(1.0, 0.0), |power, _| power * base)
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

impl Div for Complex {
    type Output = Self;

    /// Smith (1962): divides by the larger part of the divisor first, so its square is never formed.
    fn div(self, other: Self) -> Self {
        if other.re.abs() >= other.im.abs() {
            let ratio = other.im / other.re;
            let below = other.re + other.im * ratio;
            Self::new((self.re + self.im * ratio) / below, (self.im - self.re * ratio) / below)
        } else {
            let ratio = other.re / other.im;
            let below = other.re * ratio + other.im;
            Self::new((self.re * ratio + self.im) / below, (self.im * ratio - self.re) / below)
        }
    }
}
