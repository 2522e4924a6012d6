//! The predicates of `shaders/common/total.wgsl` and `shaders/common/powers.wgsl` on the host, with equal names and results. They use IEEE
//! arithmetic where it decides; powers and hypotenuses near the largest float are decided in the same integers on both sides.

pub(crate) fn magnitude(x: f32) -> u32 {
    x.to_bits() & 0x7fff_ffff
}

pub(crate) fn is_nonzero(x: f32) -> bool {
    x != 0.0
}

pub(crate) fn is_below_zero(x: f32) -> bool {
    x < 0.0
}

pub(crate) fn is_above_zero(x: f32) -> bool {
    x > 0.0
}

pub(crate) fn abs(x: f32) -> f32 {
    x.abs()
}

pub(crate) fn floor(x: f32) -> f32 {
    x.floor()
}

pub(crate) fn sum_fits(a: f32, b: f32) -> bool {
    (a + b).is_finite()
}

pub(crate) fn product_fits(a: f32, b: f32) -> bool {
    (a * b).is_finite()
}

pub(crate) fn quotient_fits(a: f32, b: f32) -> bool {
    (a / b).is_finite()
}

/// 2^64.
const SCALE: f32 = 18_446_744_073_709_551_616.0;

pub(crate) fn ratio_fits(a: f32, b: f32) -> bool {
    a.abs() < b * b * SCALE * SCALE && b.is_finite()
}

pub(crate) fn power_exists(a: f32, b: f32) -> bool {
    (a != 0.0 || b >= 0.0) && (a >= 0.0 || b == b.floor())
}

/// A mantissa of 24 bits and its exponent; 0 for 0.
#[derive(Clone, Copy)]
struct Parts {
    mantissa: u32,
    exponent: i32,
}

fn parts(x: f32) -> Parts {
    let word = magnitude(x);
    if word >= 0x80_0000 {
        return Parts { mantissa: (word & 0x7f_ffff) | 0x80_0000, exponent: (word >> 23) as i32 - 150 };
    }
    let shift = word.leading_zeros().max(8) - 8;
    Parts { mantissa: word << shift, exponent: -149 - shift as i32 }
}

/// Whether |a|^b rounds to a float: b log2 |a| < 128 - 4.3e-8, decided by 62 bits of the logarithm where simple bounds are not enough.
pub(crate) fn power_fits(a: f32, b: f32) -> bool {
    let (x, y) = (parts(a), parts(b));
    let floor_log = x.exponent + 23;
    if x.mantissa == 0 || y.mantissa == 0 || (floor_log >= 0) == (b < 0.0) {
        return true;
    }
    let size = b.abs() / 1024.0;
    let small = (if floor_log >= 0 { floor_log } else { -floor_log - 1 }) as f32;
    if (small + 1.0) * size < 0.0625 {
        return true;
    }
    if small * size >= 0.25 {
        return false;
    }
    logarithm_fits(x.mantissa, floor_log, y)
}

/// Compares the product of the logarithm's leading 40 bits and b's 24 bits with 2^64 (128 - 4.3e-8) / 128.
fn logarithm_fits(mantissa: u32, floor_log: i32, y: Parts) -> bool {
    const LIMIT: u64 = 0xffff_fffe_8eab_8950;
    let fraction = logarithm_bits(mantissa);
    let (mut whole, mut rest) = (u64::from(floor_log.unsigned_abs()), fraction);
    if floor_log < 0 && fraction != 0 {
        whole -= 1;
        rest = (1 << 62) - fraction;
    }
    let (log, scale) = if whole > 0 { ((whole << 54) + (rest >> 8), 9) } else { (rest, 1) };
    if log == 0 {
        return true;
    }
    let zeros = log.leading_zeros();
    let value = ((log << zeros) >> 24) * u64::from(y.mantissa);
    let carry = (value >> 63) as i32;
    let exponent = scale - zeros as i32 + y.exponent + 23 + carry;
    exponent < 6 || (exponent == 6 && (value << (1 - carry)) < LIMIT)
}

/// log2 of mantissa / 2^23, 62 bits: the carries of repeated squaring.
fn logarithm_bits(mantissa: u32) -> u64 {
    let mut z = u64::from(mantissa) << 40;
    let mut bits = 0;
    for _ in 0..62 {
        let (high, low) = (z >> 32, z & 0xffff_ffff);
        z = high * high + ((high * low) >> 31);
        let carry = z >> 63;
        z <<= 1 - carry;
        bits = bits << 1 | carry;
    }
    bits
}

/// Whether a² + b² is below (2^128 - 2^103)², in units of a quarter of the larger one's last place squared.
pub(crate) fn hypotenuse_fits(a: f32, b: f32) -> bool {
    let (x, y) = (parts(a.abs().max(b.abs())), parts(a.abs().min(b.abs())));
    if x.exponent < 104 {
        return true;
    }
    let square = |p: Parts| u64::from(p.mantissa) * u64::from(p.mantissa);
    let room = 0xffff_ff00_0000 - square(x);
    let by = 2 * (x.exponent - y.exponent) as u32;
    (4 * square(y)).checked_shr(by).unwrap_or(0) < 4 * room + 1
}
