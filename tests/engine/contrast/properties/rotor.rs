//! Rotors: which planes turn in which order, and that Q is orthogonal.

use super::super::oracle::{Random, Rotor};
use super::near;
use std::f64::consts::{FRAC_PI_2, TAU};

#[test]
fn planes_are_those_of_the_specification() {
    let rotor = Rotor::new(8, 6);
    let expected = [vec![(0, 1), (2, 3), (4, 5), (6, 7)], vec![(1, 2), (3, 4), (5, 6), (7, 0)]];
    assert_eq!(rotor.layers, expected);
    assert_eq!(rotor.slots(), 8);
    assert_eq!(Rotor::new(5, 3).layers, [vec![(0, 1), (2, 3)], vec![(1, 2), (3, 4)]]);
    assert_eq!(Rotor::new(8, 0).slots(), 0);
}

#[test]
fn layers_turn_one_after_the_other_and_counterclockwise() {
    let rotor = Rotor::new(4, 4);
    // The first layer takes axis 0 to 1, the second 1 to 2.
    near(&rotor.apply(&[FRAC_PI_2, 0.0, FRAC_PI_2, 0.0], &[1.0, 0.0, 0.0, 0.0]), &[0.0, 0.0, 1.0, 0.0], 1e-15);
    let turned = rotor.apply(&[0.1], &[2.0, 3.0, 0.0, 0.0]);
    near(
        &turned,
        &[2.0 * 0.1_f64.cos() - 3.0 * 0.1_f64.sin(), 2.0 * 0.1_f64.sin() + 3.0 * 0.1_f64.cos(), 0.0, 0.0],
        1e-15,
    );
}

#[test]
fn slots_beyond_the_live_ones_do_not_turn() {
    let rotor = Rotor::new(4, 3);
    let x = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(rotor.apply(&[0.3, 0.2, 0.1, 9.0], &x), rotor.apply(&[0.3, 0.2, 0.1], &x));
    assert_eq!(rotor.apply(&[0.3, 0.0, 0.0, 0.0], &x), rotor.apply(&[0.3], &x));
}

#[test]
fn rotations_keep_norms_and_are_undone() {
    for n in [2, 5, 8] {
        let rotor = Rotor::new(n, 2 * n);
        let mut random = Random::new(n as u64);
        let theta = random.gaussians(rotor.slots(), 2.0);
        let x = random.gaussians(n, 1.0);
        let turned = rotor.apply(&theta, &x);
        let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        near(&[square(&turned)], &[square(&x)], 1e-13);
        assert!(turned.iter().zip(&x).any(|(a, b)| (a - b).abs() > 0.1), "nothing turned: {turned:?}");
        near(&rotor.undo(&theta, &turned), &x, 1e-13);
        let whole: Vec<f64> = theta.iter().map(|angle| angle + TAU).collect();
        near(&rotor.apply(&whole, &x), &turned, 1e-13);
    }
}

#[test]
fn the_matrix_is_orthogonal_and_applies_as_the_layers_do() {
    let rotor = Rotor::new(6, 5);
    let mut random = Random::new(1);
    let (theta, x) = (random.gaussians(rotor.slots(), 1.0), random.gaussians(6, 1.0));
    let matrix = rotor.matrix(&theta);
    let product: Vec<f64> = (0..6).map(|row| (0..6).map(|i| matrix[row * 6 + i] * x[i]).sum()).collect();
    near(&product, &rotor.apply(&theta, &x), 1e-14);
    for (row, column) in (0..36).map(|at| (at / 6, at % 6)) {
        let entry: f64 = (0..6).map(|i| matrix[i * 6 + row] * matrix[i * 6 + column]).sum();
        near(&[entry], &[f64::from(u8::from(row == column))], 1e-14);
    }
}
