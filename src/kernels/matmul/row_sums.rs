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
            let mut unpacked = [0.0; COLUMNS];
            for first in (at * COLUMNS..a.len()).step_by(width) {
                let row = match a {
                    Values::Floats(a) => &a[first..first + sums.len()],
                    Values::Halves(..) => {
                        a.copy(first, &mut unpacked[..sums.len()]);
                        &unpacked[..]
                    }
                };
                for (sum, x) in sums.iter_mut().zip(row) {
                    *sum += x;
                }
            }
        });
    });
}
