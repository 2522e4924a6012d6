//! Shared by several kernels: fragments of WGSL, bodies that pick a variant, work split over the thread pool.

use std::sync::Mutex;

use crate::device::Body;
use crate::host::ThreadPool;

/// Scalar functions that WGSL lacks.
pub const SCALAR: &str = crate::wgsl!("common/scalar", "common/sine");
/// Indices and grids.
pub const INDEX: &str = crate::wgsl!("common/index");
/// Sums and maxima over the lanes that share a row.
pub const TREE: &str = crate::wgsl!("common/tree");
/// Exact predicates on floats, and arithmetic that keeps subnormals.
pub const TOTAL: &str = crate::wgsl!("common/total", "common/wide");
/// The uniform and the polynomials of rational functions.
pub const RATIONAL: &str = crate::wgsl!("common/rational");

/// The counter-based generator.
pub const THREEFRY: &str = crate::wgsl!("common/threefry");

/// Norms of gradients.
pub const NORM: &str = crate::wgsl!("common/norm");
/// The uniform of the perceptron's kernels.
pub const MLP_PARAMS: &str = crate::wgsl!("common/mlp_params");
/// Smooth functions over four lanes.
pub const SMOOTH: &str = crate::wgsl!("common/smooth");

/// Rows up to this long are done by one invocation each, longer ones by a workgroup.
const SHORT_ROW: u32 = 32;

/// Lanes of a workgroup of 128 that share a row of `columns` columns.
pub fn lanes(columns: u32) -> u32 {
    if columns <= SHORT_ROW { 1 } else { 128 }
}

/// A body that picks one of a kernel's variants: WGSL declarations for the device, the variant itself for the CPU path.
pub struct Variant<T> {
    /// The variant.
    pub kind: T,
    /// Its WGSL.
    pub wgsl: String,
}

impl<T: Send + Sync + 'static> Body for Variant<T> {
    fn wgsl(&self) -> String {
        self.wgsl.clone()
    }
}

/// Runs `work` on each piece once, spread over the thread pool.
pub fn each<T: Send>(pieces: impl Iterator<Item = T>, pool: &ThreadPool, work: impl Fn(T) + Sync) {
    let pieces: Vec<_> = pieces.map(|piece| Mutex::new(Some(piece))).collect();
    pool.parallel(pieces.len(), &|at| {
        let piece = pieces[at].lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        piece.into_iter().for_each(&work);
    });
}

/// Rows per piece, for `rows` rows of `width` elements of work each: one piece if handing work to threads costs more than it gains.
pub fn rows_per_piece(rows: usize, width: usize, pool: &ThreadPool) -> usize {
    let pieces = if rows * width < 1 << 13 { 1 } else { 4 * pool.threads() };
    rows.div_ceil(pieces).max(1)
}

/// A tile's sum: sixteen lanes in f32, joined in f64.
#[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
#[inline(always)]
pub fn sum(tile: &[f32]) -> f64 {
    sum_of(tile, |x| x)
}

/// The sum of a function of a tile's values, likewise.
#[expect(clippy::inline_always, reason = "compiled for the caller's instruction set")]
#[inline(always)]
pub fn sum_of(tile: &[f32], value: impl Fn(f32) -> f32) -> f64 {
    let mut lanes = [0.0_f32; 16];
    let chunks = tile.chunks_exact(16);
    let rest: f64 = chunks.remainder().iter().map(|&x| f64::from(value(x))).sum();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += value(x);
        }
    }
    rest + lanes.iter().map(|&x| f64::from(x)).sum::<f64>()
}

/// A tile's largest value.
pub fn largest(tile: &[f32]) -> f32 {
    let mut lanes = [f32::MIN; 16];
    let chunks = tile.chunks_exact(16);
    let rest = chunks.remainder().iter().copied().fold(f32::MIN, f32::max);
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = if value > *lane { value } else { *lane };
        }
    }
    lanes.iter().copied().fold(rest, f32::max)
}
