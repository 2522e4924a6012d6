//! The matrix product of the CPU paths: out[r, c] = finish(start(r, c) + sum_k left[r, k] right[k, c]), columns in lanes, in blocks of R rows by
//! V vectors that stay in registers. `left` has arbitrary strides, so it can also be a transpose.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use crate::simd::{each, fma, load, vectors};
use pulp::Simd;

/// Whether 6 x 4 sums fit into registers. Not in wasm, the only 32-bit target that matters: an x86-64 gives it 16 registers, and 6 x 2
/// sums with their operands take 15, if the compiler keeps the loads next to their products (`web/build.mjs`).
const WIDE: bool = usize::BITS == 64;

/// Vectors of columns that a block has at most.
pub(super) const fn widest<S: Simd>() -> usize {
    if WIDE && S::REGISTER_COUNT == 32 { 4 } else { 2 }
}

/// Rows that a block has at most.
pub(super) const BLOCK_ROWS: usize = 6;

/// left[r, k] = at[r * row + k * step].
#[derive(Clone, Copy)]
pub(super) struct Left {
    pub at: *const f32,
    pub row: usize,
    pub step: usize,
}

/// right[k, c] = at[k * stride + c].
#[derive(Clone, Copy)]
pub(super) struct Right {
    pub at: *const f32,
    pub stride: usize,
}

/// Initial value and destination of a sum; `row` and `column` are those of the first lane.
pub(super) trait SumTarget {
    /// # Safety
    /// As for [`product`].
    unsafe fn start<S: Simd>(&self, simd: S, row: usize, column: usize) -> S::f32s;
    /// # Safety
    /// As for [`product`].
    unsafe fn finish<S: Simd>(&self, simd: S, row: usize, column: usize, sum: S::f32s);
}

/// # Safety
/// `left` is readable for rows up to the next multiple of the block's rows (at most 5 more) and `depth` steps, `right` for `depth` rows and `columns`
/// rounded up to whole vectors; `ends` accepts those rows and columns.
#[inline(always)]
pub(super) unsafe fn product<S: Simd, E: SumTarget>(
    simd: S,
    rows: usize,
    columns: usize,
    depth: usize,
    left: Left,
    right: Right,
    ends: &E,
) {
    let vectors = columns.div_ceil(S::F32_LANES);
    let mut v = 0;
    // SAFETY: by the caller; the blocks below cover the vectors exactly and exceed the rows by less than a block.
    unsafe {
        while widest::<S>() == 4 && v + 4 <= vectors {
            column::<S, E, 4>(simd, rows, v * S::F32_LANES, depth, left, right, ends);
            v += 4;
        }
        while v + 2 <= vectors {
            column::<S, E, 2>(simd, rows, v * S::F32_LANES, depth, left, right, ends);
            v += 2;
        }
        if v < vectors {
            column::<S, E, 1>(simd, rows, v * S::F32_LANES, depth, left, right, ends);
        }
    }
}

/// V vectors of columns, all rows: blocks of 6 rows, then of 4 or 1 for the remaining rows.
#[inline(always)]
unsafe fn column<S: Simd, E: SumTarget, const V: usize>(
    simd: S,
    rows: usize,
    column: usize,
    depth: usize,
    left: Left,
    right: Right,
    ends: &E,
) {
    let mut r = 0;
    // SAFETY: by the caller of `product`.
    unsafe {
        while r + 4 < rows {
            block::<S, E, 6, V>(simd, r, column, depth, left, right, ends);
            r += 6;
        }
        if r + 1 < rows {
            block::<S, E, 4, V>(simd, r, column, depth, left, right, ends);
        } else if r < rows {
            block::<S, E, 1, V>(simd, r, column, depth, left, right, ends);
        }
    }
}

#[inline(always)]
unsafe fn block<S: Simd, E: SumTarget, const R: usize, const V: usize>(
    simd: S,
    row: usize,
    column: usize,
    depth: usize,
    left: Left,
    right: Right,
    ends: &E,
) {
    let lanes = S::F32_LANES;
    let mut sums: [[S::f32s; V]; R] = vectors();
    // SAFETY: by the caller of `product`.
    unsafe {
        each!(r < R {
            each!(v < V {
                sums[r][v] = ends.start(simd, row + r, column + v * lanes);
            });
        });
        let mut a = left.at.add(row * left.row);
        let mut b = right.at.add(column);
        for _ in 0..depth {
            let mut columns = [simd.splat_f32s(0.0); V];
            each!(v < V {
                columns[v] = load::<S>(b.add(v * lanes));
            });
            each!(r < R {
                let factor = simd.splat_f32s(*a.add(r * left.row));
                each!(v < V {
                    sums[r][v] = fma(simd, factor, columns[v], sums[r][v]);
                });
            });
            a = a.wrapping_add(left.step);
            b = b.wrapping_add(right.stride);
        }
        each!(r < R {
            each!(v < V {
                ends.finish(simd, row + r, column + v * lanes, sums[r][v]);
            });
        });
    }
}
