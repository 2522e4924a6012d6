//! The forward and backward passes of one part's samples, tile by tile.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::formula;
use super::layer::{Ascend, Descend, Gradient};
use super::loss::{OutputGradients, Sums};
use super::pairs::tile::{PairGradients, PairOutputs};
use super::plan::{LayerOffsets, Plan, SLACK};
use super::row_goal::RowGoal;
use super::shape::MlpShape;
use crate::kernels::sweep::Sweep;
use crate::program::{Curve, slices::Memory};
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
