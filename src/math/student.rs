//! How far a mean may be from the truth: two-sided quantiles of the normal distribution and of Student's t.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// From so many degrees of freedom on, Student's t is expanded around the normal distribution, which is more precise than the library's.
const MANY: usize = 1_000;

/// Half the width, in standard errors, of an interval that holds with probability `level`, if the standard error is known.
pub fn normal_reach(level: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + 0.5 * level)
}

/// The same, if the standard error is estimated with `dof` degrees of freedom; with many of them by Abramowitz and Stegun 26.7.5. NaN without.
pub fn student_reach(level: f64, dof: usize) -> f64 {
    if dof < MANY {
        let student = StudentsT::new(0.0, 1.0, dof as f64);
        return student.map_or(f64::NAN, |student| student.inverse_cdf(0.5 + 0.5 * level));
    }
    let (z, share) = (normal_reach(level), 1.0 / dof as f64);
    let square = z * z;
    let first = z * (square + 1.0) / 4.0;
    let second = z * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    z + share * (first + share * (second + share * third))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From SciPy 1.17, `scipy.stats.t.ppf`.
    #[test]
    fn quantiles_are_those_of_scipy() {
        for (level, dof, expected) in [
            (0.95, 1, 12.706_204_736_174_7),
            (0.95, 10, 2.228_138_851_986_27),
            (0.99, 3, 5.840_909_309_733_36),
            (0.683, 150, 1.003_990_595_310),
            (0.95, 999, 1.962_341_461_133),
            (0.95, 100_000, 1.959_987_707_535),
        ] {
            let got = student_reach(level, dof);
            assert!((got - expected).abs() < 1e-9 * expected, "{level}, {dof}: {got}, expected {expected}");
        }
        assert!(student_reach(0.95, 0).is_nan());
    }
}
