//! Bessel functions of the first kind.

use std::f64::consts::PI;

/// The Bessel function J of order 0; NaN at the infinities.
pub fn bessel_j0(x: f64) -> f64 {
    bessel(x.abs())[0]
}

/// The Bessel function J of order 1; NaN at the infinities.
pub fn bessel_j1(x: f64) -> f64 {
    let size = bessel(x.abs())[1];
    if x < 0.0 { -size } else { size }
}

/// J0 and J1 at x >= 0: two Taylor terms for small x, Miller's recurrence, or Hankel's series for large x.
fn bessel(x: f64) -> [f64; 2] {
    if x < 1e-4 {
        return [1.0 - 0.25 * x * x, 0.5 * x * (1.0 - 0.125 * x * x)];
    }
    if x < 25.0 { miller(x) } else { hankel(x) }
}

/// The recurrence J(k - 1) = 2k / x J(k) - J(k + 1) downwards from zero, scaled by J0 + 2 J2 + 2 J4 + … = 1.
fn miller(x: f64) -> [f64; 2] {
    let (mut next, mut this, mut sum) = (0.0, 1e-150, 0.0);
    for k in (1..=2 * (x / 2.0) as u32 + 30).rev() {
        if k % 2 == 0 {
            sum += 2.0 * this;
        }
        (next, this) = (this, 2.0 * f64::from(k) / x * this - next);
    }
    [this / (sum + this), next / (sum + this)]
}

/// Hankel's asymptotic series, Abramowitz and Stegun 9.2.5, with cos and sin of x - π/4 and x - 3π/4 by those of x.
fn hankel(x: f64) -> [f64; 2] {
    let (s, c) = x.sin_cos();
    let scale = 1.0 / (PI * x).sqrt();
    let [p, q] = hankel_sums(x, 0.0);
    let [p1, q1] = hankel_sums(x, 4.0);
    [scale * (p * (c + s) - q * (s - c)), scale * (p1 * (s - c) + q1 * (s + c))]
}

/// P and Q of the order ν with 4ν² = square.
fn hankel_sums(x: f64, square: f64) -> [f64; 2] {
    let (mut sums, mut term, mut k) = ([0.0, 0.0], 1.0, 0.0);
    while f64::abs(term) > 1e-18 && k < 30.0 {
        let sign = if k % 4.0 < 2.0 { 1.0 } else { -1.0 };
        sums[(k % 2.0) as usize] += sign * term;
        k += 1.0;
        let odd = 2.0 * k - 1.0;
        term *= (square - odd * odd) / (8.0 * k * x);
    }
    sums
}
