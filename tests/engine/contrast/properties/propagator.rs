//! The dissipative form: its phases, and that |T| is kept where the source's Euler step grows.

use super::super::oracle::{Border, Dissipative, Field, Phase, Random, laplacian, memory_weight};
use super::near;
use std::f64::consts::TAU;

const GRID: [usize; 2] = [4, 6];

fn step(dt: f64, phase: Phase) -> Dissipative {
    Dissipative { dt, mass: 1.5, memory: 0.2, factors: [1.0, 0.7], phase }
}

/// The wave exp(2 pi i (x / 4 + 2 y / 6)), and the eigenvalue of -Lap that it has.
fn plane_wave() -> (Field, f64) {
    let phases = (0..24).map(|site| TAU * ((site / 6) as f64 / 4.0 + 2.0 * (site % 6) as f64 / 6.0));
    let values = phases.flat_map(|phase| [phase.cos(), phase.sin()]).collect();
    // 4 sin^2 of 45 and of 60 degrees.
    (Field { grid: GRID, channels: 1, values }, 2.0 + 0.7 * 3.0)
}

#[test]
fn memory_weighs_by_the_logarithm_of_its_length() {
    near(&[memory_weight(0.5, 20, 0.05), memory_weight(0.5, 0, 0.05)], &[0.0761, 0.0], 1e-4);
    assert_eq!(memory_weight(10.0, 20, 10.0), 1.0);
}

#[test]
fn waves_turn_by_their_phase() {
    let (wave, eigenvalue) = plane_wave();
    let exact = 0.8 * 0.8 / 3.0 * eigenvalue;
    for (phase, angle) in [(Phase::Exact, exact), (Phase::Cayley, 2.0 * (0.5 * exact).atan())] {
        let mut after = wave.clone();
        step(0.8, phase).step(&mut after);
        let (sin, cos) = angle.sin_cos();
        let turn = |value: &[f64]| [cos * value[0] - sin * value[1], sin * value[0] + cos * value[1]];
        let expected: Vec<f64> = wave.values.chunks_exact(2).flat_map(turn).collect();
        near(&after.values, &expected, 1e-14);
    }
}

/// T + s i a dt Lap(T) / 2, either side of Cayley's equation for s = 1 and -1.
fn side(field: &Field, sign: f64) -> Vec<f64> {
    let factor = sign * 0.5 * 0.8 * 0.8 / 3.0;
    let lap = laplacian(field, Border::Periodic, [1.0, 0.7]);
    let parts = field.values.chunks_exact(2).zip(lap.chunks_exact(2));
    parts.flat_map(|(value, lap)| [value[0] - factor * lap[1], value[1] + factor * lap[0]]).collect()
}

#[test]
fn a_step_of_cayley_solves_its_equation() {
    let before = Field::random(GRID, 3, &mut Random::new(8));
    let mut after = before.clone();
    step(0.8, Phase::Cayley).step(&mut after);
    near(&side(&after, 1.0), &side(&before, -1.0), 1e-13);
    assert!(after.values.iter().zip(&before.values).any(|(a, b)| (a - b).abs() > 0.1));
}

#[test]
fn the_phases_agree_to_third_order() {
    let before = Field::random(GRID, 3, &mut Random::new(8));
    let apart = |dt: f64| {
        let [mut exact, mut cayley] = [before.clone(), before.clone()];
        step(dt, Phase::Exact).step(&mut exact);
        step(dt, Phase::Cayley).step(&mut cayley);
        exact.values.iter().zip(&cayley.values).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    let ratio = apart(0.02) / apart(0.01);
    assert!((ratio - 8.0).abs() < 0.05, "{ratio}");
}

#[test]
fn the_norm_is_kept_where_eulers_step_grows() {
    for phase in [Phase::Exact, Phase::Cayley] {
        let mut field = Field::random(GRID, 2, &mut Random::new(8));
        let before = field.square();
        (0..1000).for_each(|_| step(0.8, phase).step(&mut field));
        near(&[field.square() / before], &[1.0], 1e-11);
    }
    let (wave, eigenvalue) = plane_wave();
    // Euler's T - i a dt Lap(T) is one side of Cayley's equation with twice the factor.
    let euler: f64 = wave.values.iter().zip(side(&wave, -1.0)).map(|(value, side)| (2.0 * side - value).powi(2)).sum();
    near(&[euler / wave.square()], &[1.0 + (0.8 * eigenvalue * 0.8 / 3.0).powi(2)], 1e-13);
}
