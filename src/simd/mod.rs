//! Vector instructions: run-time choice of the instruction set (AVX-512, AVX2+FMA, NEON, wasm simd128 or scalar code) and the few lane
//! operations that pulp lacks. Only this module chooses instructions. Everything here is generic over the instruction set and must be inlined into a dispatched function.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]
#![allow(unsafe_code, reason = "vector registers are read and written through pointers")]

pub(crate) mod double;
pub(crate) mod elementary;
pub(crate) mod masked;
pub(crate) mod sweep;
pub(crate) mod vector;

use crate::host;
use pulp::{Simd, WithSimd};

/// Repeats the body for every index below a constant of at most 13, unrolled. The browser build optimises for size and would keep a loop,
/// and then sums would stay in memory instead of registers.
macro_rules! each {
    ($index:ident < $count:ident $body:block) => {
        const { assert!($count <= 13, "each: expected at most 13 repetitions") };
        each!(@ $index < $count $body: 0 1 2 3 4 5 6 7 8 9 10 11 12)
    };
    (@ $index:ident < $count:ident $body:block: $($at:literal)+) => {
        $(if $at < $count {
            let $index = $at;
            $body
        })+
    };
}
pub(crate) use each;

/// Zeros, to be replaced by `each`. `[x; N]` of a vector is a loop, which the browser build would keep, with its result in memory.
#[inline(always)]
pub(crate) fn vectors<V: bytemuck::Zeroable>() -> V {
    V::zeroed()
}

/// Runs `op` with the best instruction set of this machine.
#[inline]
pub(crate) fn dispatch<Op: WithSimd>(op: Op) -> Op::Output {
    host::vectorize(op)
}

/// Runs `work`, compiled for the best instruction set of this machine, so that the compiler vectorises its loops for it.
#[inline]
pub(crate) fn widened<R>(work: impl FnOnce() -> R) -> R {
    struct Work<F>(F);
    impl<R, F: FnOnce() -> R> WithSimd for Work<F> {
        type Output = R;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _simd: S) -> R {
            self.0()
        }
    }
    dispatch(Work(work))
}

/// Reads one vector.
///
/// # Safety
/// `at` is valid for reads of `S::F32_LANES` words.
#[inline(always)]
pub(crate) unsafe fn load<S: Simd>(at: *const f32) -> S::f32s {
    // SAFETY: by the caller; no alignment is required.
    unsafe { at.cast::<S::f32s>().read_unaligned() }
}

/// Writes one vector.
///
/// # Safety
/// `at` is valid for writes of `S::F32_LANES` words.
#[inline(always)]
pub(crate) unsafe fn store<S: Simd>(at: *mut f32, value: S::f32s) {
    // SAFETY: by the caller; no alignment is required.
    unsafe { at.cast::<S::f32s>().write_unaligned(value) }
}

/// Whether this is pulp's portable type (no other has 16 registers of 4 lanes): its fused multiply-add is a slow library call, and its min and max lose NaN.
#[inline(always)]
const fn is_portable<S: Simd>() -> bool {
    S::F32_LANES == 4 && S::REGISTER_COUNT == 16
}

/// a * b + c, fused if the machine has a fused instruction.
#[inline(always)]
pub(crate) fn fma<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
    if is_portable::<S>() { simd.add_f32s(simd.mul_f32s(a, b), c) } else { host::fused(simd, a, b, c) }
}

/// c - a * b.
#[inline(always)]
pub(crate) fn fnma<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
    if is_portable::<S>() { simd.sub_f32s(c, simd.mul_f32s(a, b)) } else { host::fused_negated(simd, a, b, c) }
}

/// The larger of the two; x where x is NaN.
#[inline(always)]
pub(crate) fn at_least<S: Simd>(simd: S, low: S::f32s, x: S::f32s) -> S::f32s {
    if is_portable::<S>() { simd.select_f32s(simd.less_than_f32s(x, low), low, x) } else { host::larger(simd, low, x) }
}

/// The smaller of the two; x where x is NaN.
#[inline(always)]
pub(crate) fn at_most<S: Simd>(simd: S, high: S::f32s, x: S::f32s) -> S::f32s {
    if is_portable::<S>() {
        simd.select_f32s(simd.greater_than_f32s(x, high), high, x)
    } else {
        host::smaller(simd, high, x)
    }
}

/// x in every lane.
#[inline(always)]
pub(crate) fn constant<S: Simd>(simd: S, x: &'static f32) -> S::f32s {
    simd.splat_f32s(host::from_memory(x))
}

/// The polynomial with `coefficients`, highest power first.
#[inline(always)]
pub(crate) fn horner<S: Simd, const N: usize>(simd: S, x: S::f32s, coefficients: &'static [f32; N]) -> S::f32s {
    let mut sum = constant(simd, &coefficients[0]);
    each!(i < N {
        if i > 0 {
            sum = fma(simd, sum, x, constant(simd, &coefficients[i]));
        }
    });
    sum
}

/// Every word shifted left by a constant: a product, because pulp only has per-lane shift counts, which wasm handles lane by lane; compilers turn the product into a shift.
#[inline(always)]
pub(crate) fn shift_left<S: Simd>(simd: S, x: S::u32s, bits: u32) -> S::u32s {
    simd.mul_u32s(x, simd.splat_u32s(1 << bits))
}

/// Every word shifted right by a constant.
#[inline(always)]
pub(crate) fn shift_right<S: Simd>(simd: S, x: S::u32s, bits: u32) -> S::u32s {
    simd.wrapping_dyn_shr_u32s(x, simd.splat_u32s(bits))
}
