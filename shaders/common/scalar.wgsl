// Scalar functions that WGSL lacks or leaves inaccurate. src/program/prelude.rs has the same functions in Rust.

// NaN and infinities are found by their bits and made of bits: WGSL lets an implementation assume that there are none.
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }

fn is_number(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }

fn nan_from(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u); }

fn infinity_from(x: f32) -> f32 { return bitcast<f32>((bitcast<u32>(x) & 0x80000000u) | 0x7f800000u); }

fn exponential(x: f32) -> f32 {
    return select(select(x, 0.0, bitcast<u32>(x) == 0xff800000u), exp(x), is_number(x));
}

fn exponential2(x: f32) -> f32 {
    return select(select(x, 0.0, bitcast<u32>(x) == 0xff800000u), exp2(x), is_number(x));
}

fn square_root(x: f32) -> f32 {
    let word = bitcast<u32>(x);
    return select(select(nan_from(x), x, word == 0x7f800000u), sqrt(x), word < 0x7f800000u || word == 0x80000000u);
}

fn inverse_square_root(x: f32) -> f32 {
    let word = bitcast<u32>(x);
    let ends = select(select(nan_from(x), 0.0, word == 0x7f800000u), infinity_from(x), (word & 0x7fffffffu) == 0u);
    return select(ends, inverseSqrt(x), word - 1u < 0x7f7fffffu);
}

// The value of a logarithm, and where x is not positive and finite -∞ of 0, ∞ of ∞, NaN of others.
fn logarithm_at(x: f32, value: f32) -> f32 {
    let word = bitcast<u32>(x);
    let ends = select(select(nan_from(x), x, word == 0x7f800000u), infinity_from(-1.0 - abs(value)), (word & 0x7fffffffu) == 0u);
    return select(ends, value, word - 1u < 0x7f7fffffu);
}

// 0 below 0. By bits, because a compiler may make max(x, 0) of it, which loses NaN.
fn rectified(x: f32) -> f32 {
    return select(x, 0.0, bitcast<u32>(x) - 0x80000000u <= 0x7f800000u);
}

// tanh overflows on some drivers; beyond 10 it is 1 to the last bit. Near 0 the odd series keeps relative accuracy.
// Limited by its bits, for x from 10 to infinity: of `x > 10.0`, as of clamp, NVIDIA's compiler makes what turns NaN into a number.
fn safe_tanh(x: f32) -> f32 {
    let s = x * x;
    let near = x * (1.0 + s * (-0.33333333 + s * (0.13333333 + s * (-0.053968254 + s * 0.021869488))));
    let e = exp(2.0 * select(x, 10.0, bitcast<u32>(x) - 0x41200000u <= 0x3e600000u));
    return select(1.0 - 2.0 / (e + 1.0), near, abs(x) < 0.25);
}

fn logistic(x: f32) -> f32 {
    return 0.5 + 0.5 * safe_tanh(0.5 * x);
}

fn expm1(x: f32) -> f32 {
    let near = x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666667 + x * (0.0083333333 + x * 0.0013888889)))));
    return select(exponential(x) - 1.0, near, abs(x) < 0.35);
}

// 2 atanh s for |s| <= 1/3; a minimax polynomial.
fn twice_atanh(s: f32) -> f32 {
    let q = s * s;
    return s * (2.0 + q * (0.66666413 + q * (0.40021699 + q * (0.27999141 + q * 0.28024459))));
}

// ln(1 + x) = 2 atanh(x / (2 + x)).
fn log1p(x: f32) -> f32 {
    return logarithm_at(1.0 + x, select(log(1.0 + x), twice_atanh(x / (2.0 + x)), x > -0.5 && x < 1.0));
}

// Between 1/2 and 2, WGSL allows logarithms an absolute error of 2^-21.
fn precise_log(a: f32) -> f32 {
    return logarithm_at(a, select(log(a), twice_atanh((a - 1.0) / (a + 1.0)), a > 0.5 && a < 2.0));
}

fn precise_log2(a: f32) -> f32 {
    return logarithm_at(a, select(log2(a), 1.44269504 * twice_atanh((a - 1.0) / (a + 1.0)), a > 0.5 && a < 2.0));
}

// NaN propagates; found by its bits, because compilers may assume that there is none.
fn smaller(a: f32, b: f32) -> f32 {
    return select(select(a, b, b < a || is_nan(b)), a, is_nan(a));
}

fn larger(a: f32, b: f32) -> f32 {
    return select(select(a, b, b > a || is_nan(b)), a, is_nan(a));
}

// The larger and the smaller size; infinities and NaN are larger than numbers.
fn larger_size(a: f32, b: f32) -> f32 { return bitcast<f32>(max(bitcast<u32>(a) & 0x7fffffffu, bitcast<u32>(b) & 0x7fffffffu)); }

fn smaller_size(a: f32, b: f32) -> f32 { return bitcast<f32>(min(bitcast<u32>(a) & 0x7fffffffu, bitcast<u32>(b) & 0x7fffffffu)); }

// The quotient of two sizes, of which the second is at least as large. Near the largest float they are made smaller first: a device may take a quotient
// by more than 2^126 for 0.
fn size_ratio(small: f32, large: f32) -> f32 {
    let scale = select(1.0, 0.0625, large > 1e37);
    return select((scale * small) / (scale * large), 0.0, large == 0.0);
}

// √(a² + b²), without overflow on the way. An infinite side makes it infinite, whatever the other is.
fn hypotenuse(a: f32, b: f32) -> f32 {
    let large = larger_size(a, b);
    let small = smaller_size(a, b);
    let ratio = size_ratio(small, large);
    let is_infinite = bitcast<u32>(large) == 0x7f800000u || bitcast<u32>(small) == 0x7f800000u;
    return select(select(nan_from(large), infinity_from(small), is_infinite), large * sqrt(1.0 + ratio * ratio), is_number(large));
}

// The angle of (b, a): WGSL's atan2 is not defined at zero. Of two infinite sides the ratio is 1, of one 0.
fn angle(a: f32, b: f32) -> f32 {
    let large = larger_size(a, b);
    let ratio = select(select(0.0, 1.0, !is_number(smaller_size(a, b))), size_ratio(smaller_size(a, b), large), is_number(large));
    let narrow = atan(ratio);
    let upper = select(narrow, 1.5707964 - narrow, (bitcast<u32>(a) & 0x7fffffffu) > (bitcast<u32>(b) & 0x7fffffffu));
    let turned = select(upper, 3.1415927 - upper, bitcast<u32>(b) >= 0x80000000u);
    return select(select(turned, -turned, bitcast<u32>(a) >= 0x80000000u), nan_from(large), is_nan(large));
}

// e^x / 2 as the square of e^(x/2) √½, because e^x overflows before its half does; compilers may exchange the factors of 0.5 e e.
fn hyperbolic(x: f32, sign: f32) -> f32 {
    let e = 0.70710678 * exponential(0.5 * abs(x));
    let inverse = 0.5 / e;
    return e * e + sign * inverse * inverse;
}
