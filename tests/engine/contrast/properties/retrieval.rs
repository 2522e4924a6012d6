//! Retrieval: forms of the quadratic form, symmetries of the weights, and the noise the tests are made of.

use super::super::oracle::{Batch, Energy, Error, Geometry, Random, Retrieval, Rotor, speed};
use super::{near, problem};

fn random_retrieval(live: usize) -> (Retrieval, Geometry, Vec<f64>) {
    let (Energy { retrieval, .. }, geometry, Batch { queries, .. }) =
        problem(Rotor::new(6, live), 4, [1, 20], Error::Squared);
    (retrieval, geometry, queries)
}

#[test]
fn costs_weights_and_mix_are_those_worked_by_hand() {
    let (keys, states) = (vec![3.0, 4.0, 0.0, 0.0], vec![1.0, 0.0, 0.0, 2.0]);
    let retrieval = Retrieval { n: 2, d: 2, beta: 0.1, r: 2.0, eps: 0.0, keys, states, rotor: Rotor::new(2, 0) };
    let geometry = Geometry { metric: vec![4.0, 1.75], theta: Vec::new() };
    let costs = retrieval.costs(&geometry, &[0.0, 0.0]);
    near(&costs, &[2.0 * 8.0, 0.0], 1e-14);
    let weights = retrieval.weights(&costs);
    let small = (-1.6_f64).exp();
    near(&weights, &[small / (1.0 + small), 1.0 / (1.0 + small)], 1e-15);
    near(&retrieval.mix(&weights), &[small / (1.0 + small), 2.0 / (1.0 + small)], 1e-15);
    assert_eq!(speed(&[1.0, 2.0], &[0.0, 0.0], 1e-8), 1e-4);
}

#[test]
fn diagonal_block_and_dense_forms_agree() {
    // With one layer of three planes the dense metric Q' diag(g) Q has blocks of two.
    for live in [3, 6] {
        let (retrieval, geometry, query) = random_retrieval(live);
        let (n, rotor) = (retrieval.n, &retrieval.rotor);
        let matrix = rotor.matrix(&geometry.theta);
        let dense = |a: usize, b: usize| -> f64 {
            (0..n).map(|i| matrix[i * n + a] * geometry.metric[i] * matrix[i * n + b]).sum()
        };
        let same_block = |a: usize, b: usize| a / 2 == b / 2;
        let outside = (0..n * n).map(|at| (at / n, at % n)).filter(|&(a, b)| !same_block(a, b));
        let largest = outside.map(|(a, b)| dense(a, b).abs()).fold(0.0, f64::max);
        assert_eq!(largest < 1e-14, live == 3, "{largest}");
        for (j, cost) in retrieval.costs(&geometry, &query).into_iter().enumerate() {
            let v: Vec<f64> = retrieval.key(j).iter().zip(&query).map(|(c, q)| c - q).collect();
            let form: f64 = (0..n * n).map(|at| v[at / n] * dense(at / n, at % n) * v[at % n]).sum();
            near(&[cost], &[retrieval.r * (form + retrieval.eps).sqrt()], 1e-13);
        }
    }
}

#[test]
fn rotated_keys_less_the_rotated_query_are_the_offsets() {
    let (retrieval, geometry, query) = random_retrieval(6);
    let turned = retrieval.rotor.apply(&geometry.theta, &query);
    for j in 0..retrieval.candidates() {
        let key = retrieval.rotor.apply(&geometry.theta, retrieval.key(j));
        let difference: Vec<f64> = key.iter().zip(&turned).map(|(c, q)| c - q).collect();
        near(&retrieval.offset(&geometry.theta, &query, j), &difference, 1e-14);
    }
}

#[test]
fn turning_all_coordinates_back_compensates_the_first_layer() {
    let (retrieval, geometry, query) = random_retrieval(6);
    let (first, shift) = (Rotor::new(6, 3), [0.4, -0.7, 1.1]);
    let turn = |x: &[f64]| first.apply(&shift, x);
    let keys = retrieval.keys.chunks_exact(6).flat_map(turn).collect();
    let theta = geometry.theta.iter().enumerate().map(|(slot, angle)| angle - shift.get(slot).unwrap_or(&0.0));
    let compensated = Geometry { theta: theta.collect(), ..geometry.clone() };
    let moved = Retrieval { keys, ..retrieval.clone() };
    near(&moved.costs(&compensated, &turn(&query)), &retrieval.costs(&geometry, &query), 1e-13);
}

#[test]
fn weights_are_a_distribution_and_follow_their_candidates() {
    let (retrieval, geometry, query) = random_retrieval(6);
    let weights = retrieval.weights(&retrieval.costs(&geometry, &query));
    assert!(weights.iter().all(|&weight| weight > 0.0));
    near(&[weights.iter().sum()], &[1.0], 1e-15);
    let order = Random::new(3).permutation(retrieval.candidates());
    let keys = order.iter().flat_map(|&j| retrieval.key(j).to_vec()).collect();
    let permuted = Retrieval { keys, ..retrieval.clone() };
    let expected: Vec<f64> = order.iter().map(|&j| weights[j]).collect();
    near(&permuted.weights(&permuted.costs(&geometry, &query)), &expected, 1e-15);
}

#[test]
fn sharpness_goes_from_the_mean_to_the_nearest() {
    let (retrieval, geometry, query) = random_retrieval(6);
    let costs = retrieval.costs(&geometry, &query);
    let weights = |beta| Retrieval { beta, ..retrieval.clone() }.weights(&costs);
    near(&weights(0.0), &[1.0 / 20.0; 20], 1e-16);
    let nearest = (0..20).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).expect("a candidate");
    let expected: Vec<f64> = (0..20).map(|j| f64::from(u8::from(j == nearest))).collect();
    near(&weights(1e4), &expected, 1e-12);
}

#[test]
fn r_scales_the_cost_as_beta_does() {
    let (retrieval, geometry, query) = random_retrieval(6);
    let sharper = Retrieval { r: 1.0, beta: retrieval.beta * retrieval.r, ..retrieval.clone() };
    let weights = |retrieval: &Retrieval| retrieval.weights(&retrieval.costs(&geometry, &query));
    near(&weights(&sharper), &weights(&retrieval), 1e-15);
}

#[test]
fn noise_has_its_published_bits_and_its_moments() {
    assert_eq!(Random::new(0).bits(), 0xE220_A839_7B1D_CDAF);
    let sample = Random::new(5).gaussians(100_000, 2.0);
    let moment = |power| sample.iter().map(|x: &f64| x.powi(power)).sum::<f64>() / 1e5;
    near(&[moment(1), moment(2), moment(3), moment(4)], &[0.0, 4.0, 0.0, 48.0], 0.8);
    near(&[moment(1), moment(2)], &[0.0, 4.0], 0.05);
    assert_eq!(Random::stream(1, 4).bits(), Random::stream(1, 4).bits());
    assert_ne!(Random::stream(1, 4).bits(), Random::stream(1, 5).bits());
    let mut order = Random::new(2).permutation(50);
    assert_ne!(order, (0..50).collect::<Vec<_>>());
    order.sort_unstable();
    assert_eq!(order, (0..50).collect::<Vec<_>>());
}
