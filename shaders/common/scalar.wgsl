// Scalar functions that WGSL lacks or leaves inaccurate. src/program/prelude.rs has the same functions in Rust.

// tanh overflows on some drivers; beyond 10 it is 1 to the last bit. Near 0 the odd series keeps relative accuracy.
// Limited by select: clamp would turn NaN into a number.
fn safe_tanh(x: f32) -> f32 {
    let s = x * x;
    let near = x * (1.0 + s * (-0.33333333 + s * (0.13333333 + s * (-0.053968254 + s * 0.021869488))));
    let e = exp(2.0 * select(x, 10.0, x > 10.0));
    return select(1.0 - 2.0 / (e + 1.0), near, abs(x) < 0.25);
}

fn logistic(x: f32) -> f32 {
    return 0.5 + 0.5 * safe_tanh(0.5 * x);
}

fn expm1(x: f32) -> f32 {
    let near = x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666667 + x * (0.0083333333 + x * 0.0013888889)))));
    return select(exp(x) - 1.0, near, abs(x) < 0.35);
}

// 2 atanh s for |s| <= 1/3; a minimax polynomial.
fn twice_atanh(s: f32) -> f32 {
    let q = s * s;
    return s * (2.0 + q * (0.66666413 + q * (0.40021699 + q * (0.27999141 + q * 0.28024459))));
}

// ln(1 + x) = 2 atanh(x / (2 + x)).
fn log1p(x: f32) -> f32 {
    return select(log(1.0 + x), twice_atanh(x / (2.0 + x)), x > -0.5 && x < 1.0);
}

// Between 1/2 and 2, WGSL allows logarithms an absolute error of 2^-21.
fn precise_log(a: f32) -> f32 {
    return select(log(a), twice_atanh((a - 1.0) / (a + 1.0)), a > 0.5 && a < 2.0);
}

fn precise_log2(a: f32) -> f32 {
    return select(log2(a), 1.44269504 * twice_atanh((a - 1.0) / (a + 1.0)), a > 0.5 && a < 2.0);
}

fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }

// NaN propagates; found by its bits, because compilers may assume that there is none.
fn smaller(a: f32, b: f32) -> f32 {
    return select(select(a, b, b < a || is_nan(b)), a, is_nan(a));
}

fn larger(a: f32, b: f32) -> f32 {
    return select(select(a, b, b > a || is_nan(b)), a, is_nan(a));
}

// a^b for a > 0, and for any a where b is an integer.
fn power(a: f32, b: f32) -> f32 {
    let size = select(exp2(b * precise_log2(abs(a))), 0.0, a == 0.0 && b > 0.0);
    let is_odd = fract(0.5 * abs(b)) != 0.0;
    return select(select(size, 1.0, b == 0.0), -size, a < 0.0 && is_odd);
}

// √(a² + b²), without overflow on the way.
fn hypotenuse(a: f32, b: f32) -> f32 {
    let large = max(abs(a), abs(b));
    let ratio = select(min(abs(a), abs(b)) / large, 0.0, large == 0.0);
    return large * sqrt(1.0 + ratio * ratio);
}

// The angle of (b, a): WGSL's atan2 is not defined at zero.
fn angle(a: f32, b: f32) -> f32 {
    let large = max(abs(a), abs(b));
    let narrow = atan(select(min(abs(a), abs(b)) / large, 0.0, large == 0.0));
    let upper = select(narrow, 1.5707964 - narrow, abs(a) > abs(b));
    let turned = select(upper, 3.1415927 - upper, bitcast<u32>(b) >= 0x80000000u);
    return select(turned, -turned, bitcast<u32>(a) >= 0x80000000u);
}

// e^(x/2) squared: e^x itself overflows before its half does.
fn hyperbolic(x: f32, sign: f32) -> f32 {
    let e = exp(0.5 * abs(x));
    return (0.5 * e) * e + sign * (0.5 / e) / e;
}

// WGSL guarantees sin and cos only to 2^-11: reduce by quarter turns (Cody and Waite) and use the Taylor polynomials.
fn quarter_turns(x: f32) -> f32 {
    return round(x * 0.63661977);
}

fn reduced(x: f32, k: f32) -> f32 {
    return ((x - k * 1.5703125) - k * 4.8375129e-4) - k * 7.5497901e-8;
}

fn sine_polynomial(r: f32) -> f32 {
    let s = r * r;
    return r + r * s * (-0.16666667 + s * (0.0083333333 + s * (-1.9841270e-4 + s * 2.7557319e-6)));
}

fn cosine_polynomial(r: f32) -> f32 {
    let s = r * r;
    return 1.0 + s * (-0.5 + s * (0.041666667 + s * (-0.0013888889 + s * (2.4801587e-5 - s * 2.7557319e-7))));
}

fn quadrant(r: f32, q: i32) -> f32 {
    let value = select(sine_polynomial(r), cosine_polynomial(r), (q & 1) == 1);
    return select(value, -value, (q & 2) == 2);
}

fn sine(x: f32) -> f32 {
    if abs(x) > 8192.0 {
        let turn = far_turn(x);
        return quadrant(turn.rest, turn.quarters);
    }
    let k = quarter_turns(x);
    // Near 0 the value is x, so that -0 keeps its sign.
    return select(quadrant(reduced(x, k), i32(k)), x, abs(x) < 0.0001);
}

fn cosine(x: f32) -> f32 {
    if abs(x) > 8192.0 {
        let turn = far_turn(x);
        return quadrant(turn.rest, turn.quarters + 1);
    }
    let k = quarter_turns(x);
    return quadrant(reduced(x, k), i32(k) + 1);
}

// Integers of 64 bits, in two words.
struct Wide {
    high: u32,
    low: u32,
}

fn wide_product(a: u32, b: u32) -> Wide {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let first = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
    return Wide((a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u), (second << 16u) | (low & 0xffffu));
}

// Number of quarter turns (only the last two bits are used) and remainder of an angle.
struct Turn {
    quarters: i32,
    rest: f32,
}

// 32 bits of 2 / pi, whose first is word 1.
fn two_over_pi(word: u32) -> u32 {
    switch word {
        case 1u: { return 0xa2f9836eu; }
        case 2u: { return 0x4e441529u; }
        case 3u: { return 0xfc2757d1u; }
        case 4u: { return 0xf534ddc0u; }
        case 5u: { return 0xdb629599u; }
        case 6u: { return 0x3c439041u; }
        case 7u: { return 0xfe5163abu; }
        default: { return 0u; }
    }
}

fn two_over_pi_from(bit: u32) -> u32 {
    let first = two_over_pi(bit / 32u) << (bit % 32u);
    return select(first | (two_over_pi(bit / 32u + 1u) >> (32u - max(bit % 32u, 1u))), first, bit % 32u == 0u);
}

// Angles beyond 2^13 (Payne and Hanek): the mantissa times the 96 bits of 2 / pi that matter, in integers.
fn far_turn(x: f32) -> Turn {
    let word = bitcast<u32>(x);
    let mantissa = (word & 0x7fffffu) | 0x800000u;
    let bit = ((word >> 23u) & 0xffu) - 120u;
    let low = wide_product(mantissa, two_over_pi_from(bit + 64u));
    let middle = wide_product(mantissa, two_over_pi_from(bit + 32u));
    let second = middle.low + low.high;
    let first = mantissa * two_over_pi_from(bit) + middle.high + select(0u, 1u, second < low.high);
    // The binary point is after the first two bits; half a quarter turn or more is rounded up.
    var high = (first << 2u) | (second >> 30u);
    var rest = second << 2u;
    let is_up = high >= 0x80000000u;
    if is_up {
        high = ~high;
        rest = ~rest;
    }
    let size = (f32(high) * 0x1p-32f + f32(rest) * 0x1p-64f) * 1.5707964;
    let quarters = i32(first >> 30u) + select(0, 1, is_up);
    let is_negative = word >= 0x80000000u;
    return Turn(select(quarters, -quarters, is_negative), select(size, -size, is_up != is_negative));
}
