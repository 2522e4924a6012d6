//! Elementary functions over slices of f32: out[i] = f(x[i]), the instruction set chosen once per call. Largest error against f64 in units in the
//! last place (as measured; the cases of `map` allow about ten): exp 2, ln 2, tanh 3, sigmoid 3, sin and cos 2
//! (above that an absolute 3e-7 near their zeros), erf 3, softplus 3. Overflow gives an infinity, underflow 0, NaN propagates.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]
#![allow(unsafe_code, reason = "tails and lanes are addressed by pointer inside checked lengths")]

use crate::host;
use crate::simd::elementary::{self, ANGLE_LIMIT};
use crate::simd::{dispatch, load, store};
use pulp::{Simd, WithSimd};

macro_rules! over_slices {
    ($($name:ident: |$simd:ident, $x:ident| $body:expr;)*) => { $(
        #[doc = concat!("out = ", stringify!($name), "(x).")]
        pub(crate) fn $name(x: &[f32], out: &mut [f32]) {
            struct Row;
            impl Function for Row {
                #[inline(always)]
                fn at<S: Simd>($simd: S, $x: S::f32s) -> S::f32s {
                    $body
                }
            }
            map::<Row>(x, out);
        }
    )* };
}

over_slices! {
    exp: |simd, x| elementary::exp(simd, x);
    ln: |simd, x| elementary::ln(simd, x);
    tanh: |simd, x| elementary::tanh(simd, x);
    sigmoid: |simd, x| elementary::sigmoid(simd, x);
    softplus: |simd, x| elementary::softplus(simd, x).0;
    erf: |simd, x| elementary::erf(simd, x);
    reduced_sin: |simd, x| elementary::sine(simd, x, 0);
    reduced_cos: |simd, x| elementary::sine(simd, x, 1);
}

/// out = sin(x).
pub(crate) fn sin(x: &[f32], out: &mut [f32]) {
    reduced_sin(x, out);
    beyond(x, out, host::sin);
}

/// out = cos(x).
pub(crate) fn cos(x: &[f32], out: &mut [f32]) {
    reduced_cos(x, out);
    beyond(x, out, host::cos);
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

trait Function {
    fn at<S: Simd>(simd: S, x: S::f32s) -> S::f32s;
}

struct Map<'a, F> {
    x: &'a [f32],
    out: &'a mut [f32],
    function: std::marker::PhantomData<F>,
}

fn map<F: Function>(x: &[f32], out: &mut [f32]) {
    assert_eq!(x.len(), out.len(), "vector: lengths differ: got {} inputs and {} outputs", x.len(), out.len());
    dispatch(Map::<F> { x, out, function: std::marker::PhantomData });
}

impl<F: Function> WithSimd for Map<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = S::F32_LANES;
        let whole = self.x.len() / lanes * lanes;
        for i in (0..whole).step_by(lanes) {
            // SAFETY: i + lanes <= len of both slices.
            unsafe { store::<S>(self.out.as_mut_ptr().add(i), F::at(simd, load::<S>(self.x.as_ptr().add(i)))) };
        }
        let mut rest = [0.0f32; 64];
        let tail = &self.x[whole..];
        rest[..tail.len()].copy_from_slice(tail);
        // SAFETY: no instruction set has vectors of more than 64 words.
        unsafe { store::<S>(rest.as_mut_ptr(), F::at(simd, load::<S>(rest.as_ptr()))) };
        self.out[whole..].copy_from_slice(&rest[..tail.len()]);
    }
}
