//! The gamma function, its logarithm and the derivatives of the logarithm.

use std::f64::consts::PI;

use super::{horner, nearest, ratio};

/// 1 / Γ(1 + t) for |t| <= 1/2: Abramowitz and Stegun 6.1.34.
const INVERSE_GAMMA: [f64; 19] = [
    1.0434267116911005e-10,
    -1.18127457048702e-09,
    5.002007644469223e-09,
    6.116095104481416e-09,
    -2.056338416977607e-07,
    1.133027231981696e-06,
    -1.2504934821426706e-06,
    -2.013485478078824e-05,
    0.0001280502823881162,
    -0.00021524167411495098,
    -0.0011651675918590652,
    0.0072189432466631,
    -0.009621971527876973,
    -0.04219773455554433,
    0.16653861138229148,
    -0.04200263503409524,
    -0.6558780715202539,
    0.5772156649015329,
    1.0,
];

/// Γ(x): infinite above 171.63, 0 below -190, NaN at 0 and the negative integers. The recurrence from x to within 1/2 of 1 has at most 190 steps.
pub fn gamma(x: f64) -> f64 {
    if x <= 0.0 && x == x.floor() {
        return f64::NAN;
    }
    if x > 172.0 {
        return f64::INFINITY;
    }
    if x < -190.0 {
        return 0.0;
    }
    let whole = nearest(x);
    let t = x - whole;
    let mut value = 1.0 / horner(t, &INVERSE_GAMMA);
    for k in 1..whole as i32 {
        value *= t + f64::from(k);
    }
    for k in (whole as i32..1).rev() {
        value /= t + f64::from(k);
    }
    value
}

/// ln Γ(2 + t) / t for t in [-1/2, 1], fitted to 2e-18 with mpmath.
const LGAMMA: [&[f64]; 2] = [
    &[
        3.9894107578469633e-07,
        0.00017204597121754566,
        0.005750327463279265,
        0.06510694115726288,
        0.33277643481169594,
        0.8340994179789424,
        0.9836355789777873,
        0.42278433509846713,
    ],
    &[
        4.454594166773203e-05,
        0.0023608043543869774,
        0.03824953882391951,
        0.2710565294419516,
        0.9394003119968474,
        1.5638435265102406,
        1.0,
    ],
];

/// B(2k) / (2k)!, Bernoulli's numbers, for k = 1, 2, …
const BERNOULLI: [f64; 13] = [
    0.08333333333333333,
    -0.001388888888888889,
    3.306878306878307e-05,
    -8.267195767195768e-07,
    2.08767569878681e-08,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
    5.5090028283602295e-18,
    -1.3954464685812522e-19,
    3.534707039629467e-21,
];

/// ln |Γ(x)|, infinite at the poles 0, -1, … Near its zeros below -2 the error is absolute, not relative.
pub fn lgamma(x: f64) -> f64 {
    if x <= 0.0 && x == x.floor() {
        return f64::INFINITY;
    }
    if x < -0.5 {
        let turn = (PI * (x - nearest(x))).sin();
        return f64::ln(PI / (x * turn).abs()) - lgamma(-x);
    }
    let near = |t: f64| t * ratio(t, LGAMMA);
    if x < 0.5 {
        return near(x) - f64::ln((x * (1.0 + x)).abs());
    }
    if x < 1.5 {
        return near(x - 1.0) - f64::ln(x);
    }
    if x > 12.0 {
        return stirling(x);
    }
    let (mut t, mut product) = (x - 2.0, 1.0);
    while t > 1.0 {
        product *= t + 1.0;
        t -= 1.0;
    }
    near(t) + f64::ln(product)
}

/// Stirling's series for ln Γ(x): its terms are B(2k) / (2k (2k - 1) x^(2k - 1)).
fn stirling(x: f64) -> f64 {
    let half_ln_two_pi = 0.918_938_533_204_672_7;
    let s = 1.0 / (x * x);
    let (mut sum, mut term) = (0.0, 1.0 / x);
    for (k, b) in (1..).zip(&BERNOULLI[..9]) {
        sum += b * term;
        term *= s * f64::from(2 * k * (2 * k - 1));
    }
    (x - 0.5) * (f64::ln(x) - 1.0) + (half_ln_two_pi - 0.5 + sum)
}

/// The positive zero of digamma, in two parts, and the Taylor coefficients there.
const DIGAMMA_ZERO: [f64; 2] = [1.4616321449683622, 9.549995429965697e-17];
const DIGAMMA_NEAR_ZERO: [f64; 7] = [
    -0.07219956125645471,
    0.10782405069126237,
    -0.16394270544240652,
    0.258499760955651,
    -0.4427631689835921,
    0.9676722454476212,
    0.0,
];

/// The derivative of order n of digamma, which is n = 0; NaN at 0, at the negative integers and for n above 170, whose factorial overflows. For x < 0 the recurrence
/// ψ(x + 1) = ψ(x) + (-1)^n n! / x^(n + 1) is summed in closed form, so -1e15 costs as much as -1. Near the zeros there the error is absolute.
pub fn polygamma(n: u32, x: f64) -> f64 {
    let sign = if n.is_multiple_of(2) { -1.0 } else { 1.0 };
    if n > 170 {
        return f64::NAN;
    }
    if n == 0 && (x - DIGAMMA_ZERO[0]).abs() < 0.01 {
        return horner(x - DIGAMMA_ZERO[0] - DIGAMMA_ZERO[1], &DIGAMMA_NEAR_ZERO);
    }
    if x > 0.0 {
        return sign * zeta_sum(n, x);
    }
    if x == x.floor() {
        return f64::NAN;
    }
    let to_next = -(-x).floor() - x;
    zeta_sum(n, to_next) - zeta_sum(n, 1.0 - x) + sign * zeta_sum(n, x - x.floor())
}

/// Σ n! / (x + k)^(n + 1) over k >= 0 for x > 0, less its infinity for n = 0: the first terms, then Euler and Maclaurin's series.
fn zeta_sum(n: u32, x: f64) -> f64 {
    let steps = (f64::from(n) + 13.0 - x.floor()) as u32;
    let far = x + f64::from(steps);
    let first = pole(n, far);
    let mut term = first * f64::from(n + 1) / far;
    let mut rest = 0.5 * first;
    for (k, b) in (1..).zip(BERNOULLI) {
        rest += b * term;
        term *= f64::from(n + 2 * k) / far * (f64::from(n + 2 * k + 1) / far);
    }
    let integral = if n == 0 { -f64::ln(far) } else { pole(n - 1, far) };
    (0..steps).rev().fold(integral + rest, |sum, k| sum + pole(n, x + f64::from(k)))
}

/// n! / x^(n + 1).
fn pole(n: u32, x: f64) -> f64 {
    (1..=n).fold(1.0 / x, |product, k| product * (f64::from(k) / x))
}
