//! Cases of `rational` and its gradient: shared and per-channel coefficients, both bases, safe and free denominators, poles and
//! values that are not finite. The oracle sums powers and cosines in f64.

use super::{Basis, Rational, dispatch};
use crate::device::{Case, Expected};
use crate::kernels::evidence::{Numbers, case, within, words};
use crate::kernels::rational_gradient::{self, partial_shape};

const FREE: Rational = Rational { numerator: 3, denominator: 2, basis: Basis::Monomial, is_safe: false, epsilon: 1e-6 };

fn forms() -> Vec<(&'static str, Rational, usize, usize)> {
    let chebyshev = Rational { basis: Basis::Chebyshev, ..FREE };
    vec![
        ("shared", FREE, 1, 1000),
        ("shared, one element", FREE, 1, 1),
        ("shared, many", FREE, 1, 40_001),
        ("chebyshev 6/6", Rational { numerator: 6, denominator: 6, ..chebyshev }, 1, 700),
        ("per channel", FREE, 5, 35 * 5),
        ("per channel, wide", chebyshev, 200, 200 * 33),
        ("safe", Rational { is_safe: true, numerator: 5, denominator: 4, ..FREE }, 3, 300),
        ("a constant over a constant", Rational { numerator: 0, denominator: 0, ..FREE }, 1, 65),
    ]
}

struct Made {
    x: Vec<f32>,
    p: Vec<f32>,
    q: Vec<f32>,
}

impl Made {
    fn coefficients(&self) -> Vec<f32> {
        [&self.p[..], &self.q].concat()
    }
}

fn made(form: &Rational, channels: usize, count: usize) -> Made {
    let mut numbers = Numbers::new(count as u64);
    let mut x: Vec<f32> = numbers.floats(count).iter().map(|x| 1.5 * x).collect();
    for (at, special) in [0.0, f32::NAN, f32::INFINITY, 3e38, -3e38, 1e-45, 0.5].into_iter().enumerate() {
        // A device may flush subnormals, and the slope of a safe denominator has no sign at 0.
        if count > 40 && !(form.is_safe && special != 0.0 && special.abs() < f32::MIN_POSITIVE) {
            x[5 * at + 1] = special;
        }
    }
    let p = numbers.floats((form.numerator + 1) * channels);
    let mut q = numbers.floats((form.denominator + 1) * channels);
    // A pole at exactly 1/2 in the first channel of a free quadratic: 1 - 2x.
    if !form.is_safe && form.denominator >= 2 && form.basis == Basis::Monomial {
        for (k, value) in [1.0, -2.0, 0.0].into_iter().enumerate() {
            q[k * channels] = value;
        }
    }
    Made { x, p, q }
}

/// φ_k and its derivative.
fn basis(basis: Basis, k: usize, x: f64) -> [f64; 2] {
    let (mut now, mut slope, mut before, mut before_slope) = (1.0, 0.0, 0.0, 0.0);
    for step in 0..k {
        let doubled = if step > 0 && basis == Basis::Chebyshev { 2.0 } else { 1.0 };
        let (next, next_slope) = (doubled * x * now, doubled * (now + x * slope));
        let lowers = f64::from(u8::from(doubled == 2.0));
        (before, before_slope, now, slope) = (now, slope, next - lowers * before, next_slope - lowers * before_slope);
    }
    [now, slope]
}

/// [P, P', Q, Q', the sign of a safe denominator's slope] in f64.
fn polynomials(form: &Rational, made: &Made, channels: usize, at: usize) -> [f64; 5] {
    let (x, c) = (f64::from(made.x[at]), at % channels);
    let sum = |w: &[f32], degrees: std::ops::RangeInclusive<usize>, part: usize| -> f64 {
        degrees.map(|k| f64::from(w[k * channels + c]) * basis(form.basis, k, x)[part]).sum()
    };
    let first = usize::from(form.is_safe);
    let [p, dp] = [0, 1].map(|part| sum(&made.p, 0..=form.numerator, part));
    let [q, dq] = [0, 1].map(|part| sum(&made.q, first..=form.denominator, part));
    let sign = if q == 0.0 { 0.0 } else { q.signum() };
    if form.is_safe { [p, dp, 1.0 + q.abs(), dq * sign, sign] } else { [p, dp, q, dq, 1.0] }
}

fn is_bottom(form: &Rational, made: &Made, channels: usize, at: usize) -> bool {
    let [p, _, q, _, _] = polynomials(form, made, channels, at);
    let largest = f64::from(f32::MAX);
    let sizes = [p.abs(), q.abs(), (p / q).abs(), (p / q / q).abs(), f64::from(made.x[at].abs())];
    !(sizes.iter().all(|size| *size <= largest) && q.abs() > f64::from(form.epsilon))
}

/// The cases of `rational`.
pub fn cases() -> Vec<Case> {
    forms().into_iter().map(|(name, form, channels, count)| forward(name, &form, channels, count)).collect()
}

/// The cases of `rational_gradient`.
pub fn cases_of_gradient() -> Vec<Case> {
    forms().into_iter().map(|(name, form, channels, count)| gradient(name, &form, channels, count)).collect()
}

fn bits(form: &Rational, made: &Made, channels: usize, count: usize) -> Vec<u32> {
    let mut words = vec![0; count.div_ceil(32)];
    for at in 0..count {
        words[at / 32] |= u32::from(is_bottom(form, made, channels, at)) << (at % 32);
    }
    words
}

fn forward(name: &str, form: &Rational, channels: usize, count: usize) -> Case {
    let made = steady(form, channels, count);
    let value = |at: usize| {
        let [p, _, q, _, _] = polynomials(form, &made, channels, at);
        if is_bottom(form, &made, channels, at) { 0.0 } else { p / q }
    };
    let expected =
        vec![Expected::Floats((0..count).map(value).collect()), Expected::Words(bits(form, &made, channels, count))];
    let inputs = vec![words(&made.x), words(&made.coefficients())];
    case(name, within(3e-5, 3e-6), inputs, expected, |inputs, out| {
        let [x, w] = [0, 1].map(|at| inputs[at].clone());
        dispatch(form, channels, [x, w], [out[0].clone(), out[1].clone()])
    })
}

/// Replaces elements whose denominator cancels: what remains of it is rounding error, which differs between devices.
fn steady(form: &Rational, channels: usize, count: usize) -> Made {
    let mut made = made(form, channels, count);
    for at in 0..count {
        let [_, _, q, _, _] = polynomials(form, &made, channels, at);
        let is_exact = q == 0.0;
        if !is_exact && q.abs() < 0.1 {
            made.x[at] = 0.0;
            let [_, _, q, _, _] = polynomials(form, &made, channels, at);
            if q.abs() < 0.05 {
                made.x[at] = f32::NAN;
            }
        }
    }
    made
}

fn gradient(name: &str, form: &Rational, channels: usize, count: usize) -> Case {
    let made = steady(form, channels, count);
    let g = Numbers::new(77).floats(count);
    let bottom = bits(form, &made, channels, count);
    let [parts, coefficients, columns] = partial_shape(form, count, channels);
    let rows = count.div_ceil(columns).div_ceil(parts);
    let rows = super::rows_per_part(count.div_ceil(columns)).max(rows.min(1));
    let mut sums = vec![0.0; parts * coefficients * columns];
    let mut dx = vec![0.0; count];
    let kept = |value: f64| if value.abs() <= f64::from(f32::MAX) { value } else { 0.0 };
    for at in 0..count {
        if bottom[at / 32] >> (at % 32) & 1 == 1 {
            continue;
        }
        let [p, dp, q, dq, sign] = polynomials(form, &made, channels, at);
        let share = f64::from(g[at]) / q;
        dx[at] = kept(share * (dp - p / q * dq));
        let part = at / columns / rows;
        let mut add = |k: usize, value: f64| sums[(part * coefficients + k) * columns + at % columns] += kept(value);
        for k in 0..=form.numerator {
            add(k, share * basis(form.basis, k, f64::from(made.x[at]))[0]);
        }
        for k in usize::from(form.is_safe)..=form.denominator {
            let term = -share * p / q * sign * basis(form.basis, k, f64::from(made.x[at]))[0];
            add(form.numerator + 1 + k, term);
        }
    }
    let expected = vec![Expected::Floats(dx), Expected::Floats(sums)];
    let inputs = vec![words(&made.x), words(&made.coefficients()), bottom, words(&g)];
    case(name, within(1e-4, 2e-3), inputs, expected, |inputs, out| {
        let inputs = [0, 1, 2, 3].map(|at| inputs[at].clone());
        rational_gradient::dispatch(form, channels, inputs, [out[0].clone(), out[1].clone()])
    })
}
