//! The products of one layer over one tile: forward, by the weights, and by the inputs.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::plan::{LayerOffsets, SLACK};
use crate::kernels::product::{Left, Right, SumTarget, product};
use crate::simd::{each, load, store};
use pulp::{Simd, WithSimd};

/// z = a W^T + b of one layer and tile.
pub(super) struct Descend<'a> {
    pub place: &'a LayerOffsets,
    pub out: usize,
    pub rows: usize,
    pub shared: &'a [f32],
    pub own: &'a mut [f32],
}

impl WithSimd for Descend<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let LayerOffsets { inputs, outputs, input_stride, stride, down, bias, input, .. } = *self.place;
        let rows = self.rows + SLACK;
        let ranges = [input..input + rows * input_stride, self.out..self.out + rows * stride];
        let [left, out] = self.own.get_disjoint_mut(ranges).expect("places do not overlap");
        let (right, bias) = (&self.shared[down..][..inputs * stride], &self.shared[bias..][..stride]);
        let ends = Affine { bias: bias.as_ptr(), out: out.as_mut_ptr(), stride };
        let left = Left { at: left.as_ptr(), row: input_stride, step: 1 };
        // SAFETY: the slices above, SLACK rows longer than the tile, cover what the product touches.
        unsafe { product(simd, self.rows, outputs, inputs, left, Right { at: right.as_ptr(), stride }, &ends) }
    }
}

struct Affine {
    bias: *const f32,
    out: *mut f32,
    stride: usize,
}

impl SumTarget for Affine {
    #[inline(always)]
    unsafe fn start<S: Simd>(&self, _simd: S, _row: usize, column: usize) -> S::f32s {
        // SAFETY: the bias is padded to whole vectors.
        unsafe { load::<S>(self.bias.add(column)) }
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(&self, _simd: S, row: usize, column: usize, sum: S::f32s) {
        // SAFETY: rows of the output are padded to whole vectors, and there are SLACK more than the tile has.
        unsafe { store::<S>(self.out.add(row * self.stride + column), sum) }
    }
}

/// dz of the layer below = (dz W) * f'(z), written over f'(z).
pub(super) struct Ascend<'a> {
    pub place: &'a LayerOffsets,
    pub delta: usize,
    pub below: usize,
    pub rows: usize,
    pub shared: &'a [f32],
    pub own: &'a mut [f32],
}

impl WithSimd for Ascend<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let LayerOffsets { inputs, outputs, input_stride, stride, up, .. } = *self.place;
        let rows = self.rows + SLACK;
        let ranges = [self.below..self.below + rows * input_stride, self.delta..self.delta + rows * stride];
        let [below, left] = self.own.get_disjoint_mut(ranges).expect("places do not overlap");
        let (below, right) = (below.as_mut_ptr(), &self.shared[up..][..outputs * input_stride]);
        let (left, right) =
            (Left { at: left.as_ptr(), row: stride, step: 1 }, Right { at: right.as_ptr(), stride: input_stride });
        // SAFETY: the slices above, SLACK rows longer than the tile, cover what the product touches.
        unsafe { product(simd, self.rows, inputs, outputs, left, right, &Slope { below, stride: input_stride }) }
    }
}

struct Slope {
    below: *mut f32,
    stride: usize,
}

impl SumTarget for Slope {
    #[inline(always)]
    unsafe fn start<S: Simd>(&self, simd: S, _row: usize, _column: usize) -> S::f32s {
        simd.splat_f32s(0.0)
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(&self, simd: S, row: usize, column: usize, sum: S::f32s) {
        // SAFETY: rows are padded to whole vectors, and there are SLACK more than the tile has.
        unsafe {
            let at = self.below.add(row * self.stride + column);
            store::<S>(at, simd.mul_f32s(sum, load::<S>(at)));
        }
    }
}

/// dW += dz^T a and db += sum dz of one layer and tile; the first tile of a part stores instead.
pub(super) struct Gradient<'a> {
    pub place: &'a LayerOffsets,
    pub delta: usize,
    pub rows: usize,
    pub fresh: bool,
    pub weight: usize,
    pub bias: usize,
    pub own: &'a [f32],
    pub partial: &'a mut [f32],
}

impl WithSimd for Gradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let LayerOffsets { inputs, outputs, input_stride, stride, input, .. } = *self.place;
        let rows = self.rows + SLACK;
        let (delta, right) = (&self.own[self.delta..][..rows * stride], &self.own[input..][..rows * input_stride]);
        let (left, right) =
            (Left { at: delta.as_ptr(), row: 1, step: stride }, Right { at: right.as_ptr(), stride: input_stride });
        let out = self.partial[self.weight..][..inputs * outputs].as_mut_ptr();
        let ends = Accumulate { out, inputs, outputs, fresh: self.fresh };
        // SAFETY: reading past the outputs stays in delta's SLACK rows; `Accumulate` skips words outside the gradient.
        unsafe { product(simd, outputs, inputs, self.rows, left, right, &ends) }
        bias_gradient(simd, delta, stride, self.rows, self.fresh, &mut self.partial[self.bias..][..outputs]);
    }
}

struct Accumulate {
    out: *mut f32,
    inputs: usize,
    outputs: usize,
    fresh: bool,
}

impl SumTarget for Accumulate {
    #[inline(always)]
    unsafe fn start<S: Simd>(&self, simd: S, _row: usize, _column: usize) -> S::f32s {
        simd.splat_f32s(0.0)
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(&self, simd: S, row: usize, column: usize, sum: S::f32s) {
        if row >= self.outputs {
            return;
        }
        // SAFETY: row < outputs, and the length stays within the row.
        let out = unsafe {
            let len = S::F32_LANES.min(self.inputs - column);
            std::slice::from_raw_parts_mut(self.out.add(row * self.inputs + column), len)
        };
        add_into(simd, out, sum, self.fresh);
    }
}

/// Four vectors at a time, since additions to a single sum would wait for each other.
#[inline(always)]
fn bias_gradient<S: Simd>(simd: S, delta: &[f32], stride: usize, rows: usize, fresh: bool, out: &mut [f32]) {
    const V: usize = 4;
    let ends = delta.len() >= (rows + SLACK) * stride && SLACK * stride >= V * S::F32_LANES;
    assert!(ends && stride >= out.len());
    for (v, out) in out.chunks_mut(V * S::F32_LANES).enumerate() {
        let mut sums = [simd.splat_f32s(0.0); V];
        let mut at = delta.as_ptr().wrapping_add(v * V * S::F32_LANES);
        for _ in 0..rows {
            each!(k < V {
                // SAFETY: the last vectors of a row may lie in the next, and there are SLACK more than the tile has.
                sums[k] = simd.add_f32s(sums[k], unsafe { load::<S>(at.add(k * S::F32_LANES)) });
            });
            at = at.wrapping_add(stride);
        }
        for (sum, out) in sums.into_iter().zip(out.chunks_mut(S::F32_LANES)) {
            add_into(simd, out, sum, fresh);
        }
    }
}

/// out (+)= sum, for at most one vector of words.
#[inline(always)]
fn add_into<S: Simd>(simd: S, out: &mut [f32], sum: S::f32s, fresh: bool) {
    if out.len() < S::F32_LANES {
        let sum = if fresh { sum } else { simd.add_f32s(sum, simd.partial_load_f32s(out)) };
        return simd.partial_store_f32s(out, sum);
    }
    // SAFETY: out has a whole vector.
    unsafe {
        let sum = if fresh { sum } else { simd.add_f32s(sum, load::<S>(out.as_ptr())) };
        store::<S>(out.as_mut_ptr(), sum);
    }
}
