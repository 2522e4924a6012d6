//! The forward and backward passes of one part's samples, tile by tile.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::formula;
use super::loss::{OutputGradients, Sums};
use super::pairs::tile::{PairGradients, PairOutputs};
use super::plan::{LayerOffsets, Plan, SLACK};
use super::row_goal::RowGoal;
use super::shape::MlpShape;
use crate::kernels::product::{Left, Right, SumTarget, product};
use crate::kernels::sweep::Sweep;
use crate::program::{Curve, slices::Memory};
use crate::simd::{each, load, store};
use pulp::{Simd, WithSimd};

/// Trains on one part of the batch: all its tiles, added into its row of the partial sums.
pub(super) struct Train<'a> {
    pub p: &'a MlpShape,
    pub plan: &'a Plan,
    pub activation: &'a Curve,
    pub goal: &'a RowGoal,
    /// The threshold of this step, for pairs.
    pub tau: f32,
    pub x: &'a [f32],
    pub y: &'a [f32],
    pub rows: &'a [u32],
    pub weights: &'a [f32],
    pub params: &'a [f32],
    pub shared: &'a [f32],
    pub own: &'a mut [f32],
    pub partial: &'a mut [f32],
}

impl WithSimd for Train<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Train { p, plan, own, partial, .. } = self;
        let total = p.total as usize;
        if self.rows.is_empty() {
            return partial.fill(0.0);
        }
        clear_gaps(p, partial);
        clear(plan, own);
        let mut memory = Memory::take(Sweep::words(self.activation) + self.goal.register_words());
        let (of_activation, of_loss) = memory.words().split_at_mut(Sweep::words(self.activation));
        let mut sweep = Sweep::new(self.activation, true, of_activation);
        let mut registers = self.goal.registers(of_loss);
        let mut sums = Sums::default();
        for (t, rows) in self.rows.chunks(plan.tile).enumerate() {
            gather(plan, self.x, rows, own);
            descend(simd, plan, &mut sweep, Keeping::Slopes, rows.len(), self.shared, own);
            let (z, stride, work) = ends(plan, own, rows.len());
            let (y, weights, outputs) = (self.y, self.weights, plan.places()[plan.depth - 1].outputs);
            sums.add(match (&p.pairs, self.goal) {
                (Some(pairing), RowGoal::Pairs(rule)) => {
                    let (rule, tau, params) = (*rule, self.tau, self.params);
                    simd.vectorize(PairGradients { pairing, rule, tau, z, stride, work, y, rows, params, partial })
                }
                (_, RowGoal::Pairs(_)) => unreachable!("the model makes no pairs"),
                (_, RowGoal::Pointwise(curve)) => formula::grade(
                    curve,
                    &mut registers,
                    OutputGradients { z, stride, outputs, y, rows, weights, work },
                ),
                (_, RowGoal::CrossEntropy { smoothing }) => {
                    OutputGradients { z, stride, outputs, y, rows, weights, work }.cross_entropy(*smoothing)
                }
            });
            for l in (0..plan.depth).rev() {
                let (place, layer) = (&plan.places()[l], &p.layers[l]);
                let delta = if l + 1 == plan.depth { plan.last } else { place.delta };
                let (weight, bias) = (layer.weight as usize, layer.bias as usize);
                let gradient = Gradient { place, delta, rows: rows.len(), fresh: t == 0, weight, bias, own, partial };
                simd.vectorize(gradient);
                if l > 0 {
                    simd.vectorize(Ascend {
                        place,
                        delta,
                        below: plan.places()[l - 1].delta,
                        rows: rows.len(),
                        shared: self.shared,
                        own,
                    });
                }
            }
        }
        partial[total] = sums.loss;
        partial[total + 1] = sums.weight;
    }
}

/// The forward pass alone, tile by tile.
pub(super) struct Predict<'a> {
    pub p: &'a MlpShape,
    pub plan: &'a Plan,
    pub activation: &'a Curve,
    pub x: &'a [f32],
    pub params: &'a [f32],
    pub shared: &'a [f32],
    pub own: &'a mut [f32],
    pub out: &'a mut [f32],
}

impl WithSimd for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Predict { p, plan, own, .. } = self;
        let (inputs, width) = (p.inputs as usize, p.output_words());
        clear(plan, own);
        let mut memory = Memory::take(Sweep::words(self.activation));
        let mut sweep = Sweep::new(self.activation, false, memory.words());
        let numbers: [u32; super::plan::TILE] = std::array::from_fn(|i| i as u32);
        for (x, out) in self.x.chunks(plan.tile * inputs).zip(self.out.chunks_mut(plan.tile * width)) {
            let rows = &numbers[..x.len() / inputs];
            gather(plan, x, rows, own);
            descend(simd, plan, &mut sweep, Keeping::Values, rows.len(), self.shared, own);
            let (z, stride, work) = ends(plan, own, rows.len());
            if let Some(pairing) = &p.pairs {
                simd.vectorize(PairOutputs { pairing, z, stride, work, params: self.params, out });
                continue;
            }
            for (out, z) in out.chunks_mut(width).zip(z.chunks(stride)) {
                out.copy_from_slice(&z[..width]);
            }
        }
    }
}

/// Clears the words between tensors and after the last, which must be zero in every row of partial sums.
fn clear_gaps(p: &MlpShape, partial: &mut [f32]) {
    let total = p.total as usize;
    let mut end = 0;
    for layer in p.layers() {
        let (weight, bias) = (layer.weight as usize, layer.bias as usize);
        partial[end..weight].fill(0.0);
        partial[weight + (layer.inputs * layer.outputs) as usize..bias].fill(0.0);
        end = bias + layer.outputs as usize;
    }
    partial[end..total + 64].fill(0.0);
}

/// Clears the place of the tiles' rows of x: their padding, and the rows after the last that a block may read, are not written again.
#[inline(always)]
fn clear(plan: &Plan, own: &mut [f32]) {
    let LayerOffsets { input_stride, input, .. } = plan.places()[0];
    own[input..][..(plan.tile + SLACK) * input_stride].fill(0.0);
}

/// Copies the tile's rows of x to their places; four words at a time, because the browser build is not vectorised automatically.
#[inline(always)]
fn gather(plan: &Plan, x: &[f32], rows: &[u32], own: &mut [f32]) {
    let LayerOffsets { inputs, input_stride, input, .. } = plan.places()[0];
    let tile = &mut own[input..][..rows.len() * input_stride];
    for (out, &row) in tile.chunks_exact_mut(input_stride).zip(rows) {
        let (quads, rest) = x[row as usize * inputs..][..inputs].as_chunks::<4>();
        let (out_quads, out_rest) = out[..inputs].as_chunks_mut::<4>();
        for (out, quad) in out_quads.iter_mut().zip(quads) {
            *out = *quad;
        }
        for (out, x) in out_rest.iter_mut().zip(rest) {
            *out = *x;
        }
    }
}

/// What a forward pass keeps.
#[derive(Clone, Copy, PartialEq)]
enum Keeping {
    /// Activations in the next layer's input.
    Values,
    /// Activations, and slopes in delta for the backward pass.
    Slopes,
}

/// All layers forward.
#[inline(always)]
fn descend<S: Simd>(
    simd: S,
    plan: &Plan,
    sweep: &mut Sweep<'_>,
    keeping: Keeping,
    rows: usize,
    shared: &[f32],
    own: &mut [f32],
) {
    for (l, place) in plan.places().iter().enumerate() {
        let out = plan.output(l);
        simd.vectorize(Descend { place, out, rows, shared, own });
        if l + 1 < plan.depth {
            let words = rows * place.stride;
            let [z, slopes] = own
                .get_disjoint_mut([out..out + words, place.delta..place.delta + words])
                .expect("places do not overlap");
            let slopes = (keeping == Keeping::Slopes).then_some(slopes);
            sweep.run(z, slopes);
        }
    }
}

/// The outputs of the last layer for `rows` rows, the stride of its rows, and the working memory of the loss.
#[inline(always)]
fn ends<'a>(plan: &Plan, own: &'a mut [f32], rows: usize) -> (&'a mut [f32], usize, &'a mut [f32]) {
    let stride = plan.places()[plan.depth - 1].stride;
    let ranges = [plan.last..plan.last + rows * stride, plan.loss..plan.loss + plan.loss_words];
    let [z, work] = own.get_disjoint_mut(ranges).expect("places do not overlap");
    (z, stride, work)
}

/// z = a W^T + b of one layer and tile.
struct Descend<'a> {
    place: &'a LayerOffsets,
    out: usize,
    rows: usize,
    shared: &'a [f32],
    own: &'a mut [f32],
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
struct Ascend<'a> {
    place: &'a LayerOffsets,
    delta: usize,
    below: usize,
    rows: usize,
    shared: &'a [f32],
    own: &'a mut [f32],
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
struct Gradient<'a> {
    place: &'a LayerOffsets,
    delta: usize,
    rows: usize,
    fresh: bool,
    weight: usize,
    bias: usize,
    own: &'a [f32],
    partial: &'a mut [f32],
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
