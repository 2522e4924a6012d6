//! Elementary functions in f64 without branches, so that the compiler vectorises loops over them. Approximations from fdlibm (Sun Microsystems) and,
//! for sines, Cephes (S. Moshier). exp within 1 and ln within 2 units in the last place; sines within 2.3e-16.
//! There is no fused multiply-add, so that every instruction set gives the same bits.
#![allow(clippy::inline_always, reason = "must land inside the loop that is compiled for an instruction set")]

use super::widened;
use crate::host;

/// 1.5 * 2^52: adding it rounds to an integer, which is then in the low mantissa bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts, the first with so few bits that its product with an exponent is exact.
const LN2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// Beyond, the exponential is infinite or 0.
const EXP_LIMIT: f64 = 800.0;
/// pi/2 in three parts, of which the first two have 25 bits.
const HALF_PI: [f64; 3] = [1.570_796_251_296_997, 7.549_789_415_861_596e-8, 5.390_302_858_158_119e-15];
/// The largest angle that `HALF_PI` reduces accurately.
const ANGLE_LIMIT: f64 = 1e7;

/// e^x.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let above = if x > EXP_LIMIT { EXP_LIMIT } else { x };
    // A NaN stays.
    let x = if above < -EXP_LIMIT { -EXP_LIMIT } else { above };
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let (high, low) = (x - whole * LN2[0], whole * LN2[1]);
    let r = high - low;
    let square = r * r;
    let tail = 6.613_756_321_437_934e-5 + square * (-1.653_390_220_546_525_2e-6 + square * 4.138_136_797_057_238_5e-8);
    let c = r - square * (1.666_666_666_666_660_2e-1 + square * (-2.777_777_777_701_559_3e-3 + square * tail));
    let value = 1.0 - ((low - r * c / (2.0 - c)) - high);
    // Two factors, since the power may be subnormal or beyond the range; the magic number keeps the integer in the low bits.
    let exponent = (shifted.to_bits() << 32) as i64 >> 32;
    let half = exponent >> 1;
    value * power_of_two(half) * power_of_two(exponent - half)
}

/// 2^exponent for an exponent within that of normal numbers.
#[inline(always)]
fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) << 52) as u64)
}

/// The natural logarithm.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    const SUBNORMAL: f64 = 18_014_398_509_481_984.0;
    let is_small = x < f64::MIN_POSITIVE;
    let scaled = if is_small { x * SUBNORMAL } else { x };
    // The mantissa between √½ and √2.
    let bits = scaled.to_bits();
    let offset = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let exponent = (offset as i64) >> 52;
    let mantissa = f64::from_bits(bits.wrapping_sub((exponent as u64) << 52));
    // The exponent as a float, without a conversion of 64-bit integers, which older processors lack.
    let high = f64::from_bits((exponent as u64).wrapping_add(ROUND.to_bits())) - ROUND;
    let high = if is_small { high - 54.0 } else { high };
    let f = mantissa - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (3.999_999_999_940_941_9e-1 + w * (2.222_219_843_214_978_4e-1 + w * 1.531_383_769_920_937_3e-1));
    let odd = z
        * (6.666_666_666_666_735e-1
            + w * (2.857_142_874_366_239e-1 + w * (1.818_357_216_161_805e-1 + w * 1.479_819_860_511_658_6e-1)));
    let half_square = 0.5 * f * f;
    let value = high * LN2[0] - ((half_square - (s * (half_square + even + odd) + high * LN2[1])) - f);
    let value = if x == f64::INFINITY { x } else { value };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    if x >= 0.0 { value } else { f64::NAN }
}

/// out = sin(x).
pub(crate) fn sin(arguments: &[&[f64]], out: &mut [f64]) {
    turned(arguments[0], out, 0, host::sin);
}

/// out = cos(x).
pub(crate) fn cos(arguments: &[&[f64]], out: &mut [f64]) {
    turned(arguments[0], out, 1, host::cos);
}

/// The sine of x + quarters · π/2; `exact` for angles that are too large for the reduction.
fn turned(x: &[f64], out: &mut [f64], quarters: u64, exact: fn(f64) -> f64) {
    let x = &x[..out.len()];
    let is_large = widened(|| {
        for (out, x) in out.iter_mut().zip(x) {
            *out = sine(*x, quarters);
        }
        x.iter().any(|x| x.abs() > ANGLE_LIMIT)
    });
    if is_large {
        let large = x.iter().zip(out).filter(|(x, _)| x.abs() > ANGLE_LIMIT);
        large.for_each(|(x, out)| *out = exact(*x));
    }
}

#[inline(always)]
fn sine(x: f64, quarters: u64) -> f64 {
    let shifted = x * std::f64::consts::FRAC_2_PI + ROUND;
    let whole = shifted - ROUND;
    let quadrant = shifted.to_bits().wrapping_add(quarters);
    let r = ((x - whole * HALF_PI[0]) - whole * HALF_PI[1]) - whole * HALF_PI[2];
    let z = r * r;
    let sine = r + r
        * z
        * (((((1.589_623_015_765_465_7e-10 * z - 2.505_074_776_285_780_7e-8) * z + 2.755_731_362_138_572_5e-6) * z
            - 1.984_126_982_958_954e-4)
            * z
            + 8.333_333_333_322_119e-3)
            * z
            - 1.666_666_666_666_663e-1);
    let cosine = 1.0 - 0.5 * z
        + z * z
            * (((((-1.135_853_652_138_768_2e-11 * z + 2.087_570_084_197_473e-9) * z - 2.755_731_417_929_674e-7) * z
                + 2.480_158_728_885_170_4e-5)
                * z
                - 1.388_888_888_887_305_6e-3)
                * z
                + 4.166_666_666_666_659e-2);
    let value = if quadrant & 1 == 0 { sine } else { cosine };
    f64::from_bits(value.to_bits() ^ ((quadrant & 2) << 62))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error in units in the last place, over numbers of both signs and many sizes.
    fn worst(own: impl Fn(f64) -> f64, exact: impl Fn(f64) -> f64, numbers: impl Iterator<Item = f64>) -> f64 {
        let ulps = |x: f64| {
            let (own, exact) = (own(x), exact(x));
            if own == exact || own.is_nan() && exact.is_nan() {
                return 0.0;
            }
            let ulp = exact.abs().next_up() - exact.abs();
            (own - exact).abs() / ulp
        };
        numbers.map(ulps).fold(0.0, f64::max)
    }

    fn grid(low: f64, high: f64) -> impl Iterator<Item = f64> {
        (0..100_000).map(move |at| low + (high - low) * f64::from(at) / 99_999.0)
    }

    #[test]
    fn errors_are_within_the_bounds() {
        assert!(worst(exp, f64::exp, grid(-708.0, 709.7)) <= 1.0);
        assert!(worst(exp, f64::exp, grid(-745.0, -708.0)) <= 2.0);
        assert!(worst(exp, f64::exp, grid(-1.0, 1.0)) <= 1.0);
        assert!(worst(ln, f64::ln, grid(1e-9, 10.0)) <= 2.0);
        assert!(worst(ln, f64::ln, grid(-700.0, 700.0).map(f64::exp)) <= 2.0);
        for (quarters, exact) in [(0, f64::sin as fn(f64) -> f64), (1, f64::cos)] {
            for (low, high) in [(-3.0, 3.0), (-1000.0, 1000.0), (-9.9e6, 9.9e6)] {
                let apart = grid(low, high).map(|x| (sine(x, quarters) - exact(x)).abs()).fold(0.0, f64::max);
                assert!(apart <= 2.3e-16, "{low} to {high}: {apart:e}");
            }
        }
    }

    #[test]
    fn special_values_are_kept() {
        for x in [
            0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -1.0,
            5e-324,
            1e-310,
            f64::MAX,
            1000.0,
            -1000.0,
            710.0,
            -745.2,
        ] {
            assert!(worst(exp, f64::exp, [x].into_iter()) <= 2.0, "exp {x}: {}", exp(x));
            assert!(worst(ln, f64::ln, [x].into_iter()) <= 2.0, "ln {x}: {}", ln(x));
        }
        let mut out = [0.0; 4];
        sin(&[&[1e9, f64::INFINITY, f64::NAN, 0.0]], &mut out);
        assert_eq!(out[0], 1e9_f64.sin());
        assert!(out[1].is_nan() && out[2].is_nan() && out[3] == 0.0);
    }
}
