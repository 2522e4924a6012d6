//! x · sigmoid(x) (Hendrycks and Gimpel 2016; Ramachandran, Zoph and Le 2017). The default, so its CPU code and its WGSL are
//! hand-written: they are faster than passes of its formula (`docs/PERFORMANCE.md`).
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::BuiltIn;
use crate::program::curve::ByHand;
use crate::program::expr::sigmoid;
use crate::simd::elementary::{self, HeldConstants};
use crate::simd::sweep::{Slope, sweep};
use crate::simd::{constant, fma};

pub(super) static ACTIVATION: BuiltIn = BuiltIn {
    name: "silu",
    doc: "x · sigmoid(x)",
    formula: |x| x * sigmoid(x),
    oracle: |x| x / (1.0 + (-x).exp()),
    by_hand: ByHand { cpu: Some(sweep::<Silu>), wgsl: Some(crate::wgsl!("common/act_silu")) },
};

struct Silu;

impl Slope for Silu {
    #[inline(always)]
    fn at<S: pulp::Simd>(simd: S, held: HeldConstants<S>, z: S::f32s) -> (S::f32s, S::f32s) {
        let s = elementary::sigmoid(simd, held, z);
        let a = simd.mul_f32s(z, s);
        (a, fma(simd, a, simd.sub_f32s(constant(simd, &1.0), s), s))
    }
}
