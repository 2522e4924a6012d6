//! Heads and pair losses compared with golden values: the formulas of ZeroProofML in f64.

use meromorph::autograd::Var;
use meromorph::tensor::Tensor;
use meromorph::{Device, ops};
use meromorph_experiments::terms::{
    columns, decoded, double_angle, guarded, margin, mean, on_circle, polynomial, relative, renormalise, row, sign,
};
use pollster::block_on;

/// Columns of values as [rows, 1].
fn column(device: &Device, values: &[f32]) -> Var {
    Var::leaf(Tensor::from_f32(device, [values.len(), 1], values).unwrap())
}

fn value(x: &Var) -> Vec<f64> {
    block_on(x.value().to_f32()).unwrap().into_iter().map(f64::from).collect()
}

#[track_caller]
fn close(got: &[f64], expected: &[f64]) {
    let is_close = |(got, expected): (&f64, &f64)| (got - expected).abs() <= 2e-5 * expected.abs().max(1e-3);
    assert!(
        got.len() == expected.len() && got.iter().zip(expected).all(is_close),
        "got {got:?}, expected {expected:?}"
    );
}

#[test]
fn sign_and_margin_have_their_golden_values() {
    let device = Device::cpu(1);
    let [p, q] = [[0.25, -0.4], [0.9, 0.2]].map(|values| column(&device, &values));
    let [yn, yd] = [[-0.15, 0.6], [1.1, -0.7]].map(|values| column(&device, &values));
    let ones = column(&device, &[1.0, 1.0]);
    close(&value(&sign([&p, &q], [&yn, &yd], &ones, &ones)), &[1.001557490520928]);
    let q = column(&device, &[1e-5, 1e-3]);
    let got = value(&margin(&q, 1e-4, &column(&device, &[1.0, 0.0]), &ones));
    assert!((got[0] / 4.05e-9 - 1.0).abs() < 1e-5, "{got:?}");
}

#[test]
fn pairs_are_scaled_to_the_unit_circle_and_rows_of_weight_0_are_ignored() {
    let device = Device::cpu(1);
    let (p, q) = (column(&device, &[3.0, 0.0]), column(&device, &[4.0, 2.0]));
    let [p, q] = renormalise(&p, &q);
    close(&value(&p), &[0.6, 0.0]);
    close(&value(&q), &[0.8, 1.0]);
    let [p, q] = on_circle(&p, &q);
    close(&value(&p), &[0.6, 0.0]);
    close(&value(&q), &[0.8, 1.0]);
    close(&value(&mean(&column(&device, &[2.0, 100.0]), &column(&device, &[1.0, 0.0]))), &[2.0]);
    close(&value(&guarded(&p, &column(&device, &[-0.0, -0.5]), 0.5)), &[1.2, 0.0]);
    close(&value(&decoded(&p, &column(&device, &[-1e-6, 2.0]), 0.1)), &[-6.0, 0.0]);
}

#[test]
fn the_double_angle_is_equal_for_a_pair_and_its_opposite() {
    let device = Device::cpu(1);
    let angles = [0.1_f32, 0.4, 1.2, 1.5];
    let [p, q] = [f32::sin, f32::cos].map(|part| column(&device, &angles.map(part)));
    let ones = column(&device, &[1.0; 4]);
    let zeros = column(&device, &[0.0; 4]);
    let loss = double_angle([&p, &q], [&zeros, &ones], &ones);
    let each = angles.map(|angle| -((f64::from(angle.cos()).powi(2) + 5e-4) / 1.0005).ln());
    close(&value(&loss), &[each.iter().sum::<f64>() / 4.0]);
    let [back_p, back_q] = [&p, &q].map(ops::neg);
    close(&value(&double_angle([&back_p, &back_q], [&zeros, &ones], &ones)), &value(&loss));
    let by_q = value(ops::grad(&loss, &[&q]).unwrap()[0].as_ref().unwrap());
    assert!(by_q.is_sorted_by(|a, b| a > b), "the pull grows with the angle: {by_q:?}");
}

#[test]
fn relative_errors_are_invariant_to_a_common_factor() {
    let device = Device::cpu(1);
    // y = 2 / (0.3 - 0.4j) = 2.4 + 3.2j, then y twice as large, and no response at all.
    let found = |factor: f32| {
        let [p, c, d] = [2.0, 0.3, -0.4].map(|part| column(&device, &[factor * part; 3]));
        let [a, b] = [[2.4, 4.8, 0.0], [3.2, 6.4, 0.0]].map(|part| column(&device, &part));
        value(&relative(&p, [&c, &d], [&a, &b]))
    };
    for factor in [1.0, -50.0, 1e-3] {
        let got = found(factor);
        assert!(got[0] < 1e-12, "{got:?}");
        close(&got[1..], &[0.2, 1.0]);
    }
    let none = column(&device, &[0.0]);
    close(&value(&relative(&none, [&none, &none], [&none, &none])), &[0.0]);
}

#[test]
fn polynomials_and_columns() {
    let device = Device::cpu(1);
    let z = column(&device, &[2.0, -1.0]);
    let c: Vec<Var> = [1.0, 2.0, 3.0].iter().map(|&c| row(&z, &[c])).collect();
    close(&value(&polynomial(&z, &c)), &[17.0, 2.0]);
    let x = Var::constant(Tensor::from_f32(&device, [2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap());
    close(&value(&columns(&x, 1, 2)), &[2.0, 3.0, 5.0, 6.0]);
}
