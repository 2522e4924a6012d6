//! L-BFGS (Nocedal and Wright 2006, "Numerical Optimization", algorithms 7.4 and 7.5): each step goes along -H g, where H approximates the inverse
//! Hessian by the latest differences of points and gradients, as far as the line search of [`super::wolfe`] says.

use std::collections::VecDeque;

use super::wolfe::{Line, Point, Search};
use super::{Ending, Minimum, dot, largest};
use crate::error::{Error, Result};

/// Settings of [`lbfgs`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lbfgs {
    /// Differences that are kept.
    pub history: usize,
    /// Most iterations.
    pub iterations: usize,
    /// The search ends when the largest absolute element of the gradient is at most this times that at the start.
    pub gradient_tolerance: f64,
    /// The relative rounding error of a value: differences below it say nothing. The default is for functions in f64; about 1e-6 for f32.
    pub rounding: f64,
}

impl Default for Lbfgs {
    fn default() -> Self {
        Self { history: 10, iterations: 1000, gradient_tolerance: 1e-12, rounding: 1e-14 }
    }
}

/// Minimises a function from `start`. Errors if the function does, or if its value or gradient at `start` is not finite.
///
/// ```
/// use meromorph::train::minimise::{Lbfgs, lbfgs};
///
/// // Rosenbrock's function, whose minimum is at (1, 1).
/// let rosenbrock = async |x: &[f64]| {
///     let (left, right) = (1.0 - x[0], x[1] - x[0] * x[0]);
///     Ok((left * left + 100.0 * right * right, vec![-2.0 * left - 400.0 * x[0] * right, 200.0 * right]))
/// };
/// let found = pollster::block_on(lbfgs(&[-1.2, 1.0], &Lbfgs::default(), rosenbrock))?;
/// assert!((found.x[0] - 1.0).abs() < 1e-8 && (found.x[1] - 1.0).abs() < 1e-8);
/// # Ok::<(), meromorph::Error>(())
/// ```
pub async fn lbfgs(
    start: &[f64],
    settings: &Lbfgs,
    mut function: impl AsyncFnMut(&[f64]) -> Result<(f64, Vec<f64>)>,
) -> Result<Minimum> {
    let (value, gradient) = function(start).await?;
    if gradient.len() != start.len() {
        let (got, expected) = (gradient.len(), start.len());
        return Err(Error::usage(format!("lbfgs: got a gradient of {got} elements, expected {expected}")));
    }
    if !value.is_finite() || gradient.iter().any(|slope| !slope.is_finite()) {
        return Err(Error::new(format!("lbfgs: at the start the value is {value} or its gradient is not finite")));
    }
    let limit = settings.gradient_tolerance * largest(&gradient);
    let mut search = Search { function: &mut function, rounding: settings.rounding, evaluations: 1 };
    let mut at = Point { x: start.to_vec(), value, gradient };
    let mut history = History { pairs: VecDeque::new(), most: settings.history };
    let mut iterations = 0;
    let mut idle = 0;
    let ending = loop {
        if largest(&at.gradient) <= limit {
            break Ending::Gradient;
        }
        if iterations == settings.iterations {
            break Ending::Iterations;
        }
        let direction = history.direction(&at.gradient);
        // Without differences nothing tells the scale of a step: the first one has length 1 at most.
        let first = if history.pairs.is_empty() { 1.0 / dot(&at.gradient, &at.gradient).sqrt().max(1.0) } else { 1.0 };
        let Some(next) = search.along(&Line::new(&at, direction), first).await? else {
            // The approximation may be at fault: the steepest descent decides.
            if history.pairs.is_empty() {
                break Ending::Rounding;
            }
            history.pairs.clear();
            continue;
        };
        iterations += 1;
        let is_idle = (at.value - next.value).abs() <= settings.rounding * at.value.abs()
            && largest(&next.gradient) > 0.5 * largest(&at.gradient);
        idle = if is_idle { idle + 1 } else { 0 };
        history.add(&at, &next);
        at = next;
        if idle == 3 {
            break Ending::Rounding;
        }
    };
    let Point { x, value, gradient } = at;
    Ok(Minimum { x, value, gradient, iterations, evaluations: search.evaluations, ending })
}

/// The latest differences of points and of gradients, s and y, with 1 / (s · y), oldest first.
struct History {
    pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
    most: usize,
}

impl History {
    fn add(&mut self, from: &Point, to: &Point) {
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| b - a).collect::<Vec<f64>>();
        let (s, y) = (difference(&from.x, &to.x), difference(&from.gradient, &to.gradient));
        let curvature = dot(&s, &y);
        // Wolfe's conditions make it positive but for rounding.
        if curvature <= f64::EPSILON * (dot(&s, &s) * dot(&y, &y)).sqrt() {
            return;
        }
        self.pairs.push_back((s, y, 1.0 / curvature));
        if self.pairs.len() > self.most {
            self.pairs.pop_front();
        }
    }

    /// -H g by the two loops of algorithm 7.4, with H = (s · y / y · y) I of the latest pair to start from.
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut q = gradient.to_vec();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for (s, y, weight) in self.pairs.iter().rev() {
            let share = weight * dot(s, &q);
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= share * y);
            shares.push(share);
        }
        let scale = self.pairs.back().map_or(1.0, |(_, y, weight)| 1.0 / (weight * dot(y, y)));
        for q in &mut q {
            *q *= scale;
        }
        for ((s, y, weight), share) in self.pairs.iter().zip(shares.iter().rev()) {
            let back = weight * dot(y, &q);
            q.iter_mut().zip(s).for_each(|(q, s)| *q += (share - back) * s);
        }
        q.into_iter().map(|q| -q).collect()
    }
}
