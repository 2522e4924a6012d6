//! Work over rows in pieces of fixed size, on all threads, with results in order: the number of threads changes no bit.

use std::ops::Range;
use std::sync::Mutex;

use crate::host::ThreadPool;

/// Rows computed at a time: the values of a usual model fit in a core's first cache.
pub(crate) const TILE: usize = 256;
/// Rows of a piece.
pub(crate) const PIECE: usize = 128 * TILE;
/// Pieces whose results are held at a time.
pub(crate) const WAVE: usize = 256;

/// Computes something of each piece and hands the results over in order. Ends at the first error.
pub(crate) fn each<T: Send, E: Send>(
    pool: &ThreadPool,
    pieces: Range<usize>,
    make: impl Fn(usize) -> Result<T, E> + Sync,
    mut take: impl FnMut(T),
) -> Result<(), E> {
    for first in pieces.clone().step_by(WAVE) {
        let parts: Vec<Mutex<Option<Result<T, E>>>> =
            (first..pieces.end.min(first + WAVE)).map(|_| Mutex::new(None)).collect();
        pool.parallel(parts.len(), &|at| {
            let made = make(first + at);
            *parts[at].lock().expect("no thread panicked") = Some(made);
        });
        for part in parts {
            take(part.into_inner().expect("no thread panicked").expect("every piece was computed")?);
        }
    }
    Ok(())
}

/// The rows of a piece.
pub(crate) fn range(piece: usize, rows: usize) -> Range<usize> {
    piece * PIECE..rows.min((piece + 1) * PIECE)
}
