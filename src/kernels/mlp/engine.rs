//! The training step of a small MLP, fused: gather, forward, loss, backward over tiles of samples that stay in cache.
//!   z_l = a_(l-1) W_l^T + b_l,  a_l = f(z_l),  dW_l = dz_l^T a_(l-1),  db_l = sum dz_l,  dz_(l-1) = (dz_l W_l) f'(z_(l-1))
//! Activations are row-major [sample, feature], rows padded to `PAD`, so lanes are features in all three products and only the weights are
//! transposed, once per step. Part k of `parts` owns a fixed run of samples and one row of `partials`: sums do not depend on the number of threads.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::pack::Pack;
use super::plan::{Plan, TILE};
use super::row_goal::RowGoal;
use super::shape::{MlpShape, PAD};
use super::tile::{Predict, Train};
use crate::host::{Disjoint, ThreadPool};
use crate::kernels::random;
use crate::program::{Curve, slices::Memory};
use crate::simd::dispatch;

/// The training rows and their order.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    /// [rows, inputs].
    pub x: &'a [f32],
    /// [rows, targets].
    pub y: &'a [f32],
    /// Table and permutation.
    pub order: &'a [u32],
    /// [outputs] class weights, for cross-entropy.
    pub weights: &'a [f32],
}

/// The key and the stream of the random thresholds.
#[derive(Clone, Copy)]
pub(crate) struct Draw {
    pub seed: [u32; 2],
    pub stream: u32,
}

impl Draw {
    /// The threshold of the step with this number.
    fn threshold(self, goal: &RowGoal, step: u32) -> f32 {
        let RowGoal::Pairs(rule) = goal else { return 0.0 };
        let [low, high] = rule.tau;
        if !rule.is_drawn() {
            return low;
        }
        random::uniform_at(self.seed, self.stream, step) * (high - low) + low
    }
}

/// Gradient sums, loss sum and weight sum of the batch at the cursor: partials[part] = [gradients like params, loss sum, weight sum].
/// x [rows, inputs], y [rows, targets], order = 4 words per step then a permutation of the rows, weights [outputs] for cross-entropy, control
/// [step, cursor, step, cursor], partials [parts, total + 64], scratch of `scratch_words(p)` (initial contents are ignored).
#[allow(clippy::too_many_arguments, reason = "the bindings of one launch, each with its own type")]
pub(crate) fn step(
    p: &MlpShape,
    activation: &Curve,
    (goal, draw): (&RowGoal, Draw),
    batch: Batch<'_>,
    params: &[f32],
    control: &mut [u32],
    partials: &mut [f32],
    scratch: &mut [f32],
    pool: &ThreadPool,
) {
    let Batch { x, y, order, weights } = batch;
    let plan = Plan::new(p);
    let rows = batch_rows(p, order, control[1] as usize);
    control[2] = control[0].wrapping_add(1);
    control[3] = control[1];
    let tau = draw.threshold(goal, control[2]);
    let (shared, own) = aligned(scratch, plan.words(pool.threads())).split_at_mut(plan.shared_words);
    pack(p, &plan, params, shared, pool);
    let (shared, own) = (&*shared, Disjoint::new(own));
    let stride = p.total as usize + 64;
    pool.fill(&mut partials[..plan.parts * stride], stride, &|member, part, partial| {
        // SAFETY: one range per member.
        let own = unsafe { own.range(member * plan.member_words..(member + 1) * plan.member_words) };
        let rows = plan.part_rows(rows, part);
        dispatch(Train { p, plan: &plan, activation, goal, tau, x, y, rows, weights, params, shared, own, partial });
    });
}

/// The weights of a model as `forward` reads them, then the parameters themselves.
pub(crate) fn packed(p: &MlpShape, params: &[f32]) -> Vec<f32> {
    let plan = Plan::of_tile(p, TILE);
    let mut words = vec![0.0; plan.shared_words];
    dispatch(Pack { p, plan: &plan, params, shared: &Disjoint::new(&mut words), piece: 0, pieces: 1 });
    words.extend(params);
    words
}

/// out [rows, outputs], or pairs, = the model at x [rows, inputs]. `params` are packed already, or packed now.
pub(crate) fn forward(
    p: &MlpShape,
    activation: &Curve,
    x: &[f32],
    (params, is_packed): (&[f32], bool),
    out: &mut [f32],
    pool: &ThreadPool,
) {
    let plan = Plan::of_tile(p, TILE);
    let (inputs, output_words) = (p.inputs as usize, p.output_words());
    let rows = out.len() / output_words;
    let pieces = pool.members().min(rows.div_ceil(TILE)).max(1);
    let packed_here = if is_packed { 0 } else { plan.shared_words };
    let words = packed_here + pool.threads() * plan.member_words;
    let mut scratch = Memory::take(words + PAD);
    let (shared, own) = aligned(scratch.words(), words).split_at_mut(packed_here);
    let (shared, params) = if is_packed {
        params.split_at(plan.shared_words)
    } else {
        pack(p, &plan, params, shared, pool);
        (&*shared, params)
    };
    let own = Disjoint::new(own);
    // Several pieces per thread, so that no thread waits long for another that was interrupted.
    let pieces = if pool.threads() > 1 && rows >= 64 * TILE { 8 * pieces } else { pieces };
    let share = rows.div_ceil(pieces).next_multiple_of(TILE);
    pool.fill(out, share * output_words, &|member, piece, out| {
        let x = &x[piece * share * inputs..][..out.len() / output_words * inputs];
        // SAFETY: one range per member.
        let own = unsafe { own.range(member * plan.member_words..(member + 1) * plan.member_words) };
        dispatch(Predict { p, plan: &plan, activation, x, params, shared, own, out });
    });
}

/// The row numbers of the batch at `cursor`.
fn batch_rows<'a>(p: &MlpShape, order: &'a [u32], cursor: usize) -> &'a [u32] {
    let (rows, batch) = (p.rows as usize, p.batch as usize);
    let permutation = &order[4 * p.steps as usize..][..rows];
    &permutation[(cursor * batch).min(rows)..((cursor + 1) * batch).min(rows)]
}

/// Copies the weights into `shared`: [in, out] for the forward pass, [out, in] for the backward pass, rows padded.
fn pack(p: &MlpShape, plan: &Plan, params: &[f32], shared: &mut [f32], pool: &ThreadPool) {
    let pieces = pool.threads();
    let shared = Disjoint::new(shared);
    pool.parallel(pieces, &|piece| dispatch(Pack { p, plan, params, shared: &shared, piece, pieces }));
}

/// `words` words of the slice, from its first cache line boundary.
fn aligned(slice: &mut [f32], words: usize) -> &mut [f32] {
    let skip = slice.as_ptr().align_offset(64);
    &mut slice[skip..skip + words]
}
