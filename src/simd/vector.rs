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
use crate::simd::{at_least, at_most, dispatch, fma, load, store};
use pulp::{Simd, WithSimd};

macro_rules! over_slices {
    ($($name:ident: |$simd:ident, $x:ident| $body:expr;)*) => { $(
        #[doc = concat!("out = ", stringify!($name), "(x).")]
        pub fn $name(x: &[f32], out: &mut [f32]) {
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
    // The sigmoid does not go below 6e-39, and a product with a very large x would show that.
    silu: |simd, x| simd.mul_f32s(at_least(simd, simd.splat_f32s(-100.0), x), elementary::sigmoid(simd, x));
    elu: |simd, x| {
        let zero = simd.splat_f32s(0.0);
        let below = elementary::exp_minus_one(simd, at_most(simd, zero, x)).0;
        simd.select_f32s(simd.less_than_f32s(zero, x), x, below)
    };
    gelu: |simd, x| {
        let (half, one) = (simd.splat_f32s(0.5), simd.splat_f32s(1.0));
        let cubic = fma(simd, simd.mul_f32s(x, x), simd.splat_f32s(0.044_715), one);
        let inner = simd.mul_f32s(simd.mul_f32s(x, simd.splat_f32s(0.797_884_56)), cubic);
        simd.mul_f32s(simd.mul_f32s(half, x), simd.add_f32s(one, elementary::tanh(simd, inner)))
    };
    reduced_sin: |simd, x| elementary::sine(simd, x, 0);
    reduced_cos: |simd, x| elementary::sine(simd, x, 1);
}

/// out = sin(x).
pub fn sin(x: &[f32], out: &mut [f32]) {
    reduced_sin(x, out);
    beyond(x, out, host::sin);
}

/// out = cos(x).
pub fn cos(x: &[f32], out: &mut [f32]) {
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
