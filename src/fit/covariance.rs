//! The covariance of the free parameters from the triangle of J, whose singular values have the digits that those of JᵀJ lose.

use nalgebra::{DMatrix, DVector, SVD};

pub(super) struct Covariance {
    pub matrix: DMatrix<f64>,
    /// Directions that the data do not determine, in parameters scaled to columns of length 1.
    pub undetermined: Vec<DVector<f64>>,
}

/// (RᵀR)⁻¹ · variance, from singular values of R with columns of length 1; infinite for parameters with a share in a direction whose singular value
/// is below the rounding errors of `rows` rows.
pub(super) fn covariance(triangle: &DMatrix<f64>, rows: usize, variance: f64) -> Covariance {
    let free = triangle.ncols();
    let norms: Vec<f64> =
        triangle.column_iter().map(|column| if column.norm() > 0.0 { column.norm() } else { 1.0 }).collect();
    let scaled = DMatrix::from_fn(triangle.nrows(), free, |i, j| triangle[(i, j)] / norms[j]);
    // A triangle of fewer rows has undetermined directions, which the decomposition would leave out.
    let square = scaled.resize_vertically(free.max(triangle.nrows()), 0.0);
    let svd = SVD::new(square, false, true);
    let vectors = svd.v_t.unwrap_or_else(|| DMatrix::identity(free, free));
    let limit = f64::EPSILON * rows.max(free) as f64 * svd.singular_values.max();
    let mut matrix = DMatrix::zeros(free, free);
    let mut undetermined: Vec<DVector<f64>> = Vec::new();
    for (value, vector) in svd.singular_values.iter().zip(vectors.row_iter()) {
        let direction = DVector::from_fn(free, |at, _| vector[at] / norms[at]);
        if *value > limit {
            matrix += &direction * direction.transpose() * (variance / (value * value));
        } else {
            undetermined.push(vector.transpose());
        }
    }
    for direction in &undetermined {
        let has_share = |at: usize| direction[at].abs() > 1e-6 * direction.amax();
        for at in (0..free).filter(|&at| has_share(at)) {
            matrix.row_mut(at).fill(f64::INFINITY);
            matrix.column_mut(at).fill(f64::INFINITY);
        }
    }
    Covariance { matrix, undetermined }
}

/// The variance of a value with these slopes by the parameters, to first order (the delta method). A slope of 0 leaves out a parameter that the
/// data do not determine: 0 times infinity is no number.
pub(super) fn variance_along(matrix: &DMatrix<f64>, slopes: &DVector<f64>) -> f64 {
    let used: Vec<usize> = (0..slopes.len()).filter(|&at| slopes[at] != 0.0).collect();
    let pairs = used.iter().flat_map(|&i| used.iter().map(move |&j| (i, j)));
    pairs.map(|(i, j)| slopes[i] * matrix[(i, j)] * slopes[j]).sum()
}
