//! Arithmetic and elementary functions over slices of f32: out[i] = f(x[i]), the instruction set chosen once per call. Largest error against f64 in units in the
//! last place (as measured; the cases of `map` allow about ten): exp 2, ln 2, tanh 3, sigmoid 3, sin and cos 2
//! (above that an absolute 3e-7 near their zeros), erf 3, softplus 3. Overflow gives an infinity, underflow 0, NaN propagates.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]
#![allow(unsafe_code, reason = "tails and lanes are addressed by pointer inside checked lengths")]

use crate::host;
use crate::simd::elementary::{self, ANGLE_LIMIT};
use crate::simd::{dispatch, each, load, store, vectors};
use pulp::{Simd, WithSimd};
use std::marker::PhantomData;

macro_rules! over_slices {
    ($($name:ident: |$simd:ident, [$($argument:ident),+]| $body:expr;)*) => { $(
        #[doc = concat!("out = ", stringify!($name), "(", stringify!($($argument),+), "), for slices as long as `out`.")]
        pub(crate) fn $name(arguments: &[&[f32]], out: &mut [f32]) {
            const COUNT: usize = [$(stringify!($argument)),+].len();
            struct Row;
            impl Function<COUNT> for Row {
                #[inline(always)]
                fn at<S: Simd>($simd: S, [$($argument),+]: [S::f32s; COUNT]) -> S::f32s {
                    $body
                }
            }
            map::<Row, COUNT>(arguments, out);
        }
    )* };
}

over_slices! {
    add: |simd, [a, b]| simd.add_f32s(a, b);
    sub: |simd, [a, b]| simd.sub_f32s(a, b);
    mul: |simd, [a, b]| simd.mul_f32s(a, b);
    div: |simd, [a, b]| simd.div_f32s(a, b);
    square: |simd, [x]| simd.mul_f32s(x, x);
    exp: |simd, [x]| elementary::exp(simd, x);
    ln: |simd, [x]| elementary::ln(simd, x);
    tanh: |simd, [x]| elementary::tanh(simd, elementary::InMemory, x);
    sigmoid: |simd, [x]| elementary::sigmoid(simd, elementary::InMemory, x);
    softplus: |simd, [x]| elementary::softplus(simd, elementary::InMemory, x).0;
    erf: |simd, [x]| elementary::erf(simd, x);
    reduced_sin: |simd, [x]| elementary::sine(simd, x, 0);
    reduced_cos: |simd, [x]| elementary::sine(simd, x, 1);
}

/// out = sin(x).
pub(crate) fn sin(arguments: &[&[f32]], out: &mut [f32]) {
    reduced_sin(arguments, out);
    beyond(arguments[0], out, host::sin);
}

/// out = cos(x).
pub(crate) fn cos(arguments: &[&[f32]], out: &mut [f32]) {
    reduced_cos(arguments, out);
    beyond(arguments[0], out, host::cos);
}

/// Replaces the values at angles too large for the three-part reduction.
fn beyond(x: &[f32], out: &mut [f32], exact: fn(f64) -> f64) {
    let largest = x.iter().fold(0, |largest, x| largest.max(x.abs().to_bits()));
    if largest <= ANGLE_LIMIT.to_bits() {
        return;
    }
    for (x, out) in x.iter().zip(out).filter(|(x, _)| x.abs() > ANGLE_LIMIT) {
        *out = exact(f64::from(*x)) as f32;
    }
}

/// A function of N arguments on one vector of each.
trait Function<const N: usize> {
    fn at<S: Simd>(simd: S, arguments: [S::f32s; N]) -> S::f32s;
}

struct Map<'a, F, const N: usize> {
    arguments: [&'a [f32]; N],
    out: &'a mut [f32],
    function: PhantomData<F>,
}

fn map<F: Function<N>, const N: usize>(arguments: &[&[f32]], out: &mut [f32]) {
    let arguments: [&[f32]; N] = std::array::from_fn(|at| {
        let (got, expected) = (arguments[at].len(), out.len());
        assert_eq!(got, expected, "vector: lengths differ: got {got} inputs and {expected} outputs");
        arguments[at]
    });
    dispatch(Map::<F, N> { arguments, out, function: PhantomData });
}

impl<F: Function<N>, const N: usize> WithSimd for Map<'_, F, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { arguments, out, .. } = self;
        let lanes = S::F32_LANES;
        let whole = out.len() / lanes * lanes;
        let mut vectors = vectors::<[S::f32s; N]>();
        for i in (0..whole).step_by(lanes) {
            each!(k < N {
                // SAFETY: i + lanes <= len of every slice.
                vectors[k] = unsafe { load::<S>(arguments[k].as_ptr().add(i)) };
            });
            // SAFETY: as above.
            unsafe { store::<S>(out.as_mut_ptr().add(i), F::at(simd, vectors)) };
        }
        // No instruction set has vectors of more than 64 words.
        let mut rest = [0.0f32; 64];
        let tail = &mut out[whole..];
        each!(k < N {
            rest[..tail.len()].copy_from_slice(&arguments[k][whole..]);
            // SAFETY: `rest` is at least a vector long.
            vectors[k] = unsafe { load::<S>(rest.as_ptr()) };
        });
        // SAFETY: as above.
        unsafe { store::<S>(rest.as_mut_ptr(), F::at(simd, vectors)) };
        tail.copy_from_slice(&rest[..tail.len()]);
    }
}
