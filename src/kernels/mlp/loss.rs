//! Losses of one tile and their gradients with respect to the last layer's z (sums over samples, means over outputs; see the parent's contract):
//! mse (z-y)^2 · mae |z-y| · huber · bce max(z,0) - zy + ln(1 + exp(-|z|)) · cross-entropy with class weights and smoothing e:
//! l = (1-e) w_y (-ln p_y) + e/C sum_c w_c (-ln p_c), whose weight is w_y.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::Loss;
use super::plan::PAD;
use crate::kernels::elementary::{exp, softplus};
use crate::kernels::simd::{at_least, at_most, load, store};
use pulp::{Simd, WithSimd};

/// What a tile adds to the loss sum and to the weight sum.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
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
pub(super) struct Grade<'a> {
    pub loss: Loss,
    pub z: &'a mut [f32],
    pub stride: usize,
    pub outputs: usize,
    pub y: &'a [f32],
    pub rows: &'a [u32],
    pub weights: &'a [f32],
    pub work: &'a mut [f32],
}

impl WithSimd for Grade<'_> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Sums {
        match self.loss {
            Loss::Mse => pointwise(simd, &mut self, Mse),
            Loss::Mae => pointwise(simd, &mut self, Mae),
            Loss::Huber { delta } => pointwise(simd, &mut self, Huber(delta)),
            Loss::Bce => pointwise(simd, &mut self, Bce),
            Loss::Pairs(_) => unreachable!("pairs come from a head"),
            Loss::CrossEntropy { smoothing } => {
                let mut sums = Sums::default();
                for row in 0..self.rows.len() {
                    sums.add(cross_entropy(simd, &mut self, row, smoothing));
                }
                sums
            }
        }
    }
}

/// (loss, gradient) of one output against its target.
trait Pointwise: Copy {
    /// The z that gives loss 0 against target 0.
    const REST: f32 = 0.0;
    fn at<S: Simd>(self, simd: S, z: S::f32s, y: S::f32s) -> (S::f32s, S::f32s);
}

/// The outputs are first laid side by side, so that a model with one output fills the lanes too.
#[inline(always)]
fn pointwise<S: Simd, P: Pointwise>(simd: S, grade: &mut Grade<'_>, loss: P) -> Sums {
    let (rows, outputs) = (grade.rows.len(), grade.outputs);
    let (used, third) = (rows * outputs, grade.work.len() / 3);
    let len = used.next_multiple_of(PAD);
    let (z, rest) = grade.work.split_at_mut(third);
    let (y, l) = rest.split_at_mut(third);
    let (z, y, l) = (&mut z[..len], &mut y[..len], &mut l[..len]);
    // By columns: a call to copy a short row costs more than its words do one by one.
    for output in 0..outputs {
        for (row, &sample) in grade.rows.iter().enumerate() {
            z[row * outputs + output] = grade.z[row * grade.stride + output];
            y[row * outputs + output] = grade.y[sample as usize * outputs + output];
        }
    }
    z[used..].fill(P::REST);
    y[used..].fill(0.0);
    let mean = simd.splat_f32s(1.0 / outputs as f32);
    let mut sum = simd.splat_f32s(0.0);
    for i in (0..len).step_by(S::F32_LANES) {
        // SAFETY: len is a multiple of PAD, which is one of the lanes.
        unsafe {
            let (value, slope) = loss.at(simd, load::<S>(z.as_ptr().add(i)), load::<S>(y.as_ptr().add(i)));
            sum = simd.add_f32s(sum, value);
            store::<S>(l.as_mut_ptr().add(i), simd.mul_f32s(slope, mean));
        }
    }
    for output in 0..outputs {
        for row in 0..rows {
            grade.z[row * grade.stride + output] = l[row * outputs + output];
        }
    }
    Sums { loss: simd.reduce_sum_f32s(sum) / outputs as f32, weight: rows as f32 }
}

#[derive(Clone, Copy)]
struct Mse;
impl Pointwise for Mse {
    #[inline(always)]
    fn at<S: Simd>(self, simd: S, z: S::f32s, y: S::f32s) -> (S::f32s, S::f32s) {
        let d = simd.sub_f32s(z, y);
        (simd.mul_f32s(d, d), simd.add_f32s(d, d))
    }
}

#[derive(Clone, Copy)]
struct Mae;
impl Pointwise for Mae {
    #[inline(always)]
    fn at<S: Simd>(self, simd: S, z: S::f32s, y: S::f32s) -> (S::f32s, S::f32s) {
        let d = simd.sub_f32s(z, y);
        (simd.abs_f32s(d), sign(simd, d))
    }
}

/// -1, 0 or 1; NaN for NaN.
#[inline(always)]
fn sign<S: Simd>(simd: S, d: S::f32s) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    let up = simd.select_f32s(simd.greater_than_f32s(d, zero), simd.splat_f32s(1.0), d);
    simd.select_f32s(simd.less_than_f32s(d, zero), simd.splat_f32s(-1.0), up)
}

#[derive(Clone, Copy)]
struct Huber(f32);
impl Pointwise for Huber {
    #[inline(always)]
    fn at<S: Simd>(self, simd: S, z: S::f32s, y: S::f32s) -> (S::f32s, S::f32s) {
        let (d, delta) = (simd.sub_f32s(z, y), simd.splat_f32s(self.0));
        let near = at_most(simd, delta, at_least(simd, simd.neg_f32s(delta), d));
        // near (d - near/2) is d^2/2 inside and delta (|d| - delta/2) outside.
        let middle = simd.sub_f32s(d, simd.mul_f32s(near, simd.splat_f32s(0.5)));
        (simd.mul_f32s(near, middle), near)
    }
}

#[derive(Clone, Copy)]
struct Bce;
impl Pointwise for Bce {
    const REST: f32 = -200.0;

    #[inline(always)]
    fn at<S: Simd>(self, simd: S, z: S::f32s, y: S::f32s) -> (S::f32s, S::f32s) {
        let (value, slope) = softplus(simd, z);
        (simd.sub_f32s(value, simd.mul_f32s(z, y)), simd.sub_f32s(slope, y))
    }
}

/// One row: p = softmax(z), dl/dz_j = ((1-e) w_y + e/C sum w) p_j - (1-e) w_y [j = y] - e/C w_j.
#[inline(always)]
fn cross_entropy<S: Simd>(simd: S, grade: &mut Grade<'_>, row: usize, smoothing: f32) -> Sums {
    let classes = grade.outputs;
    let sample = grade.rows[row] as usize;
    let (class, weights) = (grade.y[sample] as usize, &grade.weights[..classes]);
    let z = &mut grade.z[row * grade.stride..][..grade.stride];
    z[classes..].fill(f32::NEG_INFINITY);
    let (hard, soft) = ((1.0 - smoothing) * weights[class], smoothing / classes as f32);
    let mut all = 0.0;
    let mut linear = hard * z[class];
    if smoothing > 0.0 {
        all = soft * weights.iter().sum::<f32>();
        linear += soft * weights.iter().zip(&*z).map(|(w, z)| w * z).sum::<f32>();
    }
    let (peak, sum) = softmax(simd, z, hard + all);
    z[class] -= hard;
    if smoothing > 0.0 {
        z.iter_mut().zip(weights).for_each(|(z, w)| *z -= soft * w);
    }
    z[classes..].fill(0.0);
    let log_sum = peak + sum.ln();
    Sums { loss: (hard + all) * log_sum - linear, weight: weights[class] }
}

/// z = mass * softmax(z); gives the largest z and the sum of exp(z - largest).
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
