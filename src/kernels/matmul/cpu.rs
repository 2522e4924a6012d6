//! The CPU path of products: the right operand is packed into panels as wide as a block of registers, once; then strips of rows, spread over
//! the threads, are multiplied by all panels, and the epilogue runs over each strip while it is in the cache. Each sum is over k in order, so
//! the number of threads changes no bit.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use super::matrix::Matrix;
use crate::host::{Disjoint, ThreadPool};
use crate::kernels::halves::Values;
use crate::kernels::product::{BLOCK_ROWS, Left, Right, SumTarget, product, widest};
use crate::program::slices::Memory;
use crate::simd::{dispatch, load, store};
use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Steps of k at a time: a strip of rows and a panel of columns this deep fit in a core's second cache.
const DEPTH: usize = 1024;
/// Rows of a strip, at most: a multiple of `BLOCK_ROWS`.
const STRIP: usize = 72;
/// Products with fewer multiplications finish before other threads would wake up.
const WORTH_SHARING: usize = 1 << 16;
/// Columns of a panel, at most.
const WIDEST: usize = 64;
/// Words of a block.
const EDGE: usize = BLOCK_ROWS * WIDEST;
/// Where sums without a bias start.
static NOTHING: [f32; WIDEST] = [0.0; WIDEST];
/// Strips that a browser's instances share.
const SHARES: usize = 8;
/// Words of a square that is transposed at once, in each direction: a cache line.
const SQUARE: usize = 16;

/// What happens to each finished run of results: its first index and its values.
pub(super) type Finish<'a> = &'a (dyn Fn(usize, &mut [f32]) + Sync);

/// What a product does besides its sums, in this order.
pub(super) struct Ends<'a> {
    /// [n]: where the sums of each row start.
    pub bias: Option<&'a [f32]>,
    /// [m, n]: multiplies the sums.
    pub factor: Option<&'a [f32]>,
    pub finish: Option<Finish<'a>>,
}

/// out [m, n] = finish((bias + a [m, k] · b [k, n]) · factor).
pub(super) fn multiply(
    [m, k, n]: [usize; 3],
    a: Matrix<Values<'_>>,
    b: Matrix<Values<'_>>,
    out: &mut [f32],
    ends: &Ends<'_>,
    pool: &ThreadPool,
) {
    let out = &mut out[..m * n];
    if out.is_empty() {
        return;
    }
    assert!(k == 0 || a.holds(m, k) && b.holds(k, n), "product: operands too short");
    assert!(ends.bias.is_none_or(|bias| bias.len() >= n) && ends.factor.is_none_or(|factor| factor.len() >= m * n));
    let threads = if m * n * k < WORTH_SHARING { 1 } else { pool.threads() };
    let panels = dispatch(Widths);
    // Other instances of a browser's engine compute strips, but not what an epilogue writes elsewhere: each runs it itself.
    let is_shared = pool.members() > pool.threads() && m * n * k >= 16 * WORTH_SHARING;
    let mut memory = Memory::take(k.min(DEPTH) * panels.padded(n));
    let [mut memory_of_a, mut memory_of_b] = [Memory::take(0), Memory::take(0)];
    for first in (0..k.max(1)).step_by(DEPTH) {
        let range = first.min(k)..k.min(first + DEPTH);
        let steps = Steps { count: range.len(), is_first: first == 0, is_last: first + DEPTH >= k };
        // Halves whose runs in a strip or in a panel would be short are unpacked at once.
        let a = if a.column == 1 {
            a.columns_from(first)
        } else {
            let Matrix { words, row, column } = a.part(&(0..m), &range, &mut memory_of_a, Some(pool));
            Matrix { words: Values::Floats(words), row, column }
        };
        let b = b.part(&range, &(0..n), &mut memory_of_b, Some(pool));
        let work = Work { m, n, a, b, ends, panels, threads };
        let packed = &mut memory.words()[..steps.count * panels.padded(n)];
        if k > 0 {
            work.pack(steps.count, packed, pool);
        }
        if is_shared { work.share(&steps, packed, out, pool) } else { work.run(&steps, packed, out, pool) }
    }
    drop(memory);
    if let (true, Some(finish)) = (is_shared, ends.finish) {
        finish(0, out);
    }
}

/// Some of the steps of k.
struct Steps {
    count: usize,
    is_first: bool,
    is_last: bool,
}

/// How columns are split: into panels of `panel`, a multiple of `lanes`.
#[derive(Clone, Copy)]
struct Panels {
    lanes: usize,
    panel: usize,
}

impl Panels {
    /// Columns with those that fill the last vector.
    fn padded(self, columns: usize) -> usize {
        columns.next_multiple_of(self.lanes)
    }
}

struct Widths;

impl WithSimd for Widths {
    type Output = Panels;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Panels {
        Panels { lanes: S::F32_LANES, panel: widest::<S>() * S::F32_LANES }
    }
}

struct Work<'a> {
    m: usize,
    n: usize,
    a: Matrix<Values<'a>>,
    b: Matrix<&'a [f32]>,
    ends: &'a Ends<'a>,
    panels: Panels,
    threads: usize,
}

impl Work<'_> {
    /// Packs steps of the right operand: panel after panel, each [steps, columns rounded up to whole vectors].
    fn pack(&self, steps: usize, packed: &mut [f32], pool: &ThreadPool) {
        let Panels { panel, .. } = self.panels;
        let count = self.n.div_ceil(panel);
        let pieces = if self.threads == 1 { 1 } else { count.min(4 * self.threads) };
        let packed = Disjoint::new(packed);
        pool.parallel(pieces, &|piece| {
            for at in (piece..count).step_by(pieces) {
                let columns = at * panel..self.n.min((at + 1) * panel);
                let stride = self.panels.padded(columns.len());
                let start = steps * columns.start;
                // SAFETY: each panel has a place of its own.
                let packed = unsafe { packed.range(start..start + steps * stride) };
                dispatch(Pack { b: self.b, steps, columns, packed });
            }
        });
    }

    /// Rows of a strip if `shares` threads share all rows evenly.
    fn strip(&self, shares: usize) -> usize {
        let strips = shares * self.m.div_ceil(STRIP * shares);
        self.m.div_ceil(strips).next_multiple_of(BLOCK_ROWS)
    }

    /// Computes all strips; if they are too few for the threads, each in groups of columns.
    fn run(&self, steps: &Steps, packed: &[f32], out: &mut [f32], pool: &ThreadPool) {
        let rows = self.strip(self.threads);
        let (strips, panels) = (self.m.div_ceil(rows), self.n.div_ceil(self.panels.panel));
        let groups = if strips >= self.threads { 1 } else { (2 * self.threads).div_ceil(strips).min(panels) };
        let share = panels.div_ceil(groups) * self.panels.panel;
        let words = Disjoint::new(out);
        pool.parallel(strips * groups, &|item| {
            let (strip, group) = (item / groups, item % groups);
            let rows = strip * rows..self.m.min((strip + 1) * rows);
            let columns = (group * share).min(self.n)..self.n.min((group + 1) * share);
            if columns.is_empty() {
                return;
            }
            // Rows of a group of columns are runs of their own; whole rows are one run.
            let (runs, length) = if groups == 1 { (1, rows.len() * self.n) } else { (rows.len(), columns.len()) };
            let first = rows.start * self.n + columns.start;
            let at = words.at(first);
            dispatch(Strip { work: self, rows, columns, steps, packed, at });
            let Some(finish) = self.ends.finish.filter(|_| steps.is_last) else { return };
            for run in 0..runs {
                let start = first + run * self.n;
                // SAFETY: each item has results of its own.
                finish(start, unsafe { words.range(start..start + length) });
            }
        });
    }

    /// Computes all strips together with the engine's other instances.
    fn share(&self, steps: &Steps, packed: &[f32], out: &mut [f32], pool: &ThreadPool) {
        let rows = self.strip(SHARES);
        pool.fill(out, rows * self.n, &|_, piece, out| {
            let rows = piece * rows..self.m.min((piece + 1) * rows);
            let at = out.as_mut_ptr();
            dispatch(Strip { work: self, rows, columns: 0..self.n, steps, packed, at });
        });
    }
}

/// Packs columns of the right operand into one panel.
struct Pack<'a> {
    b: Matrix<&'a [f32]>,
    steps: usize,
    columns: Range<usize>,
    packed: &'a mut [f32],
}

impl WithSimd for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let Self { b, steps, columns, packed } = self;
        let stride = columns.len().next_multiple_of(S::F32_LANES);
        let corner = &b.words[columns.start * b.column..];
        if b.column == 1 {
            for (step, out) in packed.chunks_exact_mut(stride).enumerate() {
                let (quads, rest) = corner[step * b.row..][..columns.len()].as_chunks::<4>();
                let (out_quads, _) = out.as_chunks_mut::<4>();
                for (out, quad) in out_quads.iter_mut().zip(quads) {
                    *out = *quad;
                }
                out[4 * quads.len()..columns.len()].copy_from_slice(rest);
                out[columns.len()..].fill(0.0);
            }
            return;
        }
        let mut square = [[0.0; SQUARE]; SQUARE];
        for first in (0..columns.len()).step_by(SQUARE) {
            let count = SQUARE.min(columns.len() - first);
            let width = SQUARE.min(stride - first);
            square.iter_mut().skip(count).for_each(|row| *row = [0.0; SQUARE]);
            for step in (0..steps).step_by(SQUARE) {
                let depth = SQUARE.min(steps - step);
                for (column, row) in square.iter_mut().take(count).enumerate() {
                    row[..depth].copy_from_slice(&corner[(first + column) * b.column + step..][..depth]);
                }
                for (k, row) in transposed(&square).iter().take(depth).enumerate() {
                    packed[(step + k) * stride + first..][..width].copy_from_slice(&row[..width]);
                }
            }
        }
    }
}

/// The transpose of a square.
#[inline(always)]
pub(crate) fn transposed(square: &[[f32; SQUARE]; SQUARE]) -> [[f32; SQUARE]; SQUARE] {
    let mut turned = [[0.0; SQUARE]; SQUARE];
    for i in 0..SQUARE {
        for j in 0..SQUARE {
            turned[j][i] = square[i][j];
        }
    }
    turned
}

/// Rows of results in a range of columns; `at` is the first of them.
struct Strip<'a> {
    work: &'a Work<'a>,
    rows: Range<usize>,
    columns: Range<usize>,
    steps: &'a Steps,
    packed: &'a [f32],
    at: *mut f32,
}

impl WithSimd for Strip<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { work, rows, columns, steps, packed, at } = self;
        let (Ends { bias, factor, .. }, depth) = (work.ends, steps.count);
        let whole = rows.len() / BLOCK_ROWS * BLOCK_ROWS;
        let mut memory_of_a = Memory::take(0);
        let a = work.a.part(&rows, &(0..depth), &mut memory_of_a, None);
        let is_turned = a.column != 1;
        // Rows whose words are apart are interleaved block by block, and so are the last few, whose block is not full.
        let kept = if is_turned { 0 } else { whole };
        let mut memory = Memory::take((rows.len() - kept).next_multiple_of(BLOCK_ROWS) * depth);
        let blocks = memory.words();
        let turned = if depth == 0 { 0..0 } else { kept..rows.len() };
        for first in turned.step_by(BLOCK_ROWS) {
            let count = BLOCK_ROWS.min(rows.len() - first);
            interleave(a, first, count, depth, &mut blocks[(first - kept) * depth..]);
        }
        // The results of blocks at the edges, which are not whole, are kept apart and copied.
        let (mut given, mut made) = ([0.0; EDGE], [0.0; EDGE]);
        for start in columns.clone().step_by(work.panels.panel) {
            let count = work.panels.panel.min(columns.end - start);
            let stride = work.panels.padded(count);
            let right = Right { at: packed[depth * start..][..depth * stride].as_ptr(), stride };
            for first in (0..rows.len()).step_by(BLOCK_ROWS) {
                let left = if first < kept {
                    Left { at: a.words[first * a.row..].as_ptr(), row: a.row, step: 1 }
                } else {
                    Left { at: blocks[(first - kept) * depth..].as_ptr(), row: 1, step: BLOCK_ROWS }
                };
                let height = BLOCK_ROWS.min(rows.len() - first);
                let out = at.wrapping_add(first * work.n + (start - columns.start));
                let from = match bias {
                    _ if !steps.is_first => (out.cast_const(), work.n),
                    Some(bias) => (bias[start..start + count].as_ptr(), 0),
                    None => (NOTHING.as_ptr(), 0),
                };
                let index = (rows.start + first) * work.n + start;
                let factor = factor.filter(|_| steps.is_last).map(|factor| &factor[index..]);
                let mut place = Place { from, out: (out, work.n), factor: factor.map(<[f32]>::as_ptr) };
                let is_whole = height == BLOCK_ROWS && count == stride;
                // SAFETY: the strip's results begin at `at`, rows `n` words apart, and this block's are inside them; a bias and nothing
                // are one row of at least `count` words.
                let line = |(at, apart): (*const f32, usize), row: usize| unsafe {
                    std::slice::from_raw_parts(at.add(row * apart), count)
                };
                if !is_whole {
                    for (row, given) in given.chunks_exact_mut(WIDEST).take(height).enumerate() {
                        given[..count].copy_from_slice(line(from, row));
                    }
                    place = Place { from: (given.as_ptr(), WIDEST), out: (made.as_mut_ptr(), WIDEST), factor: None };
                }
                // SAFETY: direct rows are whole blocks inside the operand, interleaved ones have a whole block's words; the places of a
                // whole block are inside the results, and those of another have room for a whole one.
                unsafe { product(simd, height, count, depth, left, right, &place) }
                if !is_whole {
                    for (row, made) in made.chunks_exact(WIDEST).take(height).enumerate() {
                        // SAFETY: as above, and no other strip has these results.
                        let out = unsafe { std::slice::from_raw_parts_mut(out.add(row * work.n), count) };
                        out.copy_from_slice(&made[..count]);
                        if let Some(factor) = factor {
                            out.iter_mut().zip(&factor[row * work.n..]).for_each(|(out, factor)| *out *= factor);
                        }
                    }
                }
            }
        }
    }
}

/// Copies `count` rows from `first` on, step by step: [steps, BLOCK_ROWS].
#[inline(always)]
fn interleave(a: Matrix<&[f32]>, first: usize, count: usize, steps: usize, out: &mut [f32]) {
    let corner = &a.words[first * a.row..];
    let (out, _) = out[..steps * BLOCK_ROWS].as_chunks_mut::<BLOCK_ROWS>();
    for (step, out) in out.iter_mut().enumerate() {
        if a.row == 1 && count == BLOCK_ROWS {
            out.copy_from_slice(&corner[step * a.column..][..BLOCK_ROWS]);
        } else {
            for (row, out) in out.iter_mut().enumerate() {
                *out = if row < count { corner[row * a.row + step * a.column] } else { 0.0 };
            }
        }
    }
}

/// Where the sums of a block start and end: the first word and the words from one row to the next. Factors are as far apart as the results.
struct Place {
    from: (*const f32, usize),
    out: (*mut f32, usize),
    factor: Option<*const f32>,
}

impl SumTarget for Place {
    #[inline(always)]
    unsafe fn start<S: Simd>(&self, _simd: S, row: usize, column: usize) -> S::f32s {
        let (from, apart) = self.from;
        // SAFETY: by the caller, whole blocks are readable.
        unsafe { load::<S>(from.add(row * apart + column)) }
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(&self, simd: S, row: usize, column: usize, mut sum: S::f32s) {
        let (out, apart) = self.out;
        let at = row * apart + column;
        // SAFETY: by the caller, whole blocks are writable, and have as many factors.
        unsafe {
            if let Some(factor) = self.factor {
                sum = simd.mul_f32s(sum, load::<S>(factor.add(at)));
            }
            store::<S>(out.add(at), sum);
        }
    }
}
