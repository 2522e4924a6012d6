//! Symplectic dynamics: one step by hand, reversibility, the conserved energy, and the bound on the step.

use super::super::oracle::{Border, Field, Random, Symplectic, Wave, laplacian};
use super::near;

fn single(values: [f64; 2]) -> Wave {
    Wave::new(Field { grid: [1, 1], channels: 1, values: values.to_vec() })
}

/// A moving field with a source, away from rest.
fn wave() -> Wave {
    let mut random = Random::new(9);
    let mut wave = Wave::new(Field::random([5, 4], 2, &mut random));
    let count = wave.rest.len();
    wave.rest = random.gaussians(count, 0.5);
    wave.momentum = random.gaussians(count, 0.1);
    wave.source = random.gaussians(count, 0.01);
    wave
}

#[test]
fn the_laplacian_knows_axes_and_borders() {
    // One channel, rows (1, 2, 4) and (8, 16, 32), and no imaginary part.
    let values = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].into_iter().flat_map(|value| [value, 0.0]).collect();
    let field = Field { grid: [2, 3], channels: 1, values };
    let real = |border, factors| laplacian(&field, border, factors).into_iter().step_by(2).collect::<Vec<_>>();
    near(&real(Border::Zero, [1.0, 1.0]), &[6.0, 13.0, 18.0, -15.0, -22.0, -108.0], 0.0);
    near(&real(Border::Zero, [1.0, 0.0]), &[6.0, 12.0, 24.0, -15.0, -30.0, -60.0], 0.0);
    near(&real(Border::Periodic, [0.0, 1.0]), &[4.0, 1.0, -5.0, 32.0, 8.0, -40.0], 0.0);
    near(&[real(Border::Periodic, [1.0, 1.0]).iter().sum()], &[0.0], 1e-13);
}

#[test]
fn a_step_is_the_one_worked_by_hand() {
    let mut wave = single([1.0, 0.0]);
    wave.rest = vec![0.0, 0.5];
    wave.source = vec![0.0, 2.0];
    let verlet = Symplectic { dt: 0.5, mass: 2.0, hbar: 1.0, stiffness: 1.0 };
    // hbar^2 / 2m = 1/4, and all four neighbours are zero.
    near(&verlet.force(&wave), &[-1.0 - 1.0, 0.5 + 2.0], 1e-15);
    near(&[verlet.energy(&wave)], &[0.5 * (1.0 + 0.25) + 0.125 * 4.0], 1e-15);
    verlet.step(&mut wave);
    near(&wave.field.values[..1], &[0.875], 1e-15);
    near(&wave.momentum[..1], &[-0.5 - 0.4375], 1e-15);
}

#[test]
fn steps_are_undone_by_turning_the_momentum() {
    let (mut wave, verlet) = (wave(), Symplectic { dt: 1.0, ..Symplectic::default() });
    let before = wave.clone();
    let turn = |wave: &mut Wave| wave.momentum.iter_mut().for_each(|p| *p = -*p);
    for _ in 0..2 {
        (0..500).for_each(|_| verlet.step(&mut wave));
        turn(&mut wave);
    }
    near(&wave.field.values, &before.field.values, 1e-11);
    near(&wave.momentum, &before.momentum, 1e-11);
}

/// The largest error of the energy in 10^4 steps, and the means of the error in their first and last tenth, over the first energy.
fn energy_errors(dt: f64) -> [f64; 3] {
    let (mut wave, verlet) = (wave(), Symplectic { dt, ..Symplectic::default() });
    let start = verlet.energy(&wave);
    let errors: Vec<f64> = (0..10_000)
        .map(|_| {
            verlet.step(&mut wave);
            verlet.energy(&wave) / start - 1.0
        })
        .collect();
    let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
    let largest = errors.iter().fold(0.0, |largest: f64, error| largest.max(error.abs()));
    [largest, mean(&errors[..1000]), mean(&errors[9000..])]
}

#[test]
fn the_energy_is_kept_without_drift_and_to_second_order() {
    let [coarse, first, last] = energy_errors(0.5);
    assert!(coarse < 2e-3 && coarse > 1e-5, "{coarse:e}");
    assert!((last - first).abs() < 0.2 * coarse, "drift from {first:e} to {last:e}, errors of {coarse:e}");
    let [fine, ..] = energy_errors(0.25);
    assert!((coarse / fine - 4.0).abs() < 0.4, "{coarse:e} / {fine:e}");
}

#[test]
fn steps_longer_than_the_bound_grow() {
    let verlet = Symplectic::default();
    let bound = |eigenvalue: f64| 2.0 / (eigenvalue * verlet.hbar * verlet.hbar / 2.0 + verlet.stiffness).sqrt();
    near(&[bound(8.0)], &[8.944], 1e-3);
    let largest = |dt: f64| {
        let mut wave = wave();
        (0..2000).for_each(|_| Symplectic { dt, ..verlet }.step(&mut wave));
        wave.field.values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()))
    };
    assert!(largest(8.9) < 1e2, "{}", largest(8.9));
    // The eigenvalues of this grid end at 4 sin^2(5 pi / 12) + 4 sin^2(4 pi / 10).
    let own = bound(4.0 * (75_f64.to_radians().sin().powi(2) + 72_f64.to_radians().sin().powi(2)));
    assert!(largest(own - 0.05) < 1e2 && largest(own + 0.05) > 1e6, "{} {}", largest(own - 0.05), largest(own + 0.05));
}

#[test]
fn moduli_are_of_complex_numbers() {
    let field = Field { grid: [1, 2], channels: 1, values: vec![3.0, 4.0, 0.0, -1.0] };
    assert_eq!((field.mean_modulus(), field.square()), (3.0, 26.0));
    let random = Field::random([8, 8], 256, &mut Random::new(4));
    near(&[random.mean_modulus()], &[0.5 * std::f64::consts::PI.sqrt()], 0.01);
}
