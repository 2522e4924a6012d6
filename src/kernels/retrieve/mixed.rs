//! The CPU path of retrieval with states that are vectors: a few rows at a time pass over the states together, tile by tile.

use super::rows::Candidates;
use super::tiles::{HELD, ROWS, TILE, Tiles};
use super::{Cue, FIGURES, FLOOR, Form, Params, Storage};
use crate::device::Call;
use crate::kernels::common::{self, Variant};
use crate::kernels::halves::Half;
use crate::simd::double::{exp, ln};
use crate::simd::vector;

/// The logit of a key that is no candidate.
const ABSENT: f32 = f32::MIN;

pub(super) fn run(call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Form>>().kind;
    let unpacked = (form.storage == Storage::Halves).then(|| unpacked(call.inputs[2], &params));
    let states = unpacked.as_deref().unwrap_or_else(|| call.floats(2));
    let [rows, keys, coordinates, width] =
        [params.rows, params.keys, params.coordinates, params.width].map(|size| size as usize);
    let candidates = Candidates::of(&call, &params, states);
    let tiles = Tiles::new(states, width + 1, [candidates.filled, width]);
    let memory = &Memory { params, form, candidates, tiles };
    let [queries, targets] = [call.floats(0), call.floats(3)];
    let [pulls, found] = call.outputs else { unreachable!("retrieval has two outputs") };
    let pulls = &mut bytemuck::cast_slice_mut::<u32, f32>(pulls)[..rows * keys];
    let found = &mut bytemuck::cast_slice_mut::<u32, f32>(found)[..rows * (FIGURES + width)];
    let block = rows.div_ceil(call.pool.threads()).clamp(1, ROWS);
    let pieces = pulls.chunks_mut(block * keys).zip(found.chunks_mut(block * (FIGURES + width))).enumerate();
    common::each(pieces, call.pool, |(at, (pulls, found))| {
        let queries = &queries[at * block * coordinates..];
        let targets = &targets[at * block * (width + 1)..];
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
    tiles: Tiles,
}

/// Rows that pass over the states together, at most [`ROWS`]. Mixes, sums and slopes are [HELD, stride of the tiles].
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

    /// Numbers from one row of mixes to the next.
    fn stride(&self) -> usize {
        self.memory.tiles.stride
    }

    /// -β R per distance.
    fn sharpness(&self) -> f32 {
        self.memory.params.sharpness * self.memory.candidates.curvature
    }

    /// From distances in `pulls`, negative where a key is no candidate, to pulls, figures and mixes.
    fn fill(&self, pulls: &mut [f32], found: &mut [f32]) {
        let (keys, width, stride) = (self.memory.params.keys as usize, self.width(), self.stride());
        let mut mixes = vec![0.0; HELD * stride];
        let mut scratch = Scratch::new(stride);
        let free = self.pass(pulls, &mixes, 0.0, &mut scratch);
        for ((mix, sums), pass) in mixes.chunks_exact_mut(stride).zip(scratch.sums.chunks_exact(stride)).zip(free) {
            mix.iter_mut().zip(sums).for_each(|(mix, sum)| *mix = sum * pass.inverse());
        }
        for (row, (found, mix)) in found.chunks_exact_mut(FIGURES + width).zip(mixes.chunks_exact(stride)).enumerate() {
            let figures = self.figures(&pulls[row * keys..][..keys], free[row], self.loss(row, mix));
            found[..FIGURES].copy_from_slice(&figures);
            found[FIGURES..].copy_from_slice(&mix[..width]);
        }
        let nudge = self.memory.params.nudge;
        let mut below = mixes.clone();
        let up = self.relaxed(pulls, &mut mixes, nudge, &mut scratch);
        let mut down = free;
        if self.memory.form.is_symmetric {
            down = self.relaxed(pulls, &mut below, -nudge, &mut scratch);
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
    fn slopes(&self, mixes: &[f32], nudge: f32, slopes: &mut [f32]) {
        let scale = self.memory.params.sharpness * nudge;
        let rows = slopes.chunks_exact_mut(self.stride()).zip(mixes.chunks_exact(self.stride()));
        for (row, (slopes, mix)) in rows.take(self.rows).enumerate() {
            let target = self.target(row);
            let own = mix.iter().zip(target).map(|(y, target)| y * target).sum::<f32>() + FLOOR as f32;
            for ((slope, y), target) in slopes.iter_mut().zip(mix).zip(target) {
                *slope = scale * if self.memory.form.cue == Cue::Squared { y - target } else { -target / own };
            }
        }
    }

    /// Relaxes the mixes under a nudge; the pass at the end.
    fn relaxed(&self, distances: &[f32], mixes: &mut [f32], nudge: f32, scratch: &mut Scratch) -> [Pass; ROWS] {
        let (rate, stride) = (self.memory.params.rate, self.stride());
        for _ in 0..self.memory.params.steps {
            let passes = self.pass(distances, mixes, nudge, scratch);
            let rows = mixes.chunks_exact_mut(stride).zip(scratch.sums.chunks_exact(stride));
            for ((mix, sums), pass) in rows.zip(passes) {
                mix.iter_mut().zip(sums).for_each(|(mix, sum)| *mix += rate * (sum * pass.inverse() - *mix));
            }
        }
        self.pass(distances, mixes, nudge, scratch)
    }

    /// Leaves in the sums the states of the keys, weighted by exp(logit - top).
    fn pass(&self, distances: &[f32], mixes: &[f32], nudge: f32, scratch: &mut Scratch) -> [Pass; ROWS] {
        let (keys, stride) = (self.memory.params.keys as usize, self.stride());
        let Scratch { slopes, errors, logits, sums } = scratch;
        let mut passes = [Pass::EMPTY; ROWS];
        sums.fill(0.0);
        if nudge != 0.0 {
            self.slopes(mixes, nudge, slopes);
        }
        for (tile, count) in self.tiles() {
            if nudge != 0.0 {
                self.memory.tiles.errors(tile, slopes, self.rows, errors);
            }
            let rows = logits.chunks_exact_mut(TILE).zip(errors.chunks_exact(TILE)).zip(sums.chunks_exact_mut(stride));
            for (row, ((logits, errors), sums)) in rows.take(self.rows).enumerate() {
                let distances = &distances[row * keys + tile * TILE..][..count];
                self.logits(distances, (nudge != 0.0).then_some(errors), logits);
                let kept = weigh(&mut logits[..count], &mut passes[row]);
                if kept != 1.0 {
                    for sum in sums.iter_mut() {
                        *sum *= kept;
                    }
                }
            }
            self.memory.tiles.add(tile, logits, [self.rows, count], sums);
        }
        passes
    }

    /// The tiles of the filled keys, with how many of them each holds.
    fn tiles(&self) -> impl Iterator<Item = (usize, usize)> {
        let filled = self.memory.candidates.filled;
        (0..filled.div_ceil(TILE)).map(move |tile| (tile, TILE.min(filled - tile * TILE)))
    }

    /// -β (cost + b e); `errors` are β b e.
    fn logits(&self, distances: &[f32], errors: Option<&[f32]>, logits: &mut [f32]) {
        let sharpness = self.sharpness();
        let logit = |apart: f32, error: f32| if apart >= 0.0 { -sharpness * apart - error } else { ABSENT };
        match errors {
            Some(errors) => {
                let each = logits.iter_mut().zip(distances).zip(errors);
                each.for_each(|((to, &apart), &error)| *to = logit(apart, error));
            }
            None => logits.iter_mut().zip(distances).for_each(|(to, &apart)| *to = logit(apart, 0.0)),
        }
    }

    /// Replaces distances by pulls, from the mixes and passes of both phases.
    fn pull(&self, mixes: [&[f32]; 2], passes: [[Pass; ROWS]; 2], pulls: &mut [f32]) {
        let memory = self.memory;
        let (keys, nudge) = (memory.params.keys as usize, memory.params.nudge);
        let is_symmetric = memory.form.is_symmetric;
        let mut phases = [Scratch::new(self.stride()), Scratch::new(self.stride())];
        for ((scratch, mixes), nudge) in
            phases.iter_mut().zip(mixes).zip([nudge, if is_symmetric { -nudge } else { 0.0 }])
        {
            self.slopes(mixes, nudge, &mut scratch.slopes);
        }
        let scale = memory.candidates.curvature / if is_symmetric { 2.0 * nudge } else { nudge };
        for (tile, count) in self.tiles() {
            for Scratch { slopes, errors, .. } in &mut phases {
                memory.tiles.errors(tile, slopes, self.rows, errors);
            }
            for (row, pulls) in pulls.chunks_exact_mut(keys).enumerate() {
                let pulls = &mut pulls[tile * TILE..][..count];
                let weights = |phase: usize| {
                    let Pass { top, .. } = passes[phase][row];
                    let errors = &phases[phase].errors[row * TILE..][..TILE];
                    let (mut logits, mut weights) = ([0.0; TILE], [0.0; TILE]);
                    self.logits(pulls, Some(errors), &mut logits);
                    for logit in &mut logits {
                        *logit = (*logit - top).max(FAR);
                    }
                    vector::exp(&[&logits[..count]], &mut weights[..count]);
                    weights
                };
                let weights = [weights(0), weights(1)];
                let inverse = [passes[0][row].inverse(), passes[1][row].inverse()];
                for ((pull, up), down) in pulls.iter_mut().zip(weights[0]).zip(weights[1]) {
                    let change = up * inverse[0] - down * inverse[1];
                    *pull = if *pull >= 0.0 { scale * change / *pull } else { 0.0 };
                }
            }
        }
        for pulls in pulls.chunks_exact_mut(keys) {
            pulls[memory.candidates.filled..].fill(0.0);
        }
    }
}

/// What a pass needs besides the mixes.
struct Scratch {
    /// [HELD, stride].
    slopes: Vec<f32>,
    /// [HELD, TILE].
    errors: Vec<f32>,
    /// [HELD, TILE].
    logits: Vec<f32>,
    /// [HELD, stride].
    sums: Vec<f32>,
}

impl Scratch {
    fn new(stride: usize) -> Self {
        let [slopes, sums] = [0, 1].map(|_| vec![0.0; HELD * stride]);
        let [errors, logits] = [0, 1].map(|_| vec![0.0; HELD * TILE]);
        Self { slopes, errors, logits, sums }
    }
}

/// Far enough below for an exponential of 0.
const FAR: f32 = -200.0;

/// Replaces logits by weights relative to the largest logit so far; what earlier sums are to be multiplied by.
fn weigh(logits: &mut [f32], pass: &mut Pass) -> f32 {
    let top = pass.top.max(common::largest(logits));
    let kept = if pass.top == ABSENT { 0.0 } else { exp(f64::from(pass.top - top)) as f32 };
    let mut shifted = [0.0; TILE];
    let shifted = &mut shifted[..logits.len()];
    for (shifted, &logit) in shifted.iter_mut().zip(logits.iter()) {
        // Also where every key so far is absent.
        *shifted = if logit == ABSENT { FAR } else { logit - top };
    }
    vector::exp(&[shifted], logits);
    *pass = Pass { top, total: pass.total * kept + common::sum(logits) as f32 };
    kept
}
