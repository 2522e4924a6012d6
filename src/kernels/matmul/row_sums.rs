//! The CPU path of the sums that come with a product: those of the rows of its left operand, which is stored transposed.

use crate::host::ThreadPool;
use crate::kernels::common::each;
use crate::kernels::halves::Values;
use crate::simd::widened;

/// Columns that a thread sums at a time.
const COLUMNS: usize = 256;
/// Fewer numbers are summed before other threads would wake up.
const WORTH_SHARING: usize = 1 << 16;

/// sums[c] = Σ_r a[r, c] over a [rows, sums], in the order of the rows.
pub(super) fn sum_columns(a: Values<'_>, sums: &mut [f32], pool: &ThreadPool) {
    let width = sums.len();
    let is_one = matches!(a, Values::Floats(_)) && a.len() < WORTH_SHARING;
    let pieces = sums.chunks_mut(if is_one { width.max(1) } else { COLUMNS });
    each(pieces.enumerate(), pool, |(at, sums)| {
        sums.fill(0.0);
        widened(|| {
            let columns = sums.len();
            let mut add = |rows: &[f32]| {
                for row in rows.chunks_exact(columns) {
                    sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
                }
            };
            let mut unpacked = [0.0; 4 * COLUMNS];
            // Whole rows are unpacked several at once.
            let rows = if columns == width { (unpacked.len() / width).max(1) } else { 1 };
            for first in (at * COLUMNS..a.len()).step_by(rows * width) {
                let count = if rows == 1 { columns } else { (rows * width).min(a.len() - first) };
                if let Values::Floats(a) = a {
                    add(&a[first..first + count]);
                } else {
                    a.copy(first, &mut unpacked[..count]);
                    add(&unpacked[..count]);
                }
            }
        });
    });
}
