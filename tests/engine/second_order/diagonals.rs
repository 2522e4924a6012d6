//! Diagonals of Hessians, exact and estimated.

use super::{graph, graph_shapes, leaf, leaves, numbers};
use meromorph::{Device, ops};

#[test]
fn the_diagonal_of_a_separable_function_is_exact_and_so_is_its_estimate() {
    let device = Device::cpu(1);
    let values: Vec<f32> = (0..12).map(|k| k as f32 * 0.25 - 1.5).collect();
    let x = leaf(&device, [3, 4], &values);
    let loss = ops::mul(&ops::square(&x), &x);
    let expected: Vec<f32> = values.iter().map(|x| 6.0 * x).collect();
    let exact = ops::hessian_diagonal(&loss, &x).unwrap();
    assert_eq!((exact.shape(), numbers(&exact)), (x.shape(), expected.clone()));
    let (mean, error) = ops::hutchinson_diagonal(&loss, &x, 7, 3).unwrap();
    assert_eq!((numbers(&mean), numbers(&error)), (expected, vec![0.0; 12]));
}

#[test]
fn the_standard_error_of_an_estimate_is_that_of_a_mean() {
    // The Hessian of 3 x₀ x₁ is [[0, 3], [3, 0]], so that a probe z gives 3 z₀ z₁ twice, which is 3 or -3. The squares of n of them about
    // their mean add up to n (9 - mean²), and the squared error of the mean is this over n (n - 1).
    let device = Device::cpu(1);
    let x = leaf(&device, [2], &[0.5, -2.0]);
    let element = |at: &[f32]| ops::sum(&ops::mul(&x, &leaf(&device, [2], at).detach()), 0..1);
    let loss = ops::fused(&[&element(&[1.0, 0.0]), &element(&[0.0, 1.0])], |v| 3.0 * v[0] * v[1]);
    let mut errors = Vec::new();
    for seed in 0..8 {
        let (mean, error) = ops::hutchinson_diagonal(&loss, &x, 4, seed).unwrap();
        let ([mean, same], [error, error_too]) =
            (numbers(&mean).try_into().unwrap(), numbers(&error).try_into().unwrap());
        assert_eq!((mean, error), (same, error_too));
        assert!([-3.0, -1.5, 0.0, 1.5, 3.0].contains(&mean), "seed {seed}: {mean}");
        let expected = (9.0 - mean * mean) / 3.0;
        assert!((error * error - expected).abs() < 1e-5, "seed {seed}: got {error}², expected {expected}");
        errors.push(error);
    }
    assert!(errors.iter().any(|error| *error > 0.0), "{errors:?}");
}

#[test]
fn the_estimated_diagonal_is_within_its_standard_errors() {
    let device = Device::cpu(1);
    // Few probes have standard errors that are themselves uncertain; with 200 a deviation beyond four is 1 in 16,000.
    for number in [0, 3, 8, 13] {
        let inputs = leaves(&device, &graph_shapes(), &graph::inputs(number));
        let loss = graph::loss(&graph::graph(number), &inputs);
        let weight = &inputs[1];
        let exact = numbers(&ops::hessian_diagonal(&loss, weight).unwrap());
        let (mean, error) = ops::hutchinson_diagonal(&loss, weight, 200, 11).unwrap();
        let (mean, error) = (numbers(&mean), numbers(&error));
        for (at, exact) in exact.iter().enumerate() {
            let limit = 4.0 * error[at] + 1e-4 * (1.0 + exact.abs());
            let gap = (mean[at] - exact).abs();
            assert!(gap <= limit, "graph {number}, {at}: off by {gap}, standard error {}", error[at]);
        }
        assert!(error.iter().any(|error| *error > 0.0), "graph {number}: nothing was estimated");
        let again = |seed| numbers(&ops::hutchinson_diagonal(&loss, weight, 3, seed).unwrap().0);
        assert_eq!(again(1), again(1));
        assert_ne!(again(1), again(2));
    }
}
