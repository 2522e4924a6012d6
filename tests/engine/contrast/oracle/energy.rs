//! The energy of a row of weights: F(w) + b C(y, y*), with F(w) = sum_j w_j cost_j + (1 / beta) sum_j w_j ln w_j and y = sum_j w_j s_j.
//!
//! Where it is stationary, w_j is proportional to exp(-beta (cost_j + b e_j)) with e_j = s_j . dC/dy; `relax` iterates that to rest.
//! The difference of what the free (b = 0) and the nudged rest points say about dF/dparameter, over b, tends to the gradient of the free C.

use super::{Geometry, Retrieval, Statistics};

/// C(y, y*).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Error {
    /// |y - y*|^2 / 2
    Squared,
    /// -ln(y . y* + 1e-3) for a one-hot y*
    CrossEntropy,
}

/// The specification's guard against a target with no weight. It is part of the loss, so that `slope` is exactly its derivative.
const FLOOR: f64 = 1e-3;

impl Error {
    pub(crate) fn loss(self, y: &[f64], target: &[f64]) -> f64 {
        match self {
            Self::Squared => 0.5 * y.iter().zip(target).map(|(y, target)| (y - target).powi(2)).sum::<f64>(),
            Self::CrossEntropy => -(dot(y, target) + FLOOR).ln(),
        }
    }

    /// dC/dy.
    pub(crate) fn slope(self, y: &[f64], target: &[f64]) -> Vec<f64> {
        match self {
            Self::Squared => y.iter().zip(target).map(|(y, target)| y - target).collect(),
            Self::CrossEntropy => {
                let likely = dot(y, target) + FLOOR;
                target.iter().map(|target| -target / likely).collect()
            }
        }
    }
}

/// Queries [B, n] and targets [B, d].
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) queries: Vec<f64>,
    pub(crate) targets: Vec<f64>,
}

/// One row at rest: the weights of the last step, and y after it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relaxed {
    pub(crate) weights: Vec<f64>,
    pub(crate) y: Vec<f64>,
}

/// Which nudged phases a difference of phases compares; its number is b.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Nudge {
    /// (G(b) - G(0)) / b
    OneSided(f64),
    /// (G(b) - G(-b)) / 2b
    Symmetric(f64),
}

#[derive(Clone, Debug)]
pub(crate) struct Energy {
    pub(crate) retrieval: Retrieval,
    pub(crate) error: Error,
    /// Steps of a phase; 0.75^64 = 1e-8.
    pub(crate) steps: usize,
    /// The part of the way to the mix that y goes in one step.
    pub(crate) rho: f64,
}

impl Energy {
    pub(crate) fn new(retrieval: Retrieval, error: Error) -> Self {
        Self { retrieval, error, steps: 64, rho: 0.25 }
    }

    /// Repeats w = softmax(-beta (cost + b e(y))), y += rho (sum_j w_j s_j - y), from y = `start`.
    pub(crate) fn relax(&self, costs: &[f64], target: &[f64], b: f64, start: &[f64]) -> Relaxed {
        let mut at = Relaxed { weights: self.retrieval.weights(costs), y: start.to_vec() };
        for _ in 0..self.steps {
            // A free row's weights do not depend on y.
            if b != 0.0 {
                at.weights = self.retrieval.weights(&self.nudged_costs(costs, target, b, &at.y));
            }
            for (y, mixed) in at.y.iter_mut().zip(self.retrieval.mix(&at.weights)) {
                *y += self.rho * (mixed - *y);
            }
        }
        at
    }

    /// cost_j + b s_j . dC/dy.
    fn nudged_costs(&self, costs: &[f64], target: &[f64], b: f64, y: &[f64]) -> Vec<f64> {
        let slope = self.error.slope(y, target);
        let states = self.retrieval.states.chunks_exact(self.retrieval.d);
        costs.iter().zip(states).map(|(cost, state)| cost + b * dot(state, &slope)).collect()
    }

    /// Every row relaxed from y = 0 without a nudge.
    pub(crate) fn free(&self, geometry: &Geometry, batch: &Batch) -> Vec<Relaxed> {
        self.rows(geometry, batch, |_, costs, target| self.relax(costs, target, 0.0, &vec![0.0; self.retrieval.d]))
    }

    /// Every row relaxed with the nudge b from where it was at rest without one.
    pub(crate) fn nudged(&self, geometry: &Geometry, batch: &Batch, b: f64, free: &[Relaxed]) -> Vec<Relaxed> {
        self.rows(geometry, batch, |row, costs, target| self.relax(costs, target, b, &free[row].y))
    }

    fn rows<T>(&self, geometry: &Geometry, batch: &Batch, of: impl Fn(usize, &[f64], &[f64]) -> T) -> Vec<T> {
        let queries = batch.queries.chunks_exact(self.retrieval.n);
        let rows = queries.zip(batch.targets.chunks_exact(self.retrieval.d)).enumerate();
        rows.map(|(row, (query, target))| of(row, &self.retrieval.costs(geometry, query), target)).collect()
    }

    /// The difference of the statistics of phases over b. The states' part is no difference: it is the free phase's, which is exact.
    /// Without a nudge, b = 0, there is no difference and every part is 0.
    pub(crate) fn contrast(&self, geometry: &Geometry, batch: &Batch, nudge: Nudge) -> Statistics {
        let at_rest = self.free(geometry, batch);
        let nudged = |b| Statistics::of(self, geometry, batch, &self.nudged(geometry, batch, b, &at_rest));
        let free = Statistics::of(self, geometry, batch, &at_rest);
        let (high, low, width) = match nudge {
            Nudge::OneSided(b) => (nudged(b), free.clone(), b),
            Nudge::Symmetric(b) => (nudged(b), nudged(-b), 2.0 * b),
        };
        let values = if width == 0.0 { vec![0.0; free.values.len()] } else { free.values };
        Statistics { values, ..high.difference(&low, width) }
    }

    /// The mean over rows of C at the free weights, whose gradient `contrast` approximates.
    pub(crate) fn loss(&self, geometry: &Geometry, batch: &Batch) -> f64 {
        let loss = |_, costs: &[f64], target: &[f64]| {
            self.error.loss(&self.retrieval.mix(&self.retrieval.weights(costs)), target)
        };
        let losses = self.rows(geometry, batch, loss);
        losses.iter().sum::<f64>() / losses.len() as f64
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
