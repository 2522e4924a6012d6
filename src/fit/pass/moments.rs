//! How sure the parameters of a robust loss are: with ψ(r) = r ρ'(z) and p parameters of n rows, their covariance is
//! k² Σψ² / (n - p) / (Σψ' / n)² (JᵀJ)⁻¹, where k = 1 + p / n var(ψ') / mean(ψ')² (Huber 1981, section 7.6; `H1` of statsmodels). J has no weights of
//! the loss.

/// Sums over rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    rows: f64,
    /// ½ Σ ρ.
    pub cost: f64,
    /// Σ ψ².
    square: f64,
    /// Σ ψ' and Σ ψ'².
    slope: f64,
    slope_square: f64,
}

impl Moments {
    /// Adds a row by its ψ and ψ'.
    pub(crate) fn add(&mut self, psi: f64, slope: f64) {
        self.rows += 1.0;
        self.square += psi * psi;
        self.slope += slope;
        self.slope_square += slope * slope;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.cost += other.cost;
        self.square += other.square;
        self.slope += other.slope;
        self.slope_square += other.slope_square;
    }

    /// By what the triangle R of J is multiplied, so that (RᵀR)⁻¹ times what a search takes for the variance of a residual, 1 or 2 cost / (n - p), is
    /// the covariance. `None` without rows of a robust loss or without degrees of freedom; 0 if the rows say nothing.
    pub(crate) fn factor(&self, free: usize, is_absolute: bool) -> Option<f64> {
        let (rows, free) = (self.rows, free as f64);
        if rows <= free {
            return None;
        }
        let mean = self.slope / rows;
        if mean <= 0.0 {
            return Some(0.0);
        }
        let spread = (self.slope_square / rows - mean * mean).max(0.0);
        let correction = 1.0 + free / rows * spread / (mean * mean);
        let wanted = correction * correction * self.square / (rows - free) / (mean * mean);
        let taken = if is_absolute { 1.0 } else { 2.0 * self.cost / (rows - free) };
        // Residuals of 0 have errors of 0.
        Some(if wanted > 0.0 { (taken / wanted).sqrt() } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Huber at scale 1 with residuals ½, -½, 1 and 9 and one parameter: ψ is ½, -½, 1, 1, ψ' is 1, 1, 1, 0; Σψ² = 2.5, mean ψ' = ¾, var ψ' = 3/16,
    /// k = 1 + ¼ · ⅓ = 13/12, so that the variance is (13/12)² · 2.5 / 3 · 16/9.
    #[test]
    fn the_covariance_is_that_of_an_m_estimator() {
        let (mut moments, mut more) = (Moments::default(), Moments::default());
        for psi in [0.5, -0.5, 1.0] {
            moments.add(psi, 1.0);
        }
        more.add(1.0, 0.0);
        moments.merge(&more);
        let wanted = (13.0_f64 / 12.0).powi(2) * 2.5 / 3.0 * 16.0 / 9.0;
        let factor = moments.factor(1, true).unwrap();
        assert!((1.0 / (factor * factor) - wanted).abs() < 1e-14, "{factor}");
        moments.cost = 6.0;
        let factor = moments.factor(1, false).unwrap();
        assert!((4.0 / (factor * factor) - wanted).abs() < 1e-14, "{factor}");
        assert_eq!((moments.factor(4, true), Moments::default().factor(0, true)), (None, None));
    }
}
