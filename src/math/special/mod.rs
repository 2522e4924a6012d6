//! Special functions of one f64: sinc, the error functions, gamma and its logarithmic derivatives, Faddeeva's function and two Bessel
//! functions. `shaders/common` has the f32 versions in `special.wgsl` and in files of these names. NaN propagates everywhere. Polynomials
//! list the highest power first.

mod bessel;
mod error;
mod faddeeva;
mod gamma;
#[cfg(test)]
mod golden;

pub use bessel::{bessel_j0, bessel_j1};
pub use error::{erf, erfc};
pub use faddeeva::faddeeva;
pub use gamma::{gamma, lgamma, polygamma};

/// 1 / √π.
const INVERSE_ROOT_PI: f64 = 0.564_189_583_547_756_3;

fn horner(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

fn ratio(x: f64, [over, under]: [&[f64]; 2]) -> f64 {
    horner(x, over) / horner(x, under)
}

/// The nearest integer; halves are rounded up.
fn nearest(x: f64) -> f64 {
    (x + 0.5).floor()
}

/// e^(-x²) for |x| <= 1e8: x² is split in two parts, the first exact, otherwise the tail would lose three digits.
fn exp_minus_square(x: f64) -> f64 {
    let x = x.abs();
    let near = (x * 16.0).floor() / 16.0;
    (-near * near).exp() * (-(x - near) * (x + near)).exp()
}

/// x.sin() / x, 1 at 0, NaN at the infinities.
pub fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.sin() / x }
}

/// The derivative of [`sinc`]: (cos x - sinc x) / x, below 1 its Taylor series, whose terms are (-1)^k 2k x^(2k - 1) / (2k + 1)!.
pub fn sinc_slope(x: f64) -> f64 {
    if x.abs() >= 1.0 {
        return (x.cos() - sinc(x)) / x;
    }
    let (mut sum, mut term) = (0.0, 2.0 * x);
    for k in 1..10 {
        let k = f64::from(k);
        term *= -1.0 / (2.0 * k * (2.0 * k + 1.0)) * if k > 1.0 { x * x } else { 1.0 };
        sum += k * term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::golden::GOLDEN;
    use super::*;

    fn value(name: &str, x: &[f64]) -> f64 {
        match name {
            "sinc" => sinc(x[0]),
            "sinc_slope" => sinc_slope(x[0]),
            "asin" => x[0].asin(),
            "acos" => x[0].acos(),
            "atan" => x[0].atan(),
            "erf" => erf(x[0]),
            "erfc" => erfc(x[0]),
            "gamma" => gamma(x[0]),
            "lgamma" => lgamma(x[0]),
            "polygamma" => polygamma(x[0] as u32, x[1]),
            "faddeeva_re" => faddeeva(x[0], x[1]).0,
            "faddeeva_im" => faddeeva(x[0], x[1]).1,
            "bessel_j0" => bessel_j0(x[0]),
            "bessel_j1" => bessel_j1(x[0]),
            other => panic!("unknown function {other}"),
        }
    }

    /// The bound on the relative error, and the size below which the error is absolute (near zeros).
    fn bound(name: &str, x: &[f64]) -> (f64, f64) {
        match name {
            "bessel_j0" | "bessel_j1" => (1e-14, 1.0),
            "sinc" => (1e-15, 0.01),
            "sinc_slope" => (3e-15, 0.01),
            "lgamma" | "polygamma" if x[x.len() - 1] < 0.0 => (1e-13, 0.1),
            "faddeeva_re" | "faddeeva_im" if x[1] < 0.0 => (1e-13, 1.0),
            _ => (1e-13, 1e-38),
        }
    }

    #[test]
    fn values_agree_with_mpmath() {
        let wrong = |(name, x, expected): &&(&str, &[f64], f64)| {
            let (relative, floor) = bound(name, x);
            let error = (value(name, x) - expected).abs() / expected.abs().max(floor);
            error.is_nan() || error > relative
        };
        let off: Vec<String> = GOLDEN
            .iter()
            .filter(wrong)
            .map(|(name, x, expected)| format!("{name}{x:?}: got {:e}, expected {expected:e}", value(name, x)))
            .collect();
        assert!(off.is_empty(), "\n{}", off.join("\n"));
    }

    #[test]
    fn poles_and_infinities_agree_with_c() {
        assert!([0.0, -1.0, -7.0].iter().all(|&x| gamma(x).is_nan() && polygamma(0, x).is_nan()));
        assert_eq!([gamma(5.0), gamma(172.0), lgamma(0.0)], [24.0, f64::INFINITY, f64::INFINITY]);
        assert_eq!([erfc(30.0), erfc(-30.0), sinc(0.0), sinc_slope(0.0)], [0.0, 2.0, 1.0, 0.0]);
        let through = [sinc, erf, erfc, gamma, lgamma, bessel_j0, bessel_j1].map(|f| f(f64::NAN).is_nan());
        assert_eq!(through, [true; 7]);
    }
}
