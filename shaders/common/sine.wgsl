// Sine and cosine: WGSL guarantees its own only to 2^-11. src/program/prelude.rs has the same functions in Rust.

// Up to 2^13: reduce by quarter turns (Cody and Waite) and use the Taylor polynomials.
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

// Of an infinity and of NaN it is NaN.
fn sine(x: f32) -> f32 {
    if (bitcast<u32>(x) & 0x7fffffffu) > 0x46000000u {
        if !is_number(x) {
            return nan_from(x);
        }
        let turn = far_turn(x);
        return quadrant(turn.rest, turn.quarters);
    }
    let k = quarter_turns(x);
    // Near 0 the value is x, so that -0 keeps its sign.
    return select(quadrant(reduced(x, k), i32(k)), x, abs(x) < 0.0001);
}

fn cosine(x: f32) -> f32 {
    if (bitcast<u32>(x) & 0x7fffffffu) > 0x46000000u {
        if !is_number(x) {
            return nan_from(x);
        }
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
