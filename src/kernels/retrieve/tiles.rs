//! The two products of a step of the relaxation, over tiles of keys: what the loss's slopes make of the states, and the states under their weights.
#![allow(unsafe_code, reason = "vector registers are read and written through pointers inside checked ranges")]
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use crate::kernels::product::{Left, Right, SumTarget, product};
use crate::simd::{dispatch, load, store};
use pulp::{Simd, WithSimd};

/// Keys of a tile.
pub(super) const TILE: usize = 128;
/// Rows of queries of a block, at most.
pub(super) const ROWS: usize = 12;
/// Rows that a block's buffers hold: those that blocks of registers read and write, too.
pub(super) const HELD: usize = ROWS + 6;
/// Numbers of a state are padded to whole vectors.
pub(super) const LANES: usize = 16;

/// The states of a memory in both layouts, padded with 0.
pub(super) struct Tiles {
    /// From one key to the next in `rows`.
    pub stride: usize,
    width: usize,
    /// [tiles, TILE, stride].
    rows: Vec<f32>,
    /// [tiles, width, TILE].
    columns: Vec<f32>,
}

impl Tiles {
    /// Of the first `keys` states [.., width + more], a run of `apart` numbers each.
    pub(super) fn new(states: &[f32], apart: usize, [keys, width]: [usize; 2]) -> Self {
        let stride = width.next_multiple_of(LANES);
        let padded = keys.next_multiple_of(TILE);
        let (mut rows, mut columns) = (vec![0.0; padded * stride], vec![0.0; padded * width]);
        for (key, state) in states.chunks_exact(apart).take(keys).enumerate() {
            rows[key * stride..][..width].copy_from_slice(&state[..width]);
            let tile = &mut columns[key / TILE * TILE * width..][..TILE * width];
            tile[key % TILE..].iter_mut().step_by(TILE).zip(state).for_each(|(to, from)| *to = *from);
        }
        Self { stride, width, rows, columns }
    }

    /// `out` [HELD, TILE] = slopes [HELD, stride] · statesᵀ, for `rows` rows and the keys of a tile.
    pub(super) fn errors(&self, tile: usize, slopes: &[f32], rows: usize, out: &mut [f32]) {
        let right = &self.columns[tile * TILE * self.width..][..TILE * self.width];
        let sizes = Sizes { rows, columns: TILE, depth: self.width };
        multiply(sizes, (slopes, self.stride), (right, TILE), (out, TILE), false);
    }

    /// `sums` [HELD, stride] += weights [HELD, TILE] · states, for `rows` rows and the first `count` keys of a tile.
    pub(super) fn add(&self, tile: usize, weights: &[f32], [rows, count]: [usize; 2], sums: &mut [f32]) {
        let right = &self.rows[tile * TILE * self.stride..][..TILE * self.stride];
        let sizes = Sizes { rows, columns: self.width, depth: count };
        multiply(sizes, (weights, TILE), (right, self.stride), (sums, self.stride), true);
    }
}

#[derive(Clone, Copy)]
struct Sizes {
    rows: usize,
    columns: usize,
    depth: usize,
}

/// out = a · b, or out += a · b; each with the numbers from one row to the next.
fn multiply(sizes: Sizes, a: (&[f32], usize), b: (&[f32], usize), out: (&mut [f32], usize), adds: bool) {
    let Sizes { rows, columns, depth } = sizes;
    let padded = columns.next_multiple_of(LANES);
    assert!(rows <= ROWS && depth <= a.1 && padded <= b.1.min(out.1), "retrieve: a product outside of its tile");
    assert!(a.0.len() >= HELD * a.1 && b.0.len() >= depth * b.1 && out.0.len() >= HELD * out.1);
    dispatch(Multiply { sizes, a, b, out: Out { at: out.0.as_mut_ptr(), apart: out.1, adds } });
}

struct Multiply<'m> {
    sizes: Sizes,
    a: (&'m [f32], usize),
    b: (&'m [f32], usize),
    out: Out,
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const { assert!(S::F32_LANES <= LANES) };
        let Self { sizes: Sizes { rows, columns, depth }, a, b, out } = self;
        let left = Left { at: a.0.as_ptr(), row: a.1, step: 1 };
        let right = Right { at: b.0.as_ptr(), stride: b.1 };
        // SAFETY: `multiply` checked that rows up to HELD and columns up to whole vectors are inside all three.
        unsafe { product(simd, rows, columns, depth, left, right, &out) }
    }
}

struct Out {
    at: *mut f32,
    apart: usize,
    adds: bool,
}

impl SumTarget for Out {
    #[inline(always)]
    unsafe fn start<S: Simd>(&self, simd: S, row: usize, column: usize) -> S::f32s {
        if !self.adds {
            return simd.splat_f32s(0.0);
        }
        // SAFETY: by the caller.
        unsafe { load::<S>(self.at.add(row * self.apart + column)) }
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(&self, _simd: S, row: usize, column: usize, sum: S::f32s) {
        // SAFETY: by the caller.
        unsafe { store::<S>(self.at.add(row * self.apart + column), sum) }
    }
}
