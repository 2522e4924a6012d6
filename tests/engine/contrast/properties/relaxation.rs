//! Relaxation: its rest point is where F + b C is least, and errors are the derivatives of their losses.

use super::super::oracle::{
    Batch, Energy, Error, Geometry, Nudge, Random, Rates, Relaxed, Rotor, Statistics, central, descend,
};
use super::{near, problem};

const ERRORS: [Error; 2] = [Error::Squared, Error::CrossEntropy];

fn small(error: Error) -> (Energy, Geometry, Batch) {
    problem(Rotor::new(4, 4), 3, [2, 10], error)
}

#[test]
fn losses_are_those_worked_by_hand_and_slopes_are_their_derivatives() {
    let (y, target) = ([0.2, 0.5, 0.3], [0.0, 1.0, 0.0]);
    near(&[Error::Squared.loss(&y, &target)], &[0.5 * (0.04 + 0.25 + 0.09)], 1e-15);
    near(&[Error::CrossEntropy.loss(&y, &target)], &[-(0.501_f64.ln())], 1e-15);
    near(&Error::Squared.slope(&y, &target), &[0.2, -0.5, 0.3], 1e-15);
    near(&Error::CrossEntropy.slope(&y, &target), &[0.0, -1.0 / 0.501, 0.0], 1e-15);
    for error in ERRORS {
        near(&error.slope(&y, &target), &central(&y, 1e-6, |y| error.loss(y, &target)), 1e-8);
    }
}

#[test]
fn a_free_row_rests_at_the_weights_of_retrieval() {
    let (energy, geometry, batch) = small(Error::Squared);
    let free = energy.free(&geometry, &batch);
    for (relaxed, query) in free.iter().zip(batch.queries.chunks_exact(4)) {
        let weights = energy.retrieval.weights(&energy.retrieval.costs(&geometry, query));
        assert_eq!(relaxed.weights, weights);
        let mix = energy.retrieval.mix(&weights);
        near(&relaxed.y, &mix, 2e-8);
        // What is left of the way after 64 steps of a quarter.
        let left: Vec<f64> = mix.iter().map(|mix| mix * (1.0 - 0.75_f64.powi(64))).collect();
        near(&relaxed.y, &left, 1e-14);
    }
}

/// F(w) + b C(y, y*).
fn total(energy: &Energy, costs: &[f64], target: &[f64], b: f64, weights: &[f64]) -> f64 {
    let expected: f64 = weights.iter().zip(costs).map(|(w, cost)| w * cost).sum();
    let entropy: f64 = weights.iter().map(|w| w * w.ln()).sum();
    expected + entropy / energy.retrieval.beta + b * energy.error.loss(&energy.retrieval.mix(weights), target)
}

#[test]
fn a_nudged_row_rests_where_the_energy_is_least() {
    for (error, b) in ERRORS.into_iter().flat_map(|error| [(error, 0.3), (error, -0.1)]) {
        let (energy, geometry, batch) = small(error);
        let costs = energy.retrieval.costs(&geometry, &batch.queries[..4]);
        let target = &batch.targets[..3];
        let at = |weights: &[f64]| total(&energy, &costs, target, b, weights);
        let weights = energy.relax(&costs, target, b, &[0.0; 3]).weights;
        let mut random = Random::new(2);
        for _ in 0..50 {
            let moved: Vec<f64> = weights.iter().map(|w| w * (1e-3 * random.gaussian()).exp()).collect();
            let sum: f64 = moved.iter().sum();
            let moved: Vec<f64> = moved.into_iter().map(|w| w / sum).collect();
            assert!(at(&moved) > at(&weights), "{error:?} {b}: {} {}", at(&moved), at(&weights));
        }
        // The nudge moves the row, towards its target for a positive b.
        let free = energy.free(&geometry, &batch)[0].y.clone();
        let nudged = energy.retrieval.mix(&weights);
        assert_eq!(error.loss(&nudged, target) < error.loss(&free, target) - 1e-4, b > 0.0, "{error:?} {b}");
    }
}

#[test]
fn without_a_nudge_both_phases_agree_and_nothing_is_learned() {
    let weights = |rows: &[Relaxed]| rows.iter().map(|row| row.weights.clone()).collect::<Vec<_>>();
    for error in ERRORS {
        let (energy, mut geometry, batch) = small(error);
        let free = energy.free(&geometry, &batch);
        let nudged = energy.nudged(&geometry, &batch, 0.0, &free);
        assert_eq!(weights(&free), weights(&nudged));
        let [a, b] = [&free, &nudged].map(|rows| Statistics::of(&energy, &geometry, &batch, rows));
        assert_eq!((&a.metric, &a.angles, &a.queries, &a.keys), (&b.metric, &b.angles, &b.queries, &b.keys));
        let before = geometry.clone();
        for nudge in [Nudge::OneSided(0.0), Nudge::Symmetric(0.0)] {
            let gradient = energy.contrast(&geometry, &batch, nudge);
            assert!(descend(&mut geometry, &gradient, Rates { metric: 1.0, theta: 1.0 }));
            assert_eq!(geometry, before);
        }
    }
}
