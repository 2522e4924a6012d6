//! Properties of the f64 reference that need no engine: hand-worked values, invariances, gradients by central differences, and learning.

mod bank;
mod field;
mod gradients;
pub(super) mod learning;
mod propagator;
mod relaxation;
mod retrieval;
mod rotor;
mod scalar;
mod updates;

use super::oracle::{Batch, Energy, Error, Geometry, Random, Retrieval, Rotor};

#[track_caller]
fn near(got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len());
    for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= tolerance, "at {at}: got {got}, expected {expected} within {tolerance:e}");
    }
}

/// Queries, keys, states in (0, 1), one-hot targets, a metric in [0.5, 2) and angles, all random.
fn problem(rotor: Rotor, d: usize, [rows, candidates]: [usize; 2], error: Error) -> (Energy, Geometry, Batch) {
    let n = rotor.n;
    let mut random = Random::new(7);
    let geometry = Geometry {
        metric: (0..n).map(|_| 0.5 + 1.5 * random.uniform()).collect(),
        theta: random.gaussians(rotor.slots(), 0.6),
    };
    let keys = random.gaussians(candidates * n, 1.0);
    let states = (0..candidates * d).map(|_| random.uniform()).collect();
    let retrieval = Retrieval { n, d, beta: 2.0, r: 1.3, eps: 1e-8, keys, states, rotor };
    let queries = random.gaussians(rows * n, 1.0);
    let mut targets = vec![0.0; rows * d];
    for row in 0..rows {
        targets[row * d + random.below(d)] = 1.0;
    }
    (Energy::new(retrieval, error), geometry, Batch { queries, targets })
}
