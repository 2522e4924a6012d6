//! Applies a function and its slope to a slice in place, for hand-written activations.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use std::marker::PhantomData;

use super::elementary::HeldConstants;
use super::{dispatch, load, store};
use pulp::{Simd, WithSimd};

/// (f(z), f'(z)) of one vector.
pub(crate) trait Slope {
    /// The value and the slope at z; `held` holds the constants of exponentials.
    fn at<S: Simd>(simd: S, held: HeldConstants<S>, z: S::f32s) -> (S::f32s, S::f32s);
}

/// Replaces z by f(z) and writes f'(z) to `slopes`, if given. Both have the same length, a multiple of 16.
pub(crate) fn sweep<F: Slope>(z: &mut [f32], slopes: Option<&mut [f32]>) {
    assert!(z.len().is_multiple_of(16) && slopes.as_ref().is_none_or(|slopes| slopes.len() == z.len()));
    dispatch(Sweep::<F> { z, slopes, function: PhantomData });
}

struct Sweep<'a, F> {
    z: &'a mut [f32],
    slopes: Option<&'a mut [f32]>,
    function: PhantomData<F>,
}

impl<F: Slope> WithSimd for Sweep<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (len, z) = (self.z.len(), self.z.as_mut_ptr());
        let slopes = self.slopes.map(<[f32]>::as_mut_ptr);
        let held = HeldConstants::new(simd);
        let mut i = 0;
        while i < len {
            // SAFETY: len is a multiple of 16, which is one of the lanes.
            unsafe {
                let (value, slope) = F::at(simd, held, load::<S>(z.add(i)));
                store::<S>(z.add(i), value);
                // The compiler moves computations that only the slope needs into this branch.
                if let Some(slopes) = slopes {
                    store::<S>(slopes.add(i), slope);
                }
            }
            i += S::F32_LANES;
        }
    }
}
