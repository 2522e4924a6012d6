//! The factor of a small positive definite matrix, without an allocation.

/// The most rows of a matrix.
pub(crate) const MOST: usize = 8;

pub(crate) type Vector = [f64; MOST];
pub(crate) type Matrix = [[f64; MOST]; MOST];

/// The factor of S A S = L Lᵀ, where S makes the diagonal 1.
pub(crate) struct Factor {
    pub lower: Matrix,
    pub scale: Vector,
}

impl Factor {
    /// Of a matrix to whose diagonal something is added; `None` if it is not positive definite.
    #[inline]
    pub(crate) fn of(matrix: &Matrix, count: usize, added: impl Fn(usize) -> f64) -> Option<Self> {
        let mut factor = Self { lower: [[0.0; MOST]; MOST], scale: [0.0; MOST] };
        let Self { lower, scale } = &mut factor;
        for i in 0..count {
            let diagonal = matrix[i][i] + added(i);
            scale[i] = diagonal.sqrt().recip();
            if !scale[i].is_finite() {
                return None;
            }
            for j in 0..i {
                let sum: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
                lower[i][j] = (scale[i] * matrix[i][j] * scale[j] - sum) / lower[j][j];
            }
            let rest = scale[i] * diagonal * scale[i] - lower[i][..i].iter().map(|entry| entry * entry).sum::<f64>();
            if rest.is_nan() || rest <= f64::EPSILON {
                return None;
            }
            lower[i][i] = rest.sqrt();
        }
        Some(factor)
    }

    /// Solves L x = b.
    pub(crate) fn forward(&self, x: &mut Vector, count: usize) {
        for i in 0..count {
            let sum: f64 = (0..i).map(|k| self.lower[i][k] * x[k]).sum();
            x[i] = (x[i] - sum) / self.lower[i][i];
        }
    }

    /// Solves Lᵀ x = b.
    pub(crate) fn backward(&self, x: &mut Vector, count: usize) {
        for i in (0..count).rev() {
            let sum: f64 = (i + 1..count).map(|k| self.lower[k][i] * x[k]).sum();
            x[i] = (x[i] - sum) / self.lower[i][i];
        }
    }

    /// A⁻¹.
    pub(crate) fn inverse(&self, count: usize) -> Matrix {
        let mut inverse = [[0.0; MOST]; MOST];
        for at in 0..count {
            let mut column = [0.0; MOST];
            column[at] = self.scale[at];
            self.forward(&mut column, count);
            self.backward(&mut column, count);
            (0..count).for_each(|row| inverse[row][at] = self.scale[row] * column[row]);
        }
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_one() {
        let mut matrix = [[0.0; MOST]; MOST];
        for (i, row) in [[4.0e6, 2.0e3, 1.0], [2.0e3, 3.0, 1e-3], [1.0, 1e-3, 5.0e-6]].iter().enumerate() {
            matrix[i][..3].copy_from_slice(row);
        }
        let inverse = Factor::of(&matrix, 3, |_| 0.0).unwrap().inverse(3);
        for (i, row) in matrix.iter().take(3).enumerate() {
            let product: Vec<f64> =
                (0..3).map(|j| row.iter().zip(&inverse).map(|(entry, column)| entry * column[j]).sum()).collect();
            for (j, product) in product.into_iter().enumerate() {
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-9, "{i} {j}: {product}");
            }
        }
        matrix[0][0] = -1.0;
        assert!(Factor::of(&matrix, 3, |_| 0.0).is_none());
        assert!(Factor::of(&matrix, 3, |at| if at == 0 { 6.0e6 } else { 0.0 }).is_some());
    }
}
