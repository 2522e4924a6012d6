// Scalar functions that WGSL lacks or leaves inaccurate. src/program/prelude.rs has the same functions in Rust.

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

// e^x / 2 as the square of e^(x/2) √½, because e^x overflows before its half does; compilers may exchange the factors of 0.5 e e.
fn hyperbolic(x: f32, sign: f32) -> f32 {
    let e = 0.70710678 * exp(0.5 * abs(x));
    let inverse = 0.5 / e;
    return e * e + sign * inverse * inverse;
}
