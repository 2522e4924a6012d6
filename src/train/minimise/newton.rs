//! Newton's method with the diagonal of the Hessian: x -= rate · g / max(|h|, ε), where h is an exponential mean of the diagonals. The absolute value
//! makes it descend where the curvature is negative, and ε bounds the step where it vanishes (the step of Sophia, Liu et al. 2023, without its clip).

use super::{Ending, Minimum, largest};
use crate::error::{Error, Result};

/// A value, its gradient, and the diagonal of its Hessian, exact or estimated.
pub type Diagonal = (f64, Vec<f64>, Vec<f64>);

/// Settings of [`newton_diagonal`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonDiagonal {
    /// Share of the full step.
    pub rate: f64,
    /// Share of the mean that each further diagonal leaves: 0 takes the latest diagonal alone.
    pub decay: f64,
    /// The least curvature.
    pub epsilon: f64,
    /// Most iterations.
    pub iterations: usize,
    /// The search ends when the largest absolute element of the gradient is at most this times that at the start.
    pub gradient_tolerance: f64,
}

impl Default for NewtonDiagonal {
    fn default() -> Self {
        Self { rate: 1.0, decay: 0.9, epsilon: 1e-8, iterations: 100, gradient_tolerance: 1e-10 }
    }
}

/// Minimises a function from `start`. There is no line search: where the Hessian is far from diagonal, a smaller rate is needed. The result is the
/// last point. Errors if the function does, or if its value, gradient or diagonal is not finite.
///
/// ```
/// use meromorph::train::minimise::{NewtonDiagonal, newton_diagonal};
///
/// // (x - 3)² + 50 (y + 1)²: one step.
/// let bowl = async |x: &[f64]| {
///     let (left, right) = (x[0] - 3.0, x[1] + 1.0);
///     Ok((left * left + 50.0 * right * right, vec![2.0 * left, 100.0 * right], vec![2.0, 100.0]))
/// };
/// let found = pollster::block_on(newton_diagonal(&[0.0, 0.0], &NewtonDiagonal::default(), bowl))?;
/// assert_eq!((found.x, found.iterations), (vec![3.0, -1.0], 1));
/// # Ok::<(), meromorph::Error>(())
/// ```
pub async fn newton_diagonal(
    start: &[f64],
    settings: &NewtonDiagonal,
    mut function: impl AsyncFnMut(&[f64]) -> Result<Diagonal>,
) -> Result<Minimum> {
    let mut x = start.to_vec();
    let mut mean: Vec<f64> = Vec::new();
    let mut limit = None;
    let mut iterations = 0;
    loop {
        let (value, gradient, diagonal) = function(&x).await?;
        if [gradient.len(), diagonal.len()] != [x.len(); 2] {
            let (gradient, diagonal, n) = (gradient.len(), diagonal.len(), x.len());
            let got = format!("a gradient of {gradient} and a diagonal of {diagonal} elements");
            return Err(Error::usage(format!("newton_diagonal: got {got}, expected {n}")));
        }
        if !value.is_finite() || gradient.iter().chain(&diagonal).any(|number| !number.is_finite()) {
            let what = "the value, gradient or diagonal is not finite; try a smaller rate";
            return Err(Error::new(format!("newton_diagonal: after {iterations} iterations {what}")));
        }
        let limit = *limit.get_or_insert(settings.gradient_tolerance * largest(&gradient));
        let is_small = largest(&gradient) <= limit;
        if is_small || iterations == settings.iterations {
            let ending = if is_small { Ending::Gradient } else { Ending::Iterations };
            return Ok(Minimum { x, value, gradient, iterations, evaluations: iterations + 1, ending });
        }
        if mean.is_empty() {
            // The first diagonal is its own mean.
            mean.clone_from(&diagonal);
        }
        for ((x, g), (mean, h)) in x.iter_mut().zip(&gradient).zip(mean.iter_mut().zip(&diagonal)) {
            *mean += (1.0 - settings.decay) * (h - *mean);
            *x -= settings.rate * g / mean.abs().max(settings.epsilon);
        }
        iterations += 1;
    }
}
