//! Retrieval (`retrieve`) of classes by cross-entropy: states are one class each, so what a nudge moves is one number per query, the share p of its own
//! class: p = σ(ln Σ_own exp(-β cost) - ln Σ_others exp(-β cost) + β b / (p + 1e-3)). Same results as with states that are unit vectors.

#![allow(clippy::inline_always, reason = "compiled for the instruction set of the machine, chosen at run time")]

use super::common::{self, Variant};
use super::retrieve::rows::Candidates;
use super::retrieve::{Cue, FIGURES, FLOOR, Form, Lookup, Params, Retrieval, SHARED, Sizes, Storage, cost};
use crate::device::{Call, Dispatch, EXCHANGE, Kernel, View, groups};
use crate::simd::double::{exp, ln};
use crate::simd::{dispatch, vector};
use pulp::{Simd, WithSimd};

/// The `retrieve_classes` kernel.
pub static RETRIEVE_CLASSES: Kernel = Kernel {
    name: "retrieve_classes",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, EXCHANGE, common::TREE, SHARED, crate::wgsl!("retrieve_classes")],
    cpu: run,
    grid: |dispatch| groups(dispatch.params::<Params>().rows as usize, 1),
    cost: |dispatch| cost(dispatch, 3 * u64::from(dispatch.params::<Params>().coordinates) + 12),
    fuse: None,
    in_place: None,
};

impl Retrieval {
    /// Of classes: states and targets are [class, number of the row]. Fills `pulls` [rows, keys] and `found` [rows, FIGURES + 1]: figures, then p.
    pub fn of_classes(&self, sizes: Sizes, lookup: Lookup, outputs: [View; 2]) -> Dispatch {
        let sizes = Sizes { width: 1, ..sizes };
        self.dispatch(&RETRIEVE_CLASSES, (Cue::CrossEntropy, Storage::Floats), sizes, lookup, outputs)
    }
}

/// Keys whose weights are made at a time.
const TILE: usize = 1024;
/// Sums and minima of a row that are kept apart, so that they are vectors.
const LANES: usize = 16;

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Form>>().kind;
    let candidates = &Candidates::of(&call, &params, call.floats(2));
    let [queries, targets] = [call.floats(0), call.floats(3)];
    let [rows, keys, coordinates] = [params.rows, params.keys, params.coordinates].map(|size| size as usize);
    let width = FIGURES + 1;
    let [pulls, found] = call.outputs else { unreachable!("retrieval has two outputs") };
    let pulls = &mut bytemuck::cast_slice_mut::<u32, f32>(pulls)[..rows * keys];
    let found = &mut bytemuck::cast_slice_mut::<u32, f32>(found)[..rows * width];
    let piece = common::rows_per_piece(rows, keys * coordinates, call.pool);
    let pieces = pulls.chunks_mut(piece * keys).zip(found.chunks_mut(piece * width)).enumerate();
    common::each(pieces, call.pool, |(at, (pulls, found))| {
        let targets = &targets[2 * at * piece..];
        candidates.distances(&queries[at * piece * coordinates..], targets, pulls);
        let rows = pulls.chunks_exact_mut(keys).zip(found.chunks_exact_mut(width));
        for ((pulls, found), target) in rows.zip(targets.chunks_exact(2)) {
            let row = Row { params: &params, candidates, class: target[0] };
            dispatch(Fill { row, is_symmetric: form.is_symmetric, pulls, found });
        }
    });
}

/// A query of a class.
struct Row<'r> {
    params: &'r Params,
    candidates: &'r Candidates<'r>,
    class: f32,
}

/// A query, with its distances on the way to pulls.
struct Fill<'f> {
    row: Row<'f>,
    is_symmetric: bool,
    pulls: &'f mut [f32],
    found: &'f mut [f32],
}

impl WithSimd for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        self.row.fill(self.is_symmetric, self.pulls, self.found);
    }
}

/// Of the keys of the query's class, or of the others: the shortest distance, the sum of weights relative to it, and of weights times distances.
#[derive(Clone, Copy)]
struct Side {
    nearest: f32,
    weight: f64,
    distance: f64,
}

impl Side {
    fn is_empty(&self) -> bool {
        self.nearest == f32::MAX
    }

    /// The logarithm of the sum of weights.
    fn log(&self, sharpness: f64) -> f64 {
        if self.is_empty() { f64::NEG_INFINITY } else { ln(self.weight) - sharpness * f64::from(self.nearest) }
    }

    fn mean_distance(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.distance / self.weight }
    }
}

impl Row<'_> {
    /// From distances in `pulls`, negative where a key is no candidate, to pulls and figures.
    #[inline(always)]
    fn fill(&self, is_symmetric: bool, pulls: &mut [f32], found: &mut [f32]) {
        let filled = self.candidates.filled;
        let (held, empty) = pulls.split_at_mut(filled);
        empty.fill(0.0);
        let sharpness = self.params.sharpness * self.candidates.curvature;
        let sides = self.sides(held, sharpness);
        let [own, others] = sides;
        let wide = f64::from(sharpness);
        let logs = sides.map(|side| side.log(wide));
        let is_open = !own.is_empty() && !others.is_empty();
        let gap = logs[0] - logs[1];
        let free = if is_open { share(gap) } else { f64::from(u8::from(!own.is_empty())) };
        let nudge = f64::from(self.params.nudge);
        let [up, down] = if is_open { self.relaxed(free, gap, nudge) } else { [free; 2] };
        let change = if is_symmetric { (up - down) / (2.0 * nudge) } else { (up - free) / nudge };
        let slope = f64::from(self.candidates.curvature) * change;
        let scales = [own, others].map(|side| if is_open { (slope / side.weight) as f32 } else { 0.0 });
        self.pull(held, sharpness, [own.nearest, others.nearest], [scales[0], -scales[1]]);
        let apart = free * own.mean_distance() + (1.0 - free) * others.mean_distance();
        let top = logs[0].max(logs[1]);
        let log_sum = top + if is_open { ln(1.0 + exp(-gap.abs())) } else { 0.0 };
        let entropy = if top.is_finite() { -wide * apart - log_sum } else { 0.0 };
        let figures = [-ln(free + FLOOR), f64::from(self.candidates.curvature) * apart, apart, entropy, free];
        found.iter_mut().zip(figures).for_each(|(out, figure)| *out = figure as f32);
    }

    #[inline(always)]
    fn sides(&self, distances: &[f32], sharpness: f32) -> [Side; 2] {
        let mut lanes = [[f32::MAX; LANES]; 2];
        for (distances, classes) in distances.chunks(LANES).zip(self.candidates.classes.chunks(LANES)) {
            for (lane, (&apart, &class)) in distances.iter().zip(classes).enumerate() {
                let apart = if apart >= 0.0 { apart } else { f32::MAX };
                let [own, other] = if class == self.class { [apart, f32::MAX] } else { [f32::MAX, apart] };
                lanes[0][lane] = if own < lanes[0][lane] { own } else { lanes[0][lane] };
                lanes[1][lane] = if other < lanes[1][lane] { other } else { lanes[1][lane] };
            }
        }
        let nearest = lanes.map(|lanes| lanes.into_iter().fold(f32::MAX, f32::min));
        let mut sides = nearest.map(|nearest| Side { nearest, weight: 0.0, distance: 0.0 });
        let mut weights = [0.0; TILE];
        for (tile, distances) in distances.chunks(TILE).enumerate() {
            let weights = &mut weights[..distances.len()];
            let classes = &self.candidates.classes[tile * TILE..];
            self.weigh(distances, classes, sharpness, nearest, weights);
            // Per side the sum of weights, and of weights times distances.
            let mut sums = [[0.0_f32; LANES]; 4];
            let rows = weights.chunks(LANES).zip(distances.chunks(LANES)).zip(classes.chunks(LANES));
            for ((weights, distances), classes) in rows {
                for (lane, ((&weight, &apart), &class)) in weights.iter().zip(distances).zip(classes).enumerate() {
                    let [own, other] = if class == self.class { [weight, 0.0] } else { [0.0, weight] };
                    sums[0][lane] += own;
                    sums[1][lane] += own * apart;
                    sums[2][lane] += other;
                    sums[3][lane] += other * apart;
                }
            }
            let sums = sums.map(|lanes| lanes.iter().map(|&sum| f64::from(sum)).sum::<f64>());
            for (side, sums) in sides.iter_mut().zip(sums.chunks_exact(2)) {
                side.weight += sums[0];
                side.distance += sums[1];
            }
        }
        sides
    }

    /// Replaces distances by pulls; `scales` of both sides.
    #[inline(always)]
    fn pull(&self, distances: &mut [f32], sharpness: f32, nearest: [f32; 2], scales: [f32; 2]) {
        let mut weights = [0.0; TILE];
        for (tile, distances) in distances.chunks_mut(TILE).enumerate() {
            let weights = &mut weights[..distances.len()];
            let classes = &self.candidates.classes[tile * TILE..];
            self.weigh(distances, classes, sharpness, nearest, weights);
            for ((apart, weight), &class) in distances.iter_mut().zip(weights.iter()).zip(classes) {
                let scale = if class == self.class { scales[0] } else { scales[1] };
                *apart = scale * weight / *apart;
            }
        }
    }

    /// exp(-β R (distance - nearest)) of a tile, 0 for a key that is no candidate.
    #[inline(always)]
    fn weigh(&self, distances: &[f32], classes: &[f32], sharpness: f32, nearest: [f32; 2], weights: &mut [f32]) {
        let mut logits = [0.0; TILE];
        let logits = &mut logits[..distances.len()];
        for ((logit, &apart), &class) in logits.iter_mut().zip(distances).zip(classes) {
            let nearest = if class == self.class { nearest[0] } else { nearest[1] };
            // Far enough below for a weight of 0.
            *logit = if apart >= 0.0 { -sharpness * (apart - nearest) } else { -200.0 };
        }
        vector::exp(&[logits], weights);
    }

    /// The shares under a nudge of either sign, by the slope of the loss at the relaxed p of each. Upwards the share falls as p grows, the more steeply the
    /// smaller p is: a step is shortened by that slope, without which it would jump over the resting point for ever.
    fn relaxed(&self, start: f64, gap: f64, nudge: f64) -> [f64; 2] {
        let nudge = f64::from(self.params.sharpness) * nudge;
        let rate = f64::from(self.params.rate);
        let nudged = |[up, down]: [f64; 2]| [share(gap + nudge / (up + FLOOR)), share(gap - nudge / (down + FLOOR))];
        let mut p = [start; 2];
        for _ in 0..self.params.steps {
            let next = nudged(p);
            let slope = nudge * next[0] * (1.0 - next[0]) / ((p[0] + FLOOR) * (p[0] + FLOOR));
            p = [p[0] + rate * (next[0] - p[0]) / (1.0 + slope), p[1] + rate * (next[1] - p[1])];
        }
        nudged(p)
    }
}

fn share(gap: f64) -> f64 {
    1.0 / (1.0 + exp(-gap))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After 64 steps the share is where it rests, also of rows whose own class is far: p = share(gap ± 0.5 / (p + 1e-3)).
    #[test]
    fn shares_come_to_rest() {
        let params = Params {
            rows: 1,
            keys: 1,
            coordinates: 1,
            width: 1,
            steps: 64,
            sharpness: 5.0,
            nudge: 0.1,
            rate: 0.25,
            epsilon: 0.0,
        };
        let candidates = Candidates::none();
        let row = Row { params: &params, candidates: &candidates, class: 0.0 };
        for gap in [-30.0, -20.0, -10.0, -2.0, 0.0, 3.0, 20.0] {
            let nudge = f64::from(params.nudge);
            let [up, down] = row.relaxed(share(gap), gap, nudge);
            let apart = |p: f64, sign: f64| p - share(gap + sign * 5.0 * nudge / (p + FLOOR));
            assert!(apart(up, 1.0).abs() < 1e-6 && apart(down, -1.0).abs() < 1e-6, "gap {gap}: {up} {down}");
            assert!(down <= share(gap) && share(gap) <= up, "gap {gap}: {up} {down}");
        }
    }
}
