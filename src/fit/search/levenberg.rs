//! Levenberg's and Marquardt's search without bounds, with Nielsen's rule for the damping (Madsen, Nielsen and Tingleff 2004, section 3.2).

use nalgebra::DVector;

use super::arrow::{Factors, Pattern};
use super::stop::{Found, Limits, Stop};
use crate::fit::pass::{Bad, Objective};

/// The first damping, relative to the diagonal of JᵀJ.
const FIRST_DAMPING: f64 = 1e-3;
/// A damping that leaves no step.
const MOST_DAMPING: f64 = 1e30;

/// Searches from `start`.
pub(crate) fn search(
    sums: &dyn Objective,
    pattern: &Pattern,
    start: &DVector<f64>,
    limits: &Limits,
) -> Result<Found, Bad> {
    let mut x = start.clone();
    let mut normal = sums.normal(x.as_slice())?;
    let mut history = vec![normal.cost];
    let (mut evaluations, mut damping, mut growth) = (1, FIRST_DAMPING, 2.0);
    let mut scale = normal.hessian.diagonal().map(|entry| if entry == 0.0 { 1.0 } else { entry });
    let stop = loop {
        if normal.gradient.amax() == 0.0 {
            break Stop::Gradient;
        }
        if evaluations >= limits.evaluations {
            break Stop::Evaluations;
        }
        let damped = Factors::of(pattern, &normal.hessian, |at| damping * scale[at]);
        let step = damped.map(|factors| -factors.solve(&normal.gradient));
        let mut tried = None;
        if let Some(step) = step {
            evaluations += 1;
            let trial = &x + &step;
            tried = match sums.normal(trial.as_slice()) {
                Ok(next) => Some((step, trial, next)),
                Err(Bad::Rows { .. }) => None,
                Err(bad) => return Err(bad),
            };
        }
        let Some((step, trial, next)) = tried.filter(|(.., next)| next.cost < normal.cost) else {
            damping *= growth;
            growth *= 2.0;
            if damping > MOST_DAMPING {
                break Stop::Cost;
            }
            continue;
        };
        let predicted = 0.5 * step.dot(&(scale.component_mul(&step) * damping - &normal.gradient));
        let (actual, before) = (normal.cost - next.cost, normal.cost);
        let is_short = step.norm() < limits.step * (limits.step + x.norm());
        (x, normal) = (trial, next);
        history.push(normal.cost);
        scale = scale.zip_map(&normal.hessian.diagonal(), f64::max);
        damping *= (1.0 - (2.0 * actual / predicted - 1.0).powi(3)).max(1.0 / 3.0);
        growth = 2.0;
        if actual < limits.cost * before || is_short {
            break if is_short { Stop::Step } else { Stop::Cost };
        }
        let factors = Factors::of(pattern, &normal.hessian, |_| 0.0);
        let decrement = factors.map(|factors| normal.gradient.dot(&factors.solve(&normal.gradient)));
        if decrement.is_some_and(|decrement| limits.is_shift_small(decrement, normal.cost)) {
            break Stop::Shift;
        }
    };
    Ok(Found { x, normal, evaluations, stop, history })
}
