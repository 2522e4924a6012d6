//! Masked complex numbers on a device: [`Scm`](crate::Scm)'s operations over tensors of two parts under one mask. An operation is ⊥ where an
//! operand is, where it is undefined (a zero divisor, the logarithm of 0) and where a part of its result is not a float. On a branch cut
//! it takes the value of the side with positive imaginary parts: the sign of 0 is never used, since devices differ in it.

use std::ops::{Add, Mul, Neg, Sub};

use meromorph::autograd::Var;
use meromorph::program::Expr;
use meromorph::program::expr::{
    abs, and, atan2, clamp, cos, cosh, eq, exp, ge, gt, hypot, ln, log1p, lt, max, min, select, sin, sinh, sqrt, tan,
};
use meromorph::scm::{Masked, fused};

/// re + i·im for each element; elements may be ⊥, and then both parts are 0.
#[derive(Clone)]
pub struct ComplexTensor {
    re: Masked,
    /// Under the mask of `re`.
    im: Var,
}

impl ComplexTensor {
    /// From the parts, broadcast; ⊥ where either is.
    #[track_caller]
    pub fn new(re: &Masked, im: &Masked) -> Self {
        Self { re: fused(&[re, im], |v| both(v[0], v[1])), im: fused(&[im, re], |v| both(v[0], v[1])).value().clone() }
    }

    /// The real parts.
    pub fn re(&self) -> &Masked {
        &self.re
    }

    /// The imaginary parts.
    pub fn im(&self) -> Masked {
        self.re.with_value(&self.im)
    }

    /// Sums.
    #[must_use]
    #[track_caller]
    pub fn add(&self, other: &Self) -> Self {
        made(&[self, other], |z| z[0] + z[1])
    }

    /// Differences.
    #[must_use]
    #[track_caller]
    pub fn sub(&self, other: &Self) -> Self {
        made(&[self, other], |z| z[0] - z[1])
    }

    /// Products; ⊥ also where a product of two parts is not a float.
    #[must_use]
    #[track_caller]
    pub fn mul(&self, other: &Self) -> Self {
        made(&[self, other], |z| z[0] * z[1])
    }

    /// Quotients; ⊥ at a divisor of 0.
    #[must_use]
    #[track_caller]
    pub fn div(&self, other: &Self) -> Self {
        made(&[self, other], |z| z[0].over(z[1]))
    }

    /// -z.
    #[must_use]
    pub fn neg(&self) -> Self {
        made(&[self], |z| -z[0])
    }

    /// 1/z; ⊥ at 0.
    #[must_use]
    pub fn inv(&self) -> Self {
        made(&[self], |z| Z::real(1.0).over(z[0]))
    }

    /// z^e, the principal power; z⁰ = 1. ⊥ at 0 with e < 0, and everywhere for an e that is not finite.
    #[must_use]
    pub fn pow(&self, exponent: f32) -> Self {
        made(&[self], |z| z[0].pow(exponent))
    }

    /// The principal logarithm; ⊥ at 0.
    #[must_use]
    pub fn ln(&self) -> Self {
        made(&[self], |z| z[0].ln())
    }

    /// e^z.
    #[must_use]
    pub fn exp(&self) -> Self {
        made(&[self], |z| z[0].exp())
    }

    /// The square root with non-negative real part.
    #[must_use]
    pub fn sqrt(&self) -> Self {
        made(&[self], |z| z[0].sqrt())
    }

    /// The sine.
    #[must_use]
    pub fn sin(&self) -> Self {
        made(&[self], |z| {
            let (cosh, sinh) = hyperbolic(z[0].im);
            Z { re: cosh(sin(z[0].re)), im: sinh(cos(z[0].re)) }
        })
    }

    /// The cosine.
    #[must_use]
    pub fn cos(&self) -> Self {
        made(&[self], |z| {
            let (cosh, sinh) = hyperbolic(z[0].im);
            Z { re: cosh(cos(z[0].re)), im: -sinh(sin(z[0].re)) }
        })
    }

    /// The tangent.
    #[must_use]
    pub fn tan(&self) -> Self {
        made(&[self], |z| z[0].tan())
    }

    /// |z|.
    pub fn modulus(&self) -> Masked {
        fused(&[&self.re, &Masked::from(&self.im)], |v| hypot(v[0], v[1]))
    }

    /// The angle of z in (-π, π]; 0 at 0.
    pub fn argument(&self) -> Masked {
        fused(&[&self.re, &Masked::from(&self.im)], |v| Z { re: v[0], im: v[1] }.angle())
    }
}

/// Runs an operation: one launch for each part of the result; each reads both parts of the operands.
#[track_caller]
fn made(operands: &[&ComplexTensor], body: impl Fn(&[Z]) -> Z) -> ComplexTensor {
    let parts: Vec<Masked> = operands.iter().flat_map(|z| [z.re.clone(), Masked::from(&z.im)]).collect();
    let inputs: Vec<&Masked> = parts.iter().collect();
    let of = |v: &[Expr]| body(&v.chunks(2).map(|z| Z { re: z[0], im: z[1] }).collect::<Vec<_>>());
    let part = |choose: fn(Z) -> Expr| fused(&inputs, |v| choose(of(v)));
    ComplexTensor { re: part(|z| both(z.re, z.im)), im: part(|z| both(z.im, z.re)).value().clone() }
}

/// A complex number inside a program.
#[derive(Clone, Copy)]
struct Z {
    re: Expr,
    im: Expr,
}

impl Z {
    fn real(value: f32) -> Self {
        Self { re: value.into(), im: 0.0.into() }
    }

    fn scaled(self, by: impl Into<Expr>) -> Self {
        let by = by.into();
        Self { re: self.re * by, im: self.im * by }
    }

    fn largest(self) -> Expr {
        max(abs(self.re), abs(self.im))
    }

    fn smallest(self) -> Expr {
        min(abs(self.re), abs(self.im))
    }

    /// Smith (1962): divides by the larger part of the divisor first. Large numbers are scaled down, so that no intermediate sum overflows.
    fn over(self, by: Self) -> Self {
        let is_large = gt(max(self.largest(), by.largest()), 1.0e38);
        let down = select(is_large, 0.25, 1.0);
        let (z, by) = (self.scaled(down), by.scaled(down));
        let is_real = ge(abs(by.re), abs(by.im));
        let ratio = select(is_real, by.im, by.re) / select(is_real, by.re, by.im);
        let below = select(is_real, by.re, by.im) + select(is_real, by.im, by.re) * ratio;
        let (first, second) = (select(is_real, z.re, z.im), select(is_real, z.im, z.re));
        let across = select(is_real, second - first * ratio, first * ratio - second);
        Self { re: (first + second * ratio) / below, im: across / below }
    }

    /// The argument; an imaginary part of 0 of either sign counts as positive.
    fn angle(self) -> Expr {
        let is_line = eq(self.im, 0.0);
        select(
            is_line,
            select(lt(self.re, 0.0), std::f32::consts::PI, 0.0),
            atan2(select(is_line, 1.0, self.im), self.re),
        )
    }

    fn ln(self) -> Self {
        let (large, small) = (self.largest(), self.smallest());
        // ln|z| = ½ ln(1 + (|z|² - 1)), with the difference taken before rounding; far from 1 it is computed from the larger part.
        let held = clamp(large, 0.5, 2.0);
        let near = 0.5 * log1p((held - 1.0) * (held + 1.0) + min(small, held) * min(small, held));
        let ratio = small / large;
        let far = ln(large) + 0.5 * log1p(ratio * ratio);
        Self { re: select(eq(held, large), near, far), im: self.angle() }
    }

    /// In two factors, so that it overflows only if the result is not a float.
    fn exp(self) -> Self {
        let half = exp(self.re * 0.5);
        Self { re: half * cos(self.im) * half, im: half * sin(self.im) * half }
    }

    fn sqrt(self) -> Self {
        // Powers of four keep |z| + |re| among normal floats; their roots are exact.
        let large = self.largest();
        let (is_large, is_small) = (gt(large, 1.0e30), lt(large, 1.0e-30));
        let power = |up: f32, down: f32| select(is_small, up, select(is_large, down, 1.0));
        let z = self.scaled(power(2_f32.powi(60), 2_f32.powi(-20)));
        let root = sqrt(0.5 * (abs(z.re) + hypot(z.re, z.im)));
        let other = 0.5 * (abs(z.im) / select(gt(root, 0.0), root, 1.0));
        let is_right = ge(z.re, 0.0);
        let size = select(is_right, other, root);
        let root = Self { re: select(is_right, root, other), im: select(lt(z.im, 0.0), -size, size) };
        root.scaled(power(2_f32.powi(-30), 2_f32.powi(10)))
    }

    /// With t = tan re, s = sinh im: (t + i (1 + t²) s √(1 + s²)) / (1 + (1 + t²) s²) (Kahan 1987); for large |im| it is ±i up to e^(-2|im|).
    fn tan(self) -> Self {
        let held = clamp(self.im, -20.0, 20.0);
        let (t, s) = (tan(self.re), sinh(held));
        let secant = 1.0 + t * t;
        let below = 1.0 + secant * s * s;
        let is_far = gt(abs(self.im), 20.0);
        let small = exp(-max(abs(self.im), 20.0));
        let tail = 4.0 * sin(self.re) * cos(self.re) * small * small;
        let side = select(lt(self.im, 0.0), -1.0, 1.0);
        Self { re: select(is_far, tail, t / below), im: select(is_far, side, secant * s * cosh(held) / below) }
    }

    fn pow(self, exponent: f32) -> Self {
        if !exponent.is_finite() {
            return self.over(Self::real(0.0));
        }
        let is_zero = and(eq(self.re, 0.0), eq(self.im, 0.0));
        // Up to this exponent repeated products are more accurate.
        if exponent.fract() == 0.0 && exponent.abs() <= 64.0 {
            let base = if exponent < 0.0 { Self::real(1.0).over(self) } else { self };
            return base.whole_power(exponent.abs() as u32);
        }
        if exponent < 0.0 {
            return self.ln().scaled(exponent).exp();
        }
        let safe = Self { re: select(is_zero, 1.0, self.re), im: self.im };
        let power = safe.ln().scaled(exponent).exp();
        Self { re: select(is_zero, 0.0, power.re), im: select(is_zero, 0.0, power.im) }
    }

    /// z^exponent by repeated squaring.
    fn whole_power(self, exponent: u32) -> Self {
        let one = Self { re: both(1.0.into(), self.re), im: both(0.0.into(), self.im) };
        let (mut power, mut square) = (None, self);
        for bit in 0..=exponent.checked_ilog2().unwrap_or(0) {
            if bit > 0 {
                square = square * square;
            }
            if exponent >> bit & 1 == 1 {
                power = Some(power.map_or(square, |power| power * square));
            }
        }
        power.unwrap_or(one)
    }
}

/// x ↦ x cosh y and x ↦ x sinh y, which overflow only if the product is not a float: beyond 60 both factors are ½ e^|y| to the last bit.
fn hyperbolic(y: Expr) -> (impl Fn(Expr) -> Expr, impl Fn(Expr) -> Expr) {
    let held = clamp(y, -60.0, 60.0);
    let rest = exp(abs(y) - abs(held));
    (move |x: Expr| x * cosh(held) * rest, move |x: Expr| x * sinh(held) * rest)
}

impl Add for Z {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Z {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Z {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

impl Neg for Z {
    type Output = Self;

    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}

/// x, and ⊥ where `other` is.
fn both(x: Expr, other: Expr) -> Expr {
    select(1.0, x, other)
}
