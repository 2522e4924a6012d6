//! The CPU path of the sums that come with a product: those of the rows of its left operand, which is stored transposed.

use crate::host::ThreadPool;
use crate::kernels::common::each;
use crate::simd::widened;

/// Columns that a thread sums at a time.
const COLUMNS: usize = 256;
/// Fewer numbers are summed before other threads would wake up.
const WORTH_SHARING: usize = 1 << 16;

/// sums[c] = Σ_r a[r, c] over a [rows, sums], in the order of the rows.
pub(super) fn sum_columns(a: &[f32], sums: &mut [f32], pool: &ThreadPool) {
    let width = sums.len();
    let pieces = sums.chunks_mut(if a.len() < WORTH_SHARING { width.max(1) } else { COLUMNS });
    each(pieces.enumerate(), pool, |(at, sums)| {
        sums.fill(0.0);
        widened(|| {
            for row in a.chunks_exact(width) {
                for (sum, x) in sums.iter_mut().zip(&row[at * COLUMNS..]) {
                    *sum += x;
                }
            }
        });
    });
}
