//! The squared distances of several queries from the same keys: each key is read once for all of them, and sums stay in registers.

use crate::simd::dispatch;
use pulp::{Simd, WithSimd};

/// Queries that are compared at a time.
pub const SEVERAL: usize = 4;
/// Keys whose sums are in registers.
const LANES: usize = 16;

/// The squared distances of [`SEVERAL`] queries [queries, coordinates] from the keys from `from` on, of keys [coordinates, slots], into `out` [queries, keys].
/// They have the bits that `squares` of `rows.rs` gives for each query.
pub fn squares_of_several(queries: &[f32], keys: &[f32], slots: usize, from: usize, out: &mut [f32]) {
    dispatch(Several { queries, keys, slots, from, out });
}

struct Several<'s> {
    queries: &'s [f32],
    keys: &'s [f32],
    slots: usize,
    from: usize,
    out: &'s mut [f32],
}

impl WithSimd for Several<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self { queries, keys, slots, from, out } = self;
        let (count, coordinates) = (out.len() / SEVERAL, queries.len() / SEVERAL);
        let whole = count / LANES * LANES;
        for at in (0..whole).step_by(LANES) {
            let mut sums = [[0.0_f32; LANES]; SEVERAL];
            let line = |coordinate: usize| -> &[f32; LANES] {
                keys[coordinate * slots + from + at..].first_chunk().expect("a whole block of keys")
            };
            for first in (0..coordinates / 4 * 4).step_by(4) {
                let lines = [line(first), line(first + 1), line(first + 2), line(first + 3)];
                for (sums, query) in sums.iter_mut().zip(queries.chunks_exact(coordinates)) {
                    let [a, b, c, d] = [query[first], query[first + 1], query[first + 2], query[first + 3]];
                    for lane in 0..LANES {
                        let apart = [lines[0][lane] - a, lines[1][lane] - b, lines[2][lane] - c, lines[3][lane] - d];
                        sums[lane] +=
                            apart[0] * apart[0] + apart[1] * apart[1] + (apart[2] * apart[2] + apart[3] * apart[3]);
                    }
                }
            }
            for coordinate in coordinates / 4 * 4..coordinates {
                let line = line(coordinate);
                for (sums, query) in sums.iter_mut().zip(queries.chunks_exact(coordinates)) {
                    for lane in 0..LANES {
                        let apart = line[lane] - query[coordinate];
                        sums[lane] += apart * apart;
                    }
                }
            }
            for (out, sums) in out.chunks_exact_mut(count).zip(&sums) {
                out[at..at + LANES].copy_from_slice(sums);
            }
        }
        for (query, out) in queries.chunks_exact(coordinates).zip(out.chunks_exact_mut(count)) {
            super::rows::squares(query, keys, slots, from + whole, &mut out[whole..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::squares;
    use super::*;

    #[test]
    fn several_queries_have_the_squares_of_each() {
        let drawn = |at: usize| ((at * 2_654_435_761 % 1009) as f32 * 0.37).sin();
        for (coordinates, slots, from, count) in [(1, 40, 3, 37), (4, 16, 0, 16), (7, 100, 16, 81), (64, 50, 1, 9)] {
            let keys: Vec<f32> = (0..coordinates * slots).map(drawn).collect();
            let queries: Vec<f32> = (0..SEVERAL * coordinates).map(|at| drawn(at + 7)).collect();
            let mut all = vec![f32::NAN; SEVERAL * count];
            squares_of_several(&queries, &keys, slots, from, &mut all);
            for (query, all) in queries.chunks(coordinates).zip(all.chunks(count)) {
                let mut one = vec![0.0; count];
                squares(query, &keys, slots, from, &mut one);
                assert_eq!(all, one, "{coordinates} coordinates");
            }
        }
    }
}
