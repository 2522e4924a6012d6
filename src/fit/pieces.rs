//! Work over rows in pieces of fixed size, on all threads, with results in order: the number of threads changes no bit.

use std::sync::Mutex;

use super::tile::TILE;
use crate::host::ThreadPool;

/// Rows of a piece.
pub(super) const PIECE: usize = 128 * TILE;
/// Pieces whose results are held at a time.
const WAVE: usize = 256;

/// Computes something of each of so many pieces and hands the results over in order. Ends at the first error.
pub(super) fn each<T: Send, E: Send>(
    pool: &ThreadPool,
    pieces: usize,
    make: impl Fn(usize) -> Result<T, E> + Sync,
    mut take: impl FnMut(T),
) -> Result<(), E> {
    for first in (0..pieces).step_by(WAVE) {
        let parts: Vec<Mutex<Option<Result<T, E>>>> = (0..WAVE.min(pieces - first)).map(|_| Mutex::new(None)).collect();
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
pub(super) fn range(piece: usize, rows: usize) -> std::ops::Range<usize> {
    piece * PIECE..rows.min((piece + 1) * PIECE)
}
