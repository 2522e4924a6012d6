//! On the CPU: which keys are candidates for a query, and how far they are.

use super::Params;
use crate::device::Call;
use crate::simd::dispatch;
use pulp::{Simd, WithSimd};

/// Keys that are compared with all queries of a piece before the next ones, so that they stay in a cache.
const TILE: usize = 512;

/// The memory of a launch.
pub(crate) struct Candidates<'c> {
    /// Filled slots.
    pub filled: usize,
    /// R.
    pub curvature: f32,
    /// The first number of each state: the class, where states are classes.
    pub classes: Vec<f32>,
    /// The number of each key's row; negative for none.
    ids: Vec<f32>,
    keys: &'c [f32],
    slots: usize,
    coordinates: usize,
    epsilon: f32,
    stride: usize,
}

impl<'c> Candidates<'c> {
    /// `states`: [slots, width + 1].
    pub(crate) fn of(call: &Call<'c>, params: &Params, states: &[f32]) -> Self {
        let [keys, control] = [1, 4].map(|at| call.floats(at));
        let (slots, stride) = (params.keys as usize, params.width as usize + 1);
        let filled = (control[0] as usize).min(slots);
        let rows = states[..filled * stride].chunks_exact(stride);
        Self {
            filled,
            curvature: control[1],
            classes: rows.clone().map(|state| state[0]).collect(),
            ids: rows.map(|state| state[stride - 1]).collect(),
            keys,
            slots,
            coordinates: params.coordinates as usize,
            epsilon: params.epsilon,
            stride,
        }
    }

    /// An empty memory.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        let (classes, ids) = (Vec::new(), Vec::new());
        Self { filled: 0, curvature: 1.0, classes, ids, keys: &[], slots: 0, coordinates: 1, epsilon: 0.0, stride: 2 }
    }

    /// Fills the filled slots of each row of `out` [rows, slots] with distances: -1 where a key is no candidate.
    pub(crate) fn distances(&self, queries: &[f32], targets: &[f32], out: &mut [f32]) {
        for from in (0..self.filled).step_by(TILE) {
            let to = (from + TILE).min(self.filled);
            let rows = queries.chunks_exact(self.coordinates).zip(targets.chunks_exact(self.stride));
            for ((query, target), out) in rows.zip(out.chunks_exact_mut(self.slots)) {
                let out = &mut out[from..to];
                squares(query, self.keys, self.slots, from, out);
                let own = target[self.stride - 1];
                for (out, &id) in out.iter_mut().zip(&self.ids[from..]) {
                    *out = if id < 0.0 || id == own { -1.0 } else { (*out + self.epsilon).sqrt() };
                }
            }
        }
    }
}

/// The squared distances of a query from the keys from `from` on, of keys [coordinates, slots].
pub(super) fn squares(query: &[f32], keys: &[f32], slots: usize, from: usize, out: &mut [f32]) {
    dispatch(Squares { query, keys, slots, from, out });
}

struct Squares<'s> {
    query: &'s [f32],
    keys: &'s [f32],
    slots: usize,
    from: usize,
    out: &'s mut [f32],
}

impl WithSimd for Squares<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self { query, keys, slots, from, out } = self;
        let count = out.len();
        out.fill(0.0);
        let fours = query.chunks_exact(4);
        let rest = query.len() - fours.remainder().len();
        for (at, q) in fours.enumerate() {
            let [a, b, c, d] = [0, 1, 2, 3].map(
                #[inline(always)]
                |i| &keys[(4 * at + i) * slots + from..][..count],
            );
            for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                let apart = [a - q[0], b - q[1], c - q[2], d - q[3]];
                *out += apart[0] * apart[0] + apart[1] * apart[1] + (apart[2] * apart[2] + apart[3] * apart[3]);
            }
        }
        for (i, q) in query.iter().enumerate().skip(rest) {
            for (out, key) in out.iter_mut().zip(&keys[i * slots + from..]) {
                *out += (key - q) * (key - q);
            }
        }
    }
}
