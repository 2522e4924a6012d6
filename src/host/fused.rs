//! Fused products, by the processor's instruction. In a browser without relaxed SIMD there is none: a product and a sum.
#![allow(clippy::inline_always, reason = "one instruction of the kernels")]

use pulp::Simd;

/// a * b + c, fused where the processor fuses.
#[inline(always)]
pub fn fused<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
    simd.mul_add_e_f32s(a, b, c)
}

/// c - a * b, fused where the processor fuses.
#[inline(always)]
pub fn fused_negated<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
    simd.negate_mul_add_e_f32s(a, b, c)
}
