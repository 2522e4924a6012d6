//! Faddeeva's function, the complex error function behind the Voigt profile.

use std::f64::consts::{FRAC_1_PI, PI};

use super::{INVERSE_ROOT_PI, exp_minus_square, nearest};

/// e^(-(j / 4)²), the first halved.
const GAUSS: [f64; 27] = [
    0.5,
    0.9394130628134758,
    0.7788007830714049,
    0.569782824730923,
    0.36787944117144233,
    0.2096113871510978,
    0.10539922456186433,
    0.04677062238395898,
    0.01831563888873418,
    0.006329715427485747,
    0.0019304541362277093,
    0.0005195746821548384,
    0.00012340980408667956,
    2.586810022265412e-05,
    4.785117392129009e-06,
    7.811489408304491e-07,
    1.1253517471925912e-07,
    1.4307241918567688e-08,
    1.6052280551856116e-09,
    1.5893910094516368e-10,
    1.3887943864964021e-11,
    1.0709232382508077e-12,
    7.287724095819692e-14,
    4.37661850287085e-15,
    2.3195228302435696e-16,
    1.0848552640429378e-17,
    4.4777324417183015e-19,
];

/// Faddeeva's w(z) = e^(-z²) erfc(-iz) at z = x + iy, real and imaginary part. For y < 0 it is 2 e^(-z²) - w(-z), infinite where e^(-z²) is
/// and with an error relative to the larger of the two. NaN where x or y is infinite.
pub fn faddeeva(x: f64, y: f64) -> (f64, f64) {
    if y >= 0.0 || y.is_nan() {
        return faddeeva_above(x, y);
    }
    let (re, im) = faddeeva_above(-x, -y);
    let (size, angle) = (2.0 * f64::exp((y - x) * (y + x)), 2.0 * x * y);
    (size * f64::cos(angle) - re, -size * f64::sin(angle) - im)
}

/// For y >= 0, by the trapezoidal rule of step 1/2 on i/π ∫ e^(-t²) / (z - t) dt, less the residue of its pole. The nodes t are the multiples of
/// the step or the points between them, whichever keep away from x. M. Al Azah and S. N. Chandler-Wilde, Computation of the complex error
/// function using modified trapezoidal rules, SIAM J. Numer. Anal. 59 (2021). Terms of ±t are taken together, so both parts keep relative accuracy.
fn faddeeva_above(x: f64, y: f64) -> (f64, f64) {
    let size = if x.abs() > y { x.abs() } else { y };
    if size > 1e8 {
        // Laplace's continued fraction to its first term, i / (√π z).
        let (a, b) = (x / size, y / size);
        let scale = INVERSE_ROOT_PI / (a * a + b * b) / size;
        return (scale * b, scale * a);
    }
    let offset = x - 0.5 * nearest(2.0 * x);
    let is_between = offset.abs() <= 0.125;
    let (mut re, mut im) = (0.0, 0.0);
    for j in (usize::from(is_between)..GAUSS.len()).step_by(2) {
        let t = 0.25 * j as f64;
        let (below, above) = (x - t, x + t);
        let scale = GAUSS[j] / ((below * below + y * y) * (above * above + y * y));
        re += scale * (x * x + y * y + t * t);
        im += scale * (below * above + y * y);
    }
    let sum = (FRAC_1_PI * y * re, FRAC_1_PI * x * im);
    if y >= 2.0 * PI {
        return sum;
    }
    let centre = if is_between {
        offset
    } else if offset > 0.0 {
        offset - 0.25
    } else {
        offset + 0.25
    };
    let pole = faddeeva_pole(x, y, 4.0 * PI * centre);
    (sum.0 + pole.0, sum.1 + pole.1)
}

/// 2 e^(-z²) / (1 + e^(4πy - i angle)).
fn faddeeva_pole(x: f64, y: f64, angle: f64) -> (f64, f64) {
    let q = f64::exp(-4.0 * PI * y);
    let size = 2.0 * exp_minus_square(x) * f64::exp(y * (y - 4.0 * PI)) / (1.0 + q * (2.0 * f64::cos(angle) + q));
    let phase = 2.0 * x * y;
    (size * (f64::cos(angle - phase) + q * f64::cos(phase)), size * (f64::sin(angle - phase) - q * f64::sin(phase)))
}
