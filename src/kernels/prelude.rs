//! WGSL's names for scalar functions, in Rust: a row's tokens mean the same in both. `shaders/common/scalar.wgsl` is the other half.
//! Rows that name a vector function need no scalar one here.
#![allow(non_snake_case, reason = "the names are WGSL's")]

pub(super) fn exp2(x: f32) -> f32 {
    x.exp2()
}

pub(super) fn expm1(x: f32) -> f32 {
    x.exp_m1()
}

pub(super) fn log2(x: f32) -> f32 {
    x.log2()
}

pub(super) fn log1p(x: f32) -> f32 {
    x.ln_1p()
}

pub(super) fn sine(x: f32) -> f32 {
    x.sin()
}

pub(super) fn cosine(x: f32) -> f32 {
    x.cos()
}

pub(super) fn abs(x: f32) -> f32 {
    x.abs()
}

pub(super) fn sign(x: f32) -> f32 {
    select(select(0.0, -1.0, x < 0.0), 1.0, x > 0.0)
}

pub(super) fn min(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

pub(super) fn max(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

pub(super) fn clamp(x: f32, low: f32, high: f32) -> f32 {
    min(max(x, low), high)
}

pub(super) fn sqrt(x: f32) -> f32 {
    x.sqrt()
}

pub(super) fn inverseSqrt(x: f32) -> f32 {
    1.0 / x.sqrt()
}

pub(super) fn power(a: f32, b: f32) -> f32 {
    a.powf(b)
}

pub(super) fn floor(x: f32) -> f32 {
    x.floor()
}

pub(super) fn ceil(x: f32) -> f32 {
    x.ceil()
}

pub(super) fn round(x: f32) -> f32 {
    x.round_ties_even()
}

pub(super) fn atan(x: f32) -> f32 {
    x.atan()
}

pub(super) fn select(otherwise: f32, then: f32, condition: bool) -> f32 {
    if condition { then } else { otherwise }
}

pub(super) fn hypotenuse(a: f32, b: f32) -> f32 {
    a.hypot(b)
}

pub(super) fn angle(a: f32, b: f32) -> f32 {
    a.atan2(b)
}

pub(super) fn hyperbolic(x: f32, sign: f32) -> f32 {
    let e = (0.5 * x.abs()).exp();
    (0.5 * e) * e + sign * (0.5 / e) / e
}
