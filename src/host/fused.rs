//! Fused products, by the processor's instruction. Browsers without relaxed SIMD have none and round twice: a product, then a sum.
#![allow(clippy::inline_always, reason = "one instruction of the kernels")]

use pulp::Simd;

/// a * b + c, fused if the processor has the instruction.
#[inline(always)]
pub fn fused<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
    simd.mul_add_e_f32s(a, b, c)
}

/// c - a * b, fused if the processor has the instruction.
#[inline(always)]
pub fn fused_negated<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
    simd.negate_mul_add_e_f32s(a, b, c)
}
