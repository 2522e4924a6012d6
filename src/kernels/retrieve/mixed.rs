//! The CPU path of retrieval with states that are vectors: a few rows at a time pass over the states together, tile by tile.

use super::rows::Candidates;
use super::{Cue, FIGURES, FLOOR, Form, Params, Storage};
use crate::device::Call;
use crate::kernels::common::{self, Variant};
use crate::kernels::halves::Half;
use crate::simd::double::{exp, ln};
use crate::simd::{vector, widened};

/// Rows that pass over the states together.
const ROWS: usize = 4;
/// Keys whose weights are made at a time.
const TILE: usize = 128;
/// The logit of a key that is no candidate.
const ABSENT: f32 = f32::MIN;

pub(super) fn run(call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Form>>().kind;
    let unpacked = (form.storage == Storage::Halves).then(|| unpacked(call.inputs[2], &params));
    let states = unpacked.as_deref().unwrap_or_else(|| call.floats(2));
    let memory = &Memory { params, form, candidates: Candidates::of(&call, &params, states), states };
    let [queries, targets] = [call.floats(0), call.floats(3)];
    let [rows, keys, coordinates, width] =
        [params.rows, params.keys, params.coordinates, params.width].map(|size| size as usize);
    let [pulls, found] = call.outputs else { unreachable!("retrieval has two outputs") };
    let pulls = &mut bytemuck::cast_slice_mut::<u32, f32>(pulls)[..rows * keys];
    let found = &mut bytemuck::cast_slice_mut::<u32, f32>(found)[..rows * (FIGURES + width)];
    let pieces = pulls.chunks_mut(ROWS * keys).zip(found.chunks_mut(ROWS * (FIGURES + width))).enumerate();
    common::each(pieces, call.pool, |(at, (pulls, found))| {
        let queries = &queries[at * ROWS * coordinates..];
        let targets = &targets[at * ROWS * (width + 1)..];
        memory.candidates.distances(queries, targets, pulls);
        Block { memory, targets, rows: pulls.len() / keys }.fill(pulls, found);
    });
}

/// States [keys, width + 1] from halves and the numbers of the rows behind them.
fn unpacked(words: &[u32], params: &Params) -> Vec<f32> {
    let (keys, width) = (params.keys as usize, params.width as usize);
    let (halves, ids) = words.split_at((keys * width).div_ceil(2));
    let mut states = vec![0.0; keys * (width + 1)];
    let rows = states.chunks_exact_mut(width + 1).zip(bytemuck::cast_slice::<u32, u16>(halves).chunks_exact(width));
    for ((state, halves), id) in rows.zip(ids) {
        Half::F16.unpack(halves, &mut state[..width]);
        state[width] = f32::from_bits(*id);
    }
    states
}

struct Memory<'m> {
    params: Params,
    form: Form,
    candidates: Candidates<'m>,
    states: &'m [f32],
}

/// Rows that pass over the states together, at most [`ROWS`].
struct Block<'b> {
    memory: &'b Memory<'b>,
    targets: &'b [f32],
    rows: usize,
}

/// The largest logit of a pass, and the sum of exponentials over it.
#[derive(Clone, Copy)]
struct Pass {
    top: f32,
    total: f32,
}

impl Pass {
    const EMPTY: Self = Self { top: ABSENT, total: 0.0 };

    fn inverse(self) -> f32 {
        if self.total > 0.0 { 1.0 / self.total } else { 0.0 }
    }
}

impl Block<'_> {
    fn width(&self) -> usize {
        self.memory.params.width as usize
    }

    fn target(&self, row: usize) -> &[f32] {
        &self.targets[row * (self.width() + 1)..][..self.width()]
    }

    fn state(&self, key: usize) -> &[f32] {
        &self.memory.states[key * (self.width() + 1)..][..self.width()]
    }

    /// -β R per distance.
    fn sharpness(&self) -> f32 {
        self.memory.params.sharpness * self.memory.candidates.curvature
    }

    /// From distances in `pulls`, negative where a key is no candidate, to pulls, figures and mixes.
    fn fill(&self, pulls: &mut [f32], found: &mut [f32]) {
        let (keys, width) = (self.memory.params.keys as usize, self.width());
        let mut mixes = vec![0.0; self.rows * width];
        let mut sums = mixes.clone();
        let free = self.pass(pulls, &mixes, 0.0, &mut sums);
        for ((mix, sums), pass) in mixes.chunks_exact_mut(width).zip(sums.chunks_exact(width)).zip(free) {
            mix.iter_mut().zip(sums).for_each(|(mix, sum)| *mix = sum * pass.inverse());
        }
        for (row, (found, mix)) in found.chunks_exact_mut(FIGURES + width).zip(mixes.chunks_exact(width)).enumerate() {
            let figures = self.figures(&pulls[row * keys..][..keys], free[row], self.loss(row, mix));
            found[..FIGURES].copy_from_slice(&figures);
            found[FIGURES..].copy_from_slice(mix);
        }
        let nudge = self.memory.params.nudge;
        let mut below = mixes.clone();
        let up = self.relaxed(pulls, &mut mixes, nudge, &mut sums);
        let mut down = free;
        if self.memory.form.is_symmetric {
            down = self.relaxed(pulls, &mut below, -nudge, &mut sums);
        }
        self.pull([&mixes, &below], [up, down], pulls);
    }

    fn figures(&self, distances: &[f32], pass: Pass, loss: f64) -> [f32; FIGURES] {
        let (mut apart, mut logits) = (0.0, 0.0);
        for &distance in distances[..self.memory.candidates.filled].iter().filter(|distance| **distance >= 0.0) {
            let logit = -self.sharpness() * distance - pass.top;
            let weight = exp(f64::from(logit)) * f64::from(pass.inverse());
            apart += weight * f64::from(distance);
            logits += weight * f64::from(logit);
        }
        let entropy = if pass.total > 0.0 { logits - ln(f64::from(pass.total)) } else { 0.0 };
        [loss, f64::from(self.memory.candidates.curvature) * apart, apart, entropy].map(|figure| figure as f32)
    }

    fn loss(&self, row: usize, mix: &[f32]) -> f64 {
        let pairs = || mix.iter().zip(self.target(row)).map(|(&y, &target)| (f64::from(y), f64::from(target)));
        match self.memory.form.cue {
            Cue::Squared => pairs().map(|(y, target)| 0.5 * (y - target) * (y - target)).sum(),
            Cue::CrossEntropy => -ln(pairs().map(|(y, target)| y * target).sum::<f64>() + FLOOR),
        }
    }

    /// dC/dy at the mixes, times β and the nudge.
    fn slopes(&self, mixes: &[f32], nudge: f32) -> Vec<f32> {
        let scale = self.memory.params.sharpness * nudge;
        let mut slopes = vec![0.0; mixes.len()];
        let rows = slopes.chunks_exact_mut(self.width()).zip(mixes.chunks_exact(self.width()));
        for (row, (slopes, mix)) in rows.enumerate() {
            let target = self.target(row);
            let own = mix.iter().zip(target).map(|(y, target)| y * target).sum::<f32>() + FLOOR as f32;
            for ((slope, y), target) in slopes.iter_mut().zip(mix).zip(target) {
                *slope = scale * if self.memory.form.cue == Cue::Squared { y - target } else { -target / own };
            }
        }
        slopes
    }

    /// Relaxes the mixes under a nudge; the pass at the end.
    fn relaxed(&self, distances: &[f32], mixes: &mut [f32], nudge: f32, sums: &mut [f32]) -> [Pass; ROWS] {
        let rate = self.memory.params.rate;
        for _ in 0..self.memory.params.steps {
            let passes = self.pass(distances, mixes, nudge, sums);
            let rows = mixes.chunks_exact_mut(self.width()).zip(sums.chunks_exact(self.width()));
            for ((mix, sums), pass) in rows.zip(passes) {
                mix.iter_mut().zip(sums).for_each(|(mix, sum)| *mix += rate * (sum * pass.inverse() - *mix));
            }
        }
        self.pass(distances, mixes, nudge, sums)
    }

    /// Leaves in `sums` the states of the keys, weighted by exp(logit - top).
    fn pass(&self, distances: &[f32], mixes: &[f32], nudge: f32, sums: &mut [f32]) -> [Pass; ROWS] {
        let (keys, width) = (self.memory.params.keys as usize, self.width());
        let slopes = self.slopes(mixes, nudge);
        let mut passes = [Pass::EMPTY; ROWS];
        let mut logits = [[0.0; TILE]; ROWS];
        sums.fill(0.0);
        for from in (0..self.memory.candidates.filled).step_by(TILE) {
            let count = TILE.min(self.memory.candidates.filled - from);
            for (row, logits) in logits.iter_mut().enumerate().take(self.rows) {
                self.logits(&distances[row * keys + from..][..count], logits);
            }
            if nudge != 0.0 {
                widened(|| self.nudge(from, &slopes, &mut logits, count));
            }
            for (row, logits) in logits.iter_mut().enumerate().take(self.rows) {
                let kept = weigh(&mut logits[..count], &mut passes[row]);
                sums[row * width..][..width].iter_mut().for_each(|sum| *sum *= kept);
            }
            widened(|| self.add(from, &logits, sums, count));
        }
        passes
    }

    fn logits(&self, distances: &[f32], logits: &mut [f32]) {
        let sharpness = self.sharpness();
        for (logit, &apart) in logits.iter_mut().zip(distances) {
            *logit = if apart >= 0.0 { -sharpness * apart } else { ABSENT };
        }
    }

    /// Subtracts β b e from the logits of candidates.
    #[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
    #[inline(always)]
    fn nudge(&self, from: usize, slopes: &[f32], logits: &mut [[f32; TILE]; ROWS], count: usize) {
        for at in 0..count {
            let state = self.state(from + at);
            for (slopes, logits) in slopes.chunks_exact(self.width()).zip(logits.iter_mut()) {
                if logits[at] != ABSENT {
                    logits[at] -= dot(state, slopes);
                }
            }
        }
    }

    /// Adds a tile of weighted states to the sums.
    #[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
    #[inline(always)]
    fn add(&self, from: usize, weights: &[[f32; TILE]; ROWS], sums: &mut [f32], count: usize) {
        for at in 0..count {
            let state = self.state(from + at);
            for (sums, weights) in sums.chunks_exact_mut(self.width()).zip(weights) {
                sums.iter_mut().zip(state).for_each(|(sum, state)| *sum += weights[at] * state);
            }
        }
    }

    /// Replaces distances by pulls, from the mixes and passes of both phases.
    fn pull(&self, mixes: [&[f32]; 2], passes: [[Pass; ROWS]; 2], pulls: &mut [f32]) {
        let memory = self.memory;
        let (keys, width, nudge) = (memory.params.keys as usize, self.width(), memory.params.nudge);
        let is_symmetric = memory.form.is_symmetric;
        let slopes = [self.slopes(mixes[0], nudge), self.slopes(mixes[1], if is_symmetric { -nudge } else { 0.0 })];
        let scale = memory.candidates.curvature / if is_symmetric { 2.0 * nudge } else { nudge };
        for (row, pulls) in pulls.chunks_exact_mut(keys).enumerate() {
            let (held, empty) = pulls.split_at_mut(memory.candidates.filled);
            empty.fill(0.0);
            let slopes = [&slopes[0][row * width..][..width], &slopes[1][row * width..][..width]];
            for (key, pull) in held.iter_mut().enumerate() {
                let apart = *pull;
                let weight = |phase: usize| {
                    let Pass { top, .. } = passes[phase][row];
                    let logit = -self.sharpness() * apart - dot(self.state(key), slopes[phase]);
                    exp(f64::from(logit - top)) as f32 * passes[phase][row].inverse()
                };
                *pull = if apart >= 0.0 { scale * (weight(0) - weight(1)) / apart } else { 0.0 };
            }
        }
    }
}

/// Replaces logits by weights relative to the largest logit so far; what earlier sums are to be multiplied by.
fn weigh(logits: &mut [f32], pass: &mut Pass) -> f32 {
    let top = pass.top.max(common::largest(logits));
    let kept = if pass.top == ABSENT { 0.0 } else { exp(f64::from(pass.top - top)) as f32 };
    let mut shifted = [0.0; TILE];
    let shifted = &mut shifted[..logits.len()];
    for (shifted, &logit) in shifted.iter_mut().zip(logits.iter()) {
        // Far enough below for an exponential of 0, also where every key so far is absent.
        *shifted = if logit == ABSENT { -200.0 } else { logit - top };
    }
    vector::exp(&[shifted], logits);
    *pass = Pass { top, total: pass.total * kept + common::sum(logits) as f32 };
    kept
}

#[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    let (a_chunks, b_chunks) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    rest + lanes.iter().sum::<f32>()
}
