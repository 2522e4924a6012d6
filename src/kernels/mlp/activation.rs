//! The activations and their slopes, a vector at a time, and the sweep over a tile: z becomes f(z), f'(z) goes beside it if wanted.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::Activation;
use crate::kernels::elementary::{Held, exp_minus_one, sigmoid_by, softplus, tanh};
use crate::kernels::simd::{at_least, constant, fma, fnma, load, store};
use pulp::{Simd, WithSimd};

/// Turns z into f(z) in place and writes f'(z) to `slopes`, if there are any; both of the same length, a multiple of `PAD`.
pub(super) struct Sweep<'a> {
    pub activation: Activation,
    pub z: &'a mut [f32],
    pub slopes: Option<&'a mut [f32]>,
}

impl WithSimd for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sweep { activation, z, slopes } = self;
        match activation {
            Activation::Relu => sweep::<S, Relu>(simd, z, slopes),
            Activation::Tanh => sweep::<S, Tanh>(simd, z, slopes),
            Activation::Sigmoid => sweep::<S, Sigmoid>(simd, z, slopes),
            Activation::Silu => sweep::<S, Silu>(simd, z, slopes),
            Activation::Gelu => sweep::<S, Gelu>(simd, z, slopes),
            Activation::Elu => sweep::<S, Elu>(simd, z, slopes),
            Activation::Softplus => sweep::<S, Softplus>(simd, z, slopes),
            Activation::LeakyRelu => sweep::<S, LeakyRelu>(simd, z, slopes),
            Activation::Identity => slopes.into_iter().for_each(|slopes| slopes.fill(1.0)),
        }
    }
}

#[inline(always)]
fn sweep<S: Simd, C: Curve>(simd: S, z: &mut [f32], slopes: Option<&mut [f32]>) {
    assert!(slopes.as_ref().is_none_or(|slopes| slopes.len() == z.len()));
    let (len, z) = (z.len(), z.as_mut_ptr());
    let slopes = slopes.map(<[f32]>::as_mut_ptr);
    let held = Held::new(simd);
    let mut i = 0;
    while i < len {
        // SAFETY: len is a multiple of PAD, which is one of the lanes.
        unsafe {
            let (value, slope) = C::at(simd, held, load::<S>(z.add(i)));
            store::<S>(z.add(i), value);
            // What makes the slope is made only here: the compiler moves it down.
            if let Some(slopes) = slopes {
                store::<S>(slopes.add(i), slope);
            }
        }
        i += S::F32_LANES;
    }
}

struct Softplus;
impl Curve for Softplus {
    #[inline(always)]
    fn at<S: Simd>(simd: S, _held: Held<S>, z: S::f32s) -> (S::f32s, S::f32s) {
        softplus(simd, z)
    }
}

/// (f(z), f'(z)).
trait Curve {
    fn at<S: Simd>(simd: S, held: Held<S>, z: S::f32s) -> (S::f32s, S::f32s);
}

macro_rules! curves {
    ($($name:ident: |$simd:ident, $held:ident, $one:ident, $z:ident| $body:expr;)*) => { $(
        struct $name;
        impl Curve for $name {
            #[inline(always)]
            fn at<S: Simd>($simd: S, $held: Held<S>, $z: S::f32s) -> (S::f32s, S::f32s) {
                let $one = constant($simd, &1.0);
                $body
            }
        }
    )* };
}

curves! {
    Relu: |simd, _held, one, z| {
        let zero = simd.splat_f32s(0.0);
        (at_least(simd, zero, z), simd.select_f32s(simd.greater_than_f32s(z, zero), one, zero))
    };
    Tanh: |simd, _held, one, z| {
        let t = tanh(simd, z);
        (t, fnma(simd, t, t, one))
    };
    Sigmoid: |simd, held, one, z| {
        let s = sigmoid_by(simd, held, z);
        (s, simd.mul_f32s(s, simd.sub_f32s(one, s)))
    };
    Silu: |simd, held, one, z| {
        let s = sigmoid_by(simd, held, z);
        let a = simd.mul_f32s(z, s);
        (a, fma(simd, a, simd.sub_f32s(one, s), s))
    };
    // z sigmoid(2u) is z/2 (1 + tanh u), without its cancellation for z < 0.
    Gelu: |simd, held, one, z| {
        let square = simd.mul_f32s(z, z);
        let rise = simd.splat_f32s(1.595_769);
        let cubic = simd.mul_f32s(square, simd.splat_f32s(0.071_354_82));
        let s = sigmoid_by(simd, held, simd.mul_f32s(z, simd.add_f32s(rise, cubic)));
        let a = simd.mul_f32s(z, s);
        let steepness = fma(simd, simd.splat_f32s(3.0), cubic, rise);
        (a, fma(simd, simd.mul_f32s(a, simd.sub_f32s(one, s)), steepness, s))
    };
    Elu: |simd, _held, one, z| {
        let above = simd.greater_than_f32s(z, simd.splat_f32s(0.0));
        let (below, e) = exp_minus_one(simd, z);
        (simd.select_f32s(above, z, below), simd.select_f32s(above, one, e))
    };
    LeakyRelu: |simd, _held, one, z| {
        let slope = simd.select_f32s(simd.greater_than_f32s(z, simd.splat_f32s(0.0)), one, simd.splat_f32s(0.01));
        (simd.mul_f32s(slope, z), slope)
    };
}
