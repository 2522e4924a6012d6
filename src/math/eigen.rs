//! Eigenvalues of small symmetric matrices by Jacobi's rotations.

/// More sweeps than any matrix of a few hundred rows needs.
const SWEEPS: usize = 64;

/// Eigenvalues of a symmetric matrix [n, n], largest first, and their unit eigenvectors as rows [n, n].
///
/// Cyclic rotations (Jacobi 1846; Golub and Van Loan, section 8.5), until what is off the diagonal is rounding.
pub fn symmetric_eigen(matrix: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut a, mut rows) = (matrix.to_vec(), vec![0.0; n * n]);
    (0..n).for_each(|i| rows[i * n + i] = 1.0);
    let size: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..SWEEPS {
        let off: f64 = (0..n * n).filter(|at| at / n != at % n).map(|at| a[at] * a[at]).sum();
        if off <= f64::EPSILON.powi(2) * size {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p * n + q] != 0.0 {
                    rotate(&mut a, &mut rows, n, (p, q));
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]));
    let values = order.iter().map(|&i| a[i * n + i]).collect();
    (values, order.iter().flat_map(|&i| &rows[i * n..][..n]).copied().collect())
}

/// Turns rows and columns p and q so that a[p, q] is 0.
fn rotate(a: &mut [f64], rows: &mut [f64], n: usize, (p, q): (usize, usize)) {
    let ratio = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
    let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
    let cos = tangent.hypot(1.0).recip();
    let sin = tangent * cos;
    let turned = |x: f64, y: f64| (cos * x - sin * y, sin * x + cos * y);
    for k in 0..n {
        (a[k * n + p], a[k * n + q]) = turned(a[k * n + p], a[k * n + q]);
    }
    for k in 0..n {
        (a[p * n + k], a[q * n + k]) = turned(a[p * n + k], a[q * n + k]);
        (rows[p * n + k], rows[q * n + k]) = turned(rows[p * n + k], rows[q * n + k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_of_two_is_worked_by_hand() {
        let (values, rows) = symmetric_eigen(&[2.0, 1.0, 1.0, 2.0], 2);
        assert!((values[0] - 3.0).abs() < 1e-15 && (values[1] - 1.0).abs() < 1e-15, "{values:?}");
        let half = 0.5_f64.sqrt();
        assert!((rows[0] - rows[1]).abs() < 1e-15 && (rows[0].abs() - half).abs() < 1e-15, "{rows:?}");
        assert!((rows[2] + rows[3]).abs() < 1e-15, "{rows:?}");
    }

    #[test]
    fn a_matrix_is_the_sum_over_its_eigenvectors() {
        let n = 7;
        let entry =
            |at: usize| ((at / n + 1) as f64 * (at % n + 1) as f64).sin() + f64::from(u8::from(at / n == at % n));
        let matrix: Vec<f64> = (0..n * n).map(entry).collect();
        let (values, rows) = symmetric_eigen(&matrix, n);
        assert!(values.windows(2).all(|pair| pair[0] >= pair[1]), "{values:?}");
        for (at, entry) in matrix.iter().enumerate() {
            let (i, j) = (at / n, at % n);
            let sum: f64 = (0..n).map(|k| values[k] * rows[k * n + i] * rows[k * n + j]).sum();
            let product: f64 = (0..n).map(|k| rows[i * n + k] * rows[j * n + k]).sum();
            assert!((sum - entry).abs() < 1e-13, "{i}, {j}: {sum}");
            assert!((product - f64::from(u8::from(i == j))).abs() < 1e-14, "{i}, {j}: {product}");
        }
    }
}
