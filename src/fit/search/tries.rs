//! Points that a start is chosen from: parameters in which the model is linear are solved for, and an evolution strategy goes on from the best.

use nalgebra::{DMatrix, DVector};

use super::cmaes::minimise;
use super::draws::Random;
use crate::fit::pass::{Normal, Objective, Sums};
use crate::fit::rows::Problem;

/// Times that a step of the linear parameters with a robust loss is halved, at most.
const HALVES: usize = 6;
/// Generations of an evolution strategy.
const GENERATIONS: usize = 300;

/// Points that are tried.
pub(crate) struct Tries<'t> {
    pub problem: &'t Problem<'t>,
    pub free: &'t [usize],
    /// With the linear loss.
    pub sums: Sums<'t>,
    /// With a convex robust loss and with the problem's own, if that is robust.
    pub robust: Option<[Sums<'t>; 2]>,
    /// Parameters in which the model is linear.
    pub solved: &'t [usize],
    /// Steps of those with a robust loss.
    pub robust_steps: usize,
}

impl Tries<'_> {
    /// The point with linear parameters at their best values within bounds, and its cost; `None` if the model is not finite there.
    pub(crate) fn at(&self, mut x: DVector<f64>) -> Option<(f64, DVector<f64>)> {
        let normal = self.sums.normal(x.as_slice()).ok()?;
        let mut cost = normal.cost;
        if !self.solved.is_empty() {
            cost = solve(&normal, &mut x, self.solved);
            let before = x.clone();
            self.clamp(&mut x);
            if x != before {
                cost = self.sums.normal(x.as_slice()).ok()?.cost;
            }
        }
        // A few outliers may have moved the linear parameters far: a robust loss moves them back.
        if let Some([convex, own]) = &self.robust {
            let mut best = (own.normal(x.as_slice()).ok()?.cost, x);
            for sums in [convex, own].into_iter().filter(|_| self.robust_steps > 0) {
                let Some(x) = self.descended(sums, best.1.clone()) else { continue };
                let cost = own.normal(x.as_slice()).ok().map_or(f64::INFINITY, |normal| normal.cost);
                if cost < best.0 {
                    best = (cost, x);
                }
            }
            (cost, x) = best;
        }
        cost.is_finite().then_some((cost, x))
    }

    /// Puts the linear parameters within their bounds.
    fn clamp(&self, x: &mut DVector<f64>) {
        for &at in self.solved {
            let parameter = &self.problem.parameters[self.free[at]];
            x[at] = x[at].clamp(parameter.low, parameter.high);
        }
    }

    /// Where some steps of the linear parameters lead, each of which lowers the cost.
    fn descended(&self, sums: &Sums<'_>, mut x: DVector<f64>) -> Option<DVector<f64>> {
        let mut normal = sums.normal(x.as_slice()).ok()?;
        for _ in 0..self.robust_steps {
            let mut next = x.clone();
            solve(&normal, &mut next, self.solved);
            self.clamp(&mut next);
            let mut lower = None;
            for _ in 0..HALVES {
                lower = sums.normal(next.as_slice()).ok().filter(|found| found.cost < normal.cost);
                if lower.is_some() {
                    break;
                }
                next = (&next + &x) * 0.5;
            }
            let Some(found) = lower else { break };
            (x, normal) = (next, found);
        }
        Some(x)
    }

    /// The best point that an evolution strategy finds from `best` on, over the parameters in `drawn`.
    pub(crate) fn evolved(&self, best: &DVector<f64>, drawn: &[usize], random: &mut Random) -> DVector<f64> {
        let bounds =
            |at: usize| (self.problem.parameters[self.free[at]].low, self.problem.parameters[self.free[at]].high);
        // One unit of a variable is as large as the parameter, or a quarter of the room between its bounds.
        let unit = |&at: &usize| match bounds(at) {
            (low, high) if (high - low).is_finite() => 0.25 * (high - low),
            _ => best[at].abs().max(1e-3),
        };
        let units: Vec<f64> = drawn.iter().map(unit).collect();
        let point = |u: &DVector<f64>| {
            let mut x = best.clone();
            for ((&at, unit), u) in drawn.iter().zip(&units).zip(u) {
                let (low, high) = bounds(at);
                x[at] = (best[at] + unit * u).clamp(low, high);
            }
            x
        };
        let mut cost = |u: &DVector<f64>| self.at(point(u)).map_or(f64::INFINITY, |(cost, _)| cost);
        let found = minimise(&mut cost, &DVector::zeros(drawn.len()), 1.0, GENERATIONS, random);
        self.at(point(&found)).map_or_else(|| best.clone(), |(_, x)| x)
    }
}

/// Sets the parameters in `solved`, in which the model is linear, to their best values. Returns the cost there.
pub(crate) fn solve(normal: &Normal, x: &mut DVector<f64>, solved: &[usize]) -> f64 {
    let scale: Vec<f64> = solved
        .iter()
        .map(|&at| normal.hessian[(at, at)].sqrt().recip())
        .map(|scale| if scale.is_finite() { scale } else { 0.0 })
        .collect();
    let entry = |i: usize, j: usize| scale[i] * normal.hessian[(solved[i], solved[j])] * scale[j];
    let matrix = DMatrix::from_fn(solved.len(), solved.len(), entry);
    let gradient = DVector::from_fn(solved.len(), |i, _| scale[i] * normal.gradient[solved[i]]);
    let svd = matrix.svd(true, true);
    let limit = 1e-12 * svd.singular_values.max();
    let Ok(step) = svd.solve(&gradient, limit) else { return normal.cost };
    solved.iter().enumerate().for_each(|(i, &at)| x[at] -= scale[i] * step[i]);
    (normal.cost - 0.5 * gradient.dot(&step)).max(0.0)
}
