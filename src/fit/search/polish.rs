//! The last digits: variables next to a bound that the gradient pushes them to are put on it, and the others take undamped Gauss–Newton steps as
//! long as the expected decrease at least halves.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::arrow::{Factors, Pattern};
use super::bounds::Bounds;
use super::stop::Found;
use crate::error::Result;
use crate::fit::pass::normal::unread;
use crate::fit::pass::{Normal, Objective};

/// Steps of this share of a parameter change no digit that the sums determine.
const NEGLIGIBLE: f64 = 1e-13;
/// More steps than a converging fit takes.
const MOST_STEPS: usize = 50;
/// A move to a bound that changes the cost by less than this share of it: the search stops short of bounds.
const NEAR: f64 = 1e-6;

/// Improves what a search found; its cost rises by rounding errors at most.
pub(crate) fn polish(sums: &dyn Objective, (pattern, bounds): (&Pattern, &Bounds), found: Found) -> Result<Found> {
    let mut found = snapped(sums, bounds, found)?;
    let newton = |x: &DVector<f64>, normal: &Normal| newton(normal, &bounds.inner(x, &normal.gradient), pattern);
    let Some((mut step, mut decrement)) = newton(&found.x, &found.normal) else { return Ok(found) };
    for _ in 0..MOST_STEPS {
        let is_negligible = step.iter().zip(&found.x).all(|(step, x)| step.abs() <= NEGLIGIBLE * x.abs());
        if is_negligible {
            break;
        }
        let trial = &found.x + &step;
        if !bounds.hold(&trial) || trial == found.x {
            break;
        }
        found.evaluations += 1;
        let normal = match sums.normal(trial.as_slice()) {
            Ok(normal) => normal,
            Err(bad) => {
                unread(bad)?;
                break;
            }
        };
        let Some((next_step, next_decrement)) = newton(&trial, &normal) else { break };
        // Near the minimum costs differ by rounding errors only, so the decrement decides.
        if next_decrement >= decrement || normal.cost > found.normal.cost * (1.0 + 1e-10) {
            break;
        }
        let has_halved = next_decrement <= 0.5 * decrement;
        (found.x, found.normal, step, decrement) = (trial, normal, next_step, next_decrement);
        if !has_halved {
            break;
        }
    }
    Ok(found)
}

/// Puts variables on bounds that they are next to and pushed to, one by one, if that does not raise the cost.
fn snapped(sums: &dyn Objective, bounds: &Bounds, mut found: Found) -> Result<Found> {
    for at in 0..found.x.len() {
        let Normal { gradient, hessian, cost, .. } = &found.normal;
        let (slope, value) = (gradient[at], found.x[at]);
        let bound = if slope > 0.0 { bounds.low[at] } else { bounds.high[at] };
        let apart = (bound - value).abs();
        // Next to it: by the decrease of the cost, and by the width of the cost's valley.
        let is_next =
            slope.abs() * apart <= NEAR * cost && apart * hessian[(at, at)].sqrt() <= 1e-3 * (2.0 * cost).sqrt();
        if slope == 0.0 || apart == 0.0 || !is_next {
            continue;
        }
        let mut x = found.x.clone();
        x[at] = bound;
        found.evaluations += 1;
        match sums.normal(x.as_slice()) {
            Ok(normal) if normal.cost <= found.normal.cost => (found.x, found.normal) = (x, normal),
            Ok(_) => {}
            Err(bad) => unread(bad)?,
        }
    }
    Ok(found)
}

/// The Gauss–Newton step of the variables in `inner`, ascending, and gᵀ H⁻¹ g; `None` if H is singular there.
pub(crate) fn newton(normal: &Normal, inner: &[usize], pattern: &Pattern) -> Option<(DVector<f64>, f64)> {
    let count = inner.len();
    // Every variable is at a bound, and no step is left.
    if count == 0 {
        return Some((DVector::zeros(normal.gradient.len()), 0.0));
    }
    if !pattern.is_dense() {
        let hessian = normal.hessian.select_rows(inner).select_columns(inner);
        let gradient = normal.gradient.select_rows(inner);
        let only = pattern.only(inner);
        let scaled = Factors::of(&only, &hessian, |_| 0.0)?.solve(&gradient);
        let mut step = DVector::zeros(normal.gradient.len());
        inner.iter().zip(&scaled).for_each(|(&at, scaled)| step[at] = -scaled);
        return Some((step, gradient.dot(&scaled)));
    }
    let scale = DVector::from_iterator(count, inner.iter().map(|&at| normal.hessian[(at, at)].sqrt().recip()));
    let hessian = DMatrix::from_fn(count, count, |i, j| scale[i] * normal.hessian[(inner[i], inner[j])] * scale[j]);
    if !hessian.iter().all(|entry| entry.is_finite()) {
        return None;
    }
    let gradient = DVector::from_fn(count, |i, _| scale[i] * normal.gradient[inner[i]]);
    let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new(hessian);
    if eigenvalues.min() <= count as f64 * f64::EPSILON * eigenvalues.max() {
        return None;
    }
    let turned = eigenvectors.tr_mul(&gradient);
    let decrement = turned.iter().zip(&eigenvalues).map(|(turned, value)| turned * turned / value).sum();
    let scaled = -(&eigenvectors * turned.component_div(&eigenvalues));
    let mut step = DVector::zeros(normal.gradient.len());
    (0..count).for_each(|i| step[inner[i]] = scale[i] * scaled[i]);
    Some((step, decrement))
}
