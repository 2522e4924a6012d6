//! Jacobians, derivatives along directions, and gradients row by row.

use super::dual::Dual;
use super::graph::Random;
use super::{BOUND, all, distance, dot, graph, graph_shapes, leaf, leaves, numbers, refs};
use crate::devices::devices;
use meromorph::autograd::Var;
use meromorph::nn::{Activation, Layout, Pass, Spec, forward};
use meromorph::tensor::{Shape, Tensor};
use meromorph::{Device, ops};

#[test]
fn a_plan_of_a_jacobian_gives_what_the_ops_give() {
    for device in devices(&[1, 2]) {
        // Rows of 64 words start where a launch may write, rows of 6 words do not.
        for shape in [[8, 8], [2, 3]] {
            let [rows, columns] = shape;
            let mut random = Random(rows as u64);
            let x = leaf(&device, shape, &random.numbers(rows * columns));
            let weight = leaf(&device, [columns; 2], &random.numbers(columns * columns)).detach();
            let jacobian = || Ok(ops::jacobian(&ops::tanh(&ops::matmul(&x, &weight)), &x)?.detach());
            let expected = numbers(&jacobian().unwrap());
            assert!(expected.iter().any(|value| *value != 0.0));
            let (plan, planned) = device.capture(jacobian).unwrap();
            for _ in 0..2 {
                plan.run(1).unwrap();
                assert_eq!(numbers(&planned), expected, "{shape:?} on {}", device.info().device);
            }
        }
    }
}

#[test]
fn directional_derivatives_are_those_of_the_reference_and_transposed_products() {
    let device = Device::cpu(1);
    for number in 0..20 {
        let steps = graph::graph(number);
        let values = graph::inputs(number);
        let mut random = Random(500 + number as u64);
        let directions = random.like(&values);
        let inputs = leaves(&device, &graph_shapes(), &values);
        let tangents = leaves(&device, &graph_shapes(), &directions);
        let y = graph::output(&steps, &inputs);
        let got = ops::jvp(&[&y], &refs(&inputs), &refs(&tangents)).unwrap();
        assert_eq!(got[0].shape(), y.shape());
        let along = |step: f64| {
            let moved = |(values, directions): (&Vec<f32>, &Vec<f32>)| {
                let pairs = values.iter().zip(directions);
                pairs.map(|(v, d)| Dual::constant(f64::from(*v) + step * f64::from(*d))).collect::<Vec<_>>()
            };
            let inputs: Vec<Vec<Dual>> = values.iter().zip(&directions).map(moved).collect();
            let made = graph::reference_output(&steps, &inputs);
            made.data.iter().map(|y| y.v).collect::<Vec<f64>>()
        };
        let step = 1e-5;
        let (right, left) = (along(step), along(-step));
        let expected: Vec<f64> = right.iter().zip(left).map(|(right, left)| (right - left) / (2.0 * step)).collect();
        assert!(distance(&all(&got), &expected) < BOUND, "graph {number}: {:.1e}", distance(&all(&got), &expected));
        // u · (J t) = (Jᵀ u) · t.
        let u = leaf(&device, y.shape(), &random.numbers(y.shape().len()));
        let back = ops::vjp(&[&y], &refs(&inputs), &[&u]).unwrap();
        let (forwards, backwards) = (dot(&all(&[u]), &all(&got)), dot(&all(&back), &all(&tangents)));
        assert!((forwards - backwards).abs() < 1e-4 * (1.0 + forwards.abs()), "{number}: {forwards} {backwards}");
    }
}

#[test]
fn jacobians_have_a_row_per_output_and_can_be_differentiated() {
    let device = Device::cpu(1);
    let x = leaf(&device, [2, 2], &[1.0, 2.0, 3.0, 4.0]);
    // The product of x with itself.
    let y = ops::matmul(&x, &x);
    let jacobian = ops::jacobian(&y, &x).unwrap();
    assert_eq!(jacobian.shape(), &[4, 4].into());
    let [a, b, c, d] = [1.0, 2.0, 3.0, 4.0];
    let expected = [[2.0 * a, c, b, 0.0], [b, a + d, 0.0, b], [c, 0.0, a + d, c], [0.0, c, b, 2.0 * d]];
    assert_eq!(numbers(&jacobian), expected.as_flattened());
    // Each of a and d occurs four times in it, and so do b and c.
    assert_eq!(numbers(&ops::grad(&jacobian, &[&x]).unwrap()[0].clone().unwrap()), [4.0; 4]);
}

#[test]
fn the_mean_of_gradients_of_rows_is_the_gradient_of_the_batch() {
    let device = Device::cpu(1);
    let rows = 6;
    let mut random = Random(9);
    let x = random.numbers(rows * 3);
    let spec = Spec::mlp(3, &[4], 2, Activation::tanh());
    let layout = Layout::of(&spec);
    let parameters: Vec<Var> = layout
        .parameters
        .iter()
        .map(|parameter| leaf(&device, &parameter.shape, &random.numbers(parameter.shape.len())))
        .collect();
    let loss = |x: &[f32]| {
        let rows = x.len() / 3;
        let x = Var::constant(Tensor::from_f32(&device, [rows, 3], x)?);
        let y = forward(&spec, &parameters, &x, &Pass::Predict);
        Ok(&ops::sum(&ops::square(&y), 0..2) * (1.0 / rows as f32))
    };
    let found =
        ops::per_sample_gradients(|row| loss(&x[3 * row..3 * row + 3]), &refs(&parameters), rows).expect("gradients");
    let batch = ops::grad(&loss(&x).unwrap(), &refs(&parameters)).unwrap();
    for ((each, batch), parameter) in found.iter().zip(batch).zip(&parameters) {
        let sizes: Vec<usize> = [rows].into_iter().chain(parameter.shape().sizes().iter().copied()).collect();
        assert_eq!(each.shape(), &Shape::from(sizes));
        let mean = all(&[ops::mean(each, 0..1)]);
        assert!(distance(&mean, &all(&[batch.unwrap()])) < 1e-5);
    }
    let error = ops::per_sample_gradients(|_| loss(&x), &refs(&parameters), 0).err().unwrap();
    assert_eq!(error.to_string(), "per_sample_gradients: got 0 rows, expected at least 1");
}
