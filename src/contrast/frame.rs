//! A frame that follows from the data: Q has the eigenvectors of C = E[z zᵀ] as rows, so that the coordinates Q z are uncorrelated.

use crate::error::{Error, Result};
use crate::math::symmetric_eigen;

/// Q [n, n] for rows z [rows, n]: eigenvectors as rows, of the largest eigenvalue first, each with its largest entry above 0.
///
/// Errors if there are no rows of n numbers, or a number is not finite.
pub fn derived_frame(rows: &[f32], n: usize) -> Result<Vec<f32>> {
    let is_whole = n > 0 && !rows.is_empty() && rows.len().is_multiple_of(n);
    if !is_whole || rows.iter().any(|x| !x.is_finite()) {
        let got = rows.len();
        return Err(Error::new(format!("contrast: frame: got {got} numbers, expected finite ones in rows of {n}")));
    }
    let count = (rows.len() / n) as f64;
    let mut moments = vec![0.0; n * n];
    for row in rows.chunks_exact(n) {
        for (at, moment) in moments.iter_mut().enumerate() {
            *moment += f64::from(row[at / n]) * f64::from(row[at % n]) / count;
        }
    }
    let (_, mut frame) = symmetric_eigen(&moments, n);
    for row in frame.chunks_exact_mut(n) {
        let largest = row.iter().copied().fold(0.0_f64, |a, b| if b.abs() > a.abs() { b } else { a });
        for x in row.iter_mut() {
            *x *= largest.signum();
        }
    }
    Ok(frame.into_iter().map(|x| x as f32).collect())
}

/// Q z for rows z [rows, n].
pub(super) fn turned(frame: &[f32], rows: &[f32], n: usize) -> Vec<f32> {
    let product = |row: &[f32], i: usize| frame[i * n..][..n].iter().zip(row).map(|(q, z)| q * z).sum::<f32>();
    rows.chunks_exact(n).flat_map(|row| (0..n).map(move |i| product(row, i))).collect()
}
