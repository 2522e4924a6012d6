//! A piece of the parameters on the CPU, with all that an update reads and writes there, and updates written by hand.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use pulp::{Simd, WithSimd};

use super::sizes::LINE;
use crate::simd::{dispatch, load, store};

/// One piece of the parameters, their moments, and the partial gradients, whose sum times `mean` is g.
pub struct ParameterPiece<'a> {
    pub(crate) mean: f32,
    pub(crate) largest: Option<f32>,
    pub(crate) partials: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) parts: usize,
    pub(crate) params: &'a mut [f32],
    /// Empty if the rule has none, as the next two.
    pub(crate) m: &'a mut [f32],
    pub(crate) v: &'a mut [f32],
    pub(crate) a: &'a mut [f32],
}

impl ParameterPiece<'_> {
    /// Runs an update written by hand over the piece.
    pub fn follow(self, rule: impl ByHandUpdate) {
        dispatch(Following { piece: self, rule });
    }
}

/// An update written by hand: the new [p, m, v] for the mean gradient g.
pub trait ByHandUpdate: Copy {
    /// One vector of each.
    fn apply<S: Simd>(self, simd: S, g: S::f32s, state: [S::f32s; 3]) -> [S::f32s; 3];
}

struct Following<'a, F> {
    piece: ParameterPiece<'a>,
    rule: F,
}

impl<F: ByHandUpdate> WithSimd for Following<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ParameterPiece { mean, partials, stride, parts, params, m, v, .. } = self.piece;
        let len = params.len();
        assert!(len.is_multiple_of(LINE) && m.len() == len && v.len() == len);
        assert!(len == 0 || partials.len() >= (parts - 1) * stride + len);
        let (p, m, v) = (params.as_mut_ptr(), m.as_mut_ptr(), v.as_mut_ptr());
        let mean = simd.splat_f32s(mean);
        for i in (0..len).step_by(S::F32_LANES) {
            // SAFETY: i + lanes <= len by the assertions.
            unsafe {
                let mut g = load::<S>(partials.as_ptr().add(i));
                for part in 1..parts {
                    g = simd.add_f32s(g, load::<S>(partials.as_ptr().add(part * stride + i)));
                }
                let state = [load::<S>(p.add(i)), load::<S>(m.add(i)), load::<S>(v.add(i))];
                let [new_p, new_m, new_v] = self.rule.apply(simd, simd.mul_f32s(g, mean), state);
                store::<S>(p.add(i), new_p);
                store::<S>(m.add(i), new_m);
                store::<S>(v.add(i), new_v);
            }
        }
    }
}
