//! Fused products without the instruction, bitwise the same: an exported page predicts what processors with the instruction predict. WebAssembly has no
//! fused product, and the result of its relaxed one depends on the browser's processor.
#![allow(clippy::wildcard_imports, reason = "the instructions' own names are the vocabulary here")]
#![allow(clippy::inline_always, reason = "part of loops that hold everything in registers")]

use bytemuck::cast;
use core::arch::wasm32::*;
use pulp::Simd;

/// a * b + c, rounded once.
#[inline(always)]
pub fn fused<S: Simd>(_simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
    cast(fused_lanes(cast(a), cast(b), cast(c)))
}

/// c - a * b, rounded once.
#[inline(always)]
pub fn fused_negated<S: Simd>(_simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
    cast(fused_lanes(f32x4_neg(cast(a)), cast(b), cast(c)))
}

/// The product of two f32 is exact in f64. The sum is rounded to f64 and then to f32, which only matters if the first rounding hides on which side of
/// the middle between two f32 the sum is.
#[inline(always)]
fn fused_lanes(a: v128, b: v128, c: v128) -> v128 {
    let high = |x| i32x4_shuffle::<2, 3, 2, 3>(x, x);
    let (low, is_low_doubtful) = sum(a, b, c);
    let (top, is_top_doubtful) = sum(high(a), high(b), high(c));
    if v128_any_true(v128_or(is_low_doubtful, is_top_doubtful)) {
        return narrowed(odd(a, b, c), odd(high(a), high(b), high(c)));
    }
    narrowed(low, top)
}

/// Four f32 of two and two f64.
#[inline(always)]
fn narrowed(low: v128, top: v128) -> v128 {
    i32x4_shuffle::<0, 1, 4, 5>(f32x4_demote_f64x2_zero(low), f32x4_demote_f64x2_zero(top))
}

/// a * b + c of the first two lanes in f64, and where rounding it to f32 may be wrong: at the middle between two f32 and below the least normal f32.
#[inline(always)]
fn sum(a: v128, b: v128, c: v128) -> (v128, v128) {
    let product = f64x2_mul(f64x2_promote_low_f32x4(a), f64x2_promote_low_f32x4(b));
    let sum = f64x2_add(product, f64x2_promote_low_f32x4(c));
    let is_middle = i64x2_eq(v128_and(sum, i64x2_splat(0x1FFF_FFFF)), i64x2_splat(0x1000_0000));
    let is_small = f64x2_lt(f64x2_abs(sum), f64x2_splat(f64::from(f32::MIN_POSITIVE)));
    (sum, v128_or(is_middle, is_small))
}

/// a * b + c of the first two lanes in f64, rounded to odd: if the sum is not an f64, its neighbour whose last bit is set, which a later rounding
/// never mistakes for a middle. S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums", IEEE Trans. Computers 57 (2008).
#[cold]
fn odd(a: v128, b: v128, c: v128) -> v128 {
    let c = f64x2_promote_low_f32x4(c);
    let product = f64x2_mul(f64x2_promote_low_f32x4(a), f64x2_promote_low_f32x4(b));
    let sum = f64x2_add(product, c);
    // The rounding error of the sum: D. Knuth's two-sum.
    let took = f64x2_sub(sum, product);
    let lost = f64x2_add(f64x2_sub(product, f64x2_sub(sum, took)), f64x2_sub(c, took));
    let (zero, one) = (f64x2_splat(0.0), i64x2_splat(1));
    let is_up = v128_xor(f64x2_gt(lost, zero), f64x2_lt(sum, zero));
    let is_inexact = v128_or(f64x2_gt(lost, zero), f64x2_lt(lost, zero));
    let is_even = i64x2_eq(v128_and(sum, one), i64x2_splat(0));
    let step = i64x2_sub(v128_and(is_up, i64x2_splat(2)), one);
    i64x2_add(sum, v128_and(step, v128_and(is_inexact, is_even)))
}
