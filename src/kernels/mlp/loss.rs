//! The operands of a tile's loss, and cross-entropy with class weights w and smoothing e over C classes:
//! l = w_y ((1-e) (-ln p_y) + e/C sum_c (-ln p_c)), whose weight is w_y, with its gradient with respect to the last layer's z (sums over
//! samples). Pointwise losses are formulas (`formula.rs`).
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use crate::simd::elementary::exp;
use crate::simd::{self, load, store};
use pulp::{Simd, WithSimd};

/// A tile's contribution to the loss sum and to the weight sum.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sums {
    pub loss: f32,
    pub weight: f32,
}

impl Sums {
    pub(super) fn add(&mut self, other: Sums) {
        self.loss += other.loss;
        self.weight += other.weight;
    }
}

/// Replaces z [rows, stride] by dl/dz. y is the whole target table, `rows` name the tile's samples in it, `work` holds 3 * rows * outputs words, each
/// third padded to `PAD`.
pub(super) struct OutputGradients<'a> {
    pub z: &'a mut [f32],
    pub stride: usize,
    pub outputs: usize,
    pub y: &'a [f32],
    pub rows: &'a [u32],
    pub weights: &'a [f32],
    pub work: &'a mut [f32],
}

impl OutputGradients<'_> {
    /// Cross-entropy with label smoothing, row by row.
    pub(super) fn cross_entropy(mut self, smoothing: f32) -> Sums {
        simd::dispatch(CrossEntropy { grade: &mut self, smoothing })
    }
}

struct CrossEntropy<'a, 'b> {
    grade: &'a mut OutputGradients<'b>,
    smoothing: f32,
}

impl WithSimd for CrossEntropy<'_, '_> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Sums {
        let mut sums = Sums::default();
        for row in 0..self.grade.rows.len() {
            sums.add(cross_entropy(simd, self.grade, row, self.smoothing));
        }
        sums
    }
}

/// One row: p = softmax(z), dl/dz_j = w_y (p_j - (1-e) [j = y] - e/C).
#[inline(always)]
fn cross_entropy<S: Simd>(simd: S, grade: &mut OutputGradients<'_>, row: usize, smoothing: f32) -> Sums {
    let classes = grade.outputs;
    let sample = grade.rows[row] as usize;
    let class = grade.y[sample] as usize;
    let weight = grade.weights[class];
    let z = &mut grade.z[row * grade.stride..][..grade.stride];
    z[classes..].fill(f32::NEG_INFINITY);
    let (hard, soft) = ((1.0 - smoothing) * weight, smoothing * weight / classes as f32);
    let mut linear = hard * z[class];
    if smoothing > 0.0 {
        linear += soft * z[..classes].iter().sum::<f32>();
    }
    let (peak, sum) = softmax(simd, z, weight);
    z[class] -= hard;
    if smoothing > 0.0 {
        z[..classes].iter_mut().for_each(|z| *z -= soft);
    }
    z[classes..].fill(0.0);
    Sums { loss: weight * (peak + sum.ln()) - linear, weight }
}

/// z = mass * softmax(z); returns the largest z and the sum of exp(z - largest).
#[inline(always)]
fn softmax<S: Simd>(simd: S, z: &mut [f32], mass: f32) -> (f32, f32) {
    let (at, len) = (z.as_mut_ptr(), z.len());
    let mut peak = simd.splat_f32s(f32::NEG_INFINITY);
    let mut sum = simd.splat_f32s(0.0);
    // SAFETY: the row's stride is a multiple of PAD, which is one of the lanes.
    unsafe {
        for i in (0..len).step_by(S::F32_LANES) {
            peak = simd.max_f32s(peak, load::<S>(at.add(i)));
        }
        let peak = simd.reduce_max_f32s(peak);
        for i in (0..len).step_by(S::F32_LANES) {
            let e = exp(simd, simd.sub_f32s(load::<S>(at.add(i)), simd.splat_f32s(peak)));
            sum = simd.add_f32s(sum, e);
            store::<S>(at.add(i), e);
        }
        let sum = simd.reduce_sum_f32s(sum);
        let factor = simd.splat_f32s(mass / sum);
        for i in (0..len).step_by(S::F32_LANES) {
            store::<S>(at.add(i), simd.mul_f32s(load::<S>(at.add(i)), factor));
        }
        (peak, sum)
    }
}
