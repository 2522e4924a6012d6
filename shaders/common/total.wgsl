// Exact predicates on the bits of floats, and values that keep subnormals: no result depends on how a device rounds a quotient, flushes
// a subnormal or overflows. src/program/rules.rs has the same functions in Rust, with equal results.

fn is_finite_word(word: u32) -> bool { return (word & 0x7f800000u) != 0x7f800000u; }

fn is_finite(x: f32) -> bool { return is_finite_word(bitcast<u32>(x)); }

fn magnitude(x: f32) -> u32 { return bitcast<u32>(x) & 0x7fffffffu; }

fn is_nonzero(x: f32) -> bool { return magnitude(x) != 0u; }

fn is_below_zero(x: f32) -> bool { return bitcast<u32>(x) > 0x80000000u; }

fn is_above_zero(x: f32) -> bool { return bitcast<i32>(x) > 0; }

fn is_subnormal(x: f32) -> bool { return magnitude(x) - 1u < 0x007fffffu; }

// An integer with the same order as the floats; both zeros are 0.
fn order(x: f32) -> i32 {
    let size = i32(magnitude(x));
    return select(size, -size, bitcast<u32>(x) >= 0x80000000u);
}

fn is_integer(x: f32) -> bool {
    let word = magnitude(x);
    let fraction = clamp(150 - i32(word >> 23u), 0, 24);
    return word == 0u || (word >= 0x3f800000u && (word & ((1u << u32(fraction)) - 1u)) == 0u);
}

// |x| = mantissa · 2^exponent with a mantissa of 24 bits (0 for 0).
struct Parts {
    mantissa: u32,
    exponent: i32,
}

fn parts(x: f32) -> Parts {
    let word = magnitude(x);
    let shift = max(countLeadingZeros(word), 8u) - 8u;
    let normal = Parts((word & 0x7fffffu) | 0x800000u, i32(word >> 23u) - 150);
    if word >= 0x800000u {
        return normal;
    }
    return Parts(word << min(shift, 24u), -149 - i32(shift));
}

// The mantissa as a float in [1, 2).
fn unit(mantissa: u32) -> f32 { return bitcast<f32>(0x3f800000u | (mantissa & 0x7fffffu)); }

fn power_of_two(exponent: i32) -> f32 { return bitcast<f32>(u32(exponent + 127) << 23u); }

// x · 2^exponent, for x near 1 and above 0.
fn scaled(x: f32, exponent: i32) -> f32 {
    if exponent < -126 {
        // The bits of a subnormal are its size in units of 2^-149.
        return bitcast<f32>(u32(round(x * power_of_two(max(exponent + 149, -126)))));
    }
    let first = clamp(exponent, -126, 127);
    return x * power_of_two(first) * power_of_two(clamp(exponent - first, -126, 127));
}

fn with_sign(x: f32, sign: u32) -> f32 { return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (sign & 0x80000000u)); }

fn signed_as(x: f32, y: f32) -> f32 { return with_sign(x, bitcast<u32>(y)); }

// A representable value near the largest float, clamped in case the device overflows.
fn held(x: f32) -> f32 {
    let word = bitcast<u32>(x);
    return bitcast<f32>(select((word & 0x80000000u) | 0x7f7fffffu, word, is_finite_word(word)));
}

// Halves are exact where it matters, and their sum stays in range.
fn sum_fits(a: f32, b: f32) -> bool { return magnitude(0.5 * a + 0.5 * b) < 0x7f000000u; }

fn product_fits(a: f32, b: f32) -> bool {
    let x = parts(a);
    let y = parts(b);
    let carry = select(0, 1, unit(x.mantissa) * unit(y.mantissa) >= 2.0);
    return x.exponent + y.exponent + 46 + carry < 128;
}

// A correctly rounded quotient never rounds up across a power of two.
fn quotient_fits(a: f32, b: f32) -> bool {
    let x = parts(a);
    let y = parts(b);
    return x.exponent - y.exponent - select(0, 1, x.mantissa < y.mantissa) < 128;
}

fn product(a: f32, b: f32) -> f32 {
    if !is_subnormal(a) && !is_subnormal(b) {
        return a * b;
    }
    let x = parts(a);
    let y = parts(b);
    let size = scaled(unit(x.mantissa) * unit(y.mantissa), x.exponent + y.exponent + 46);
    let is_zero = x.mantissa == 0u || y.mantissa == 0u;
    return with_sign(select(size, 0.0, is_zero), bitcast<u32>(a) ^ bitcast<u32>(b));
}

// WGSL's quotient is accurate only for a divisor between 2^-126 and 2^126.
fn quotient(a: f32, b: f32) -> f32 {
    if !is_subnormal(a) && !is_subnormal(b) && magnitude(b) < 0x7e000000u {
        return a / b;
    }
    let x = parts(a);
    let y = parts(b);
    let size = scaled(unit(x.mantissa) / unit(y.mantissa), x.exponent - y.exponent);
    return with_sign(select(size, 0.0, x.mantissa == 0u), bitcast<u32>(a) ^ bitcast<u32>(b));
}

// Whether a / b, and with it |a| / (b · b) with b · b rounded to f32, are representable: |a| < (b · b) 2^128.
fn ratio_fits(a: f32, b: f32) -> bool {
    let y = parts(b);
    if magnitude(b) < 0x20000000u {
        // Below 2^-63 the square is a subnormal k · 2^-149.
        let shift = u32(clamp(-149 - 2 * y.exponent, 25, 50));
        let k = wide_rounded(wide_product(y.mantissa, y.mantissa), shift);
        return magnitude(a) < magnitude(f32(k) * 0x1p-21f);
    }
    let square = unit(y.mantissa) * unit(y.mantissa);
    let exponent = 2 * y.exponent + 46 + select(0, 1, square >= 2.0);
    let x = parts(a);
    let divisor = (bitcast<u32>(square) & 0x7fffffu) | 0x800000u;
    return exponent >= 128 || x.exponent + 23 - exponent - select(0, 1, x.mantissa < divisor) < 128;
}

// A subnormal's bits are its size in units of 2^-149.
fn root(x: f32) -> f32 {
    let small = sqrt(2.0 * f32(magnitude(x))) * 0x1p-75f;
    return select(sqrt(x), small, is_subnormal(x));
}

fn inverse_root(x: f32) -> f32 {
    let small = inverseSqrt(2.0 * f32(max(magnitude(x), 1u))) * 0x1p75f;
    return select(inverseSqrt(x), small, is_subnormal(x));
}

fn logarithm(x: f32) -> f32 {
    let small = log(f32(max(magnitude(x), 1u))) - 103.27892990343185;
    return select(precise_log(x), small, is_subnormal(x));
}

fn logarithm2(x: f32) -> f32 {
    let small = log2(f32(max(magnitude(x), 1u))) - 149.0;
    return select(precise_log2(x), small, is_subnormal(x));
}

fn least(a: f32, b: f32) -> f32 { return select(a, b, order(b) < order(a)); }

fn greatest(a: f32, b: f32) -> f32 { return select(a, b, order(b) > order(a)); }

fn truth(is_true: bool) -> f32 { return select(0.0, 1.0, is_true); }
