//! Steps from the QR decomposition of J, for problems whose JᵀJ has lost the digits: powers of a column that is far from 0 for how little it varies are
//! nearly multiples of each other.

use nalgebra::{DMatrix, DVector};

use super::bounds::Bounds;
use super::stop::{Found, Stop};
use crate::fit::pass::{Objective, Sums};

/// Steps, at most.
const STEPS: usize = 20;
/// The least singular value that is no rounding error, for columns of length 1.
const LIMIT: f64 = 1e-14;
/// The expected shift, in standard errors, that is convergence.
const SHIFT: f64 = 1e-5;

/// Goes on from where a search of a problem of one group ended, as long as the cost falls. Also returns how far the parameters would move in one more
/// step, in standard errors.
pub(crate) fn refined(sums: &Sums<'_>, bounds: &Bounds, mut found: Found, dof: usize) -> (Found, Option<f64>) {
    let mut shift = None;
    for _ in 0..STEPS {
        let Some((step, decrement)) = step(sums, &found.x) else { break };
        shift = Some((decrement * dof as f64 / (2.0 * found.normal.cost)).sqrt()).filter(|shift| shift.is_finite());
        if shift.is_some_and(|shift| shift <= SHIFT) {
            found.stop = Stop::Shift;
            break;
        }
        let next = &found.x + step;
        if !bounds.hold(&next) {
            break;
        }
        found.evaluations += 1;
        match sums.normal(next.as_slice()) {
            Ok(normal) if normal.cost < found.normal.cost => (found.x, found.normal) = (next, normal),
            _ => break,
        }
        found.history.push(found.normal.cost);
    }
    (found, shift)
}

/// The Gauss–Newton step, and |J step|².
fn step(sums: &Sums<'_>, x: &DVector<f64>) -> Option<(DVector<f64>, f64)> {
    let triangle = sums.triangle_with_residuals(x.as_slice()).ok()?;
    let free = x.len();
    let lengths: Vec<f64> = (0..free).map(|at| triangle.column(at).norm()).collect();
    let scaled = |i: usize, j: usize| if lengths[j] > 0.0 { triangle[(i, j)] / lengths[j] } else { 0.0 };
    let svd = DMatrix::from_fn(free, free, scaled).svd(true, true);
    let residuals = DVector::from_fn(free, |at, _| triangle[(at, free)]);
    let turned = svd.u.as_ref()?.tr_mul(&residuals);
    let least = LIMIT * svd.singular_values.max();
    let is_determined = |at: &usize| svd.singular_values[*at] > least;
    let decrement: f64 = (0..free).filter(is_determined).map(|at| turned[at] * turned[at]).sum();
    let scaled = svd.solve(&residuals, least).ok()?;
    Some((DVector::from_fn(free, |at, _| if lengths[at] > 0.0 { -scaled[at] / lengths[at] } else { 0.0 }), decrement))
}
