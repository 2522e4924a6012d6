//! The source's rule: windows and updates by hand, and what its nudge cannot do.

use super::super::oracle::{Field, Geometry, Random, Retrieval, Rotor, ScalarRule, Symplectic, Velocity, Wave, Window};
use super::near;
use std::f64::consts::FRAC_PI_2;

/// One key at (6, 8), in two coordinates with one live angle.
fn retrieval() -> (Retrieval, Geometry) {
    let (keys, states) = (vec![6.0, 8.0], vec![7.0]);
    let retrieval = Retrieval { n: 2, d: 1, beta: 5.0, r: 1.0, eps: 0.0, keys, states, rotor: Rotor::new(2, 1) };
    let geometry = Geometry::identity(&retrieval.rotor);
    (retrieval, geometry)
}

fn rule(velocity: Velocity) -> ScalarRule {
    ScalarRule { velocity, rate: 0.1, nudge_scale: 0.1 }
}

#[test]
fn a_window_averages_rows_and_steps() {
    let (retrieval, geometry) = retrieval();
    // |q| is 5 and 10; R is 1 and 3.
    let window = rule(Velocity::Position).window(&retrieval, &geometry, &[3.0, 4.0, 6.0, 8.0], &[0.0; 4], &[1.0, 3.0]);
    near(&[window.lior, window.r, window.speed], &[2.0 * 7.5, 2.0, 7.5], 1e-14);
    near(&window.velocity, &[3.0, 4.0, 6.0, 8.0], 1e-14);
    near(&window.mix, &[7.0, 7.0], 1e-14);
}

#[test]
fn velocities_are_positions_or_ways_to_the_mean_key() {
    let (retrieval, geometry) = retrieval();
    let velocity = |mode| rule(mode).window(&retrieval, &geometry, &[3.0, 4.0], &[1.0, -1.0], &[2.0]).velocity;
    near(&velocity(Velocity::Position), &[3.0, 4.0], 1e-15);
    near(&velocity(Velocity::NudgedPosition), &[4.0, 3.0], 1e-15);
    near(&velocity(Velocity::Displacement), &[2.0, 5.0], 1e-15);
}

#[test]
fn a_nudge_towards_the_origin_updates_as_worked_by_hand() {
    let (retrieval, mut geometry) = retrieval();
    let [free, nudged] =
        rule(Velocity::NudgedPosition).train(&retrieval, &mut geometry, &[3.0, 4.0], &[0.0, 0.0], &[2.0]);
    near(&[free.lior, nudged.lior], &[10.0, 9.0], 1e-14);
    // dL = -1, so that the metric falls by 0.1 of each part of (9, 16) / 25.
    near(&geometry.metric, &[1.0 - 0.036, 1.0 - 0.064], 1e-9);
    near(&geometry.theta, &[0.001 * 4.0_f64.atan2(3.0) * 5.0], 1e-14);
}

#[test]
fn metrics_and_angles_see_the_turned_and_the_plain_mean_velocity() {
    let (retrieval, _) = retrieval();
    let mut geometry = Geometry { metric: vec![1.0, 1.0], theta: vec![FRAC_PI_2] };
    // The mean is (3, 1), and (-1, 3) when turned.
    let free = Window { lior: 0.0, r: 0.0, speed: 0.0, velocity: vec![4.0, 1.5, 2.0, 0.5], mix: Vec::new() };
    assert!(rule(Velocity::Position).update(&retrieval.rotor, &mut geometry, &free, 1.0));
    near(&geometry.metric, &[1.01, 1.09], 1e-9);
    near(&geometry.theta, &[FRAC_PI_2 - 0.001 * 1.0_f64.atan2(3.0) * 10.0_f64.sqrt()], 1e-14);
    let before = geometry.clone();
    assert!(!rule(Velocity::Position).update(&retrieval.rotor, &mut geometry, &free, f64::NAN));
    assert_eq!(geometry, before);
}

#[test]
fn the_speed_is_that_of_the_turned_velocity() {
    let (retrieval, _) = retrieval();
    let geometry = Geometry { metric: vec![1.0, 9.0], theta: vec![FRAC_PI_2] };
    let window = rule(Velocity::Position).window(&retrieval, &geometry, &[2.0, 0.0], &[0.0; 2], &[1.0]);
    near(&[window.speed], &[6.0], 1e-14);
}

#[test]
fn a_nudge_that_is_zero_or_moves_no_velocity_changes_nothing() {
    let (retrieval, geometry) = retrieval();
    let zero = ScalarRule { nudge_scale: 0.0, ..rule(Velocity::Displacement) };
    for rule in [zero, rule(Velocity::Position)] {
        let mut after = Geometry { theta: vec![0.3], ..geometry.clone() };
        let before = after.clone();
        let [free, nudged] = rule.train(&retrieval, &mut after, &[3.0, 4.0], &[1.0, 1.0], &[1.0, 0.5]);
        assert_eq!(free, nudged);
        assert_eq!(after, before);
    }
}

#[test]
fn a_field_weighs_the_steps_of_a_window() {
    let (retrieval, geometry) = retrieval();
    let mut wave = Wave::new(Field::random([3, 3], 4, &mut Random::new(1)));
    let step = Symplectic { dt: 2.0, ..Symplectic::default() };
    let r: Vec<f64> = (0..8)
        .map(|_| {
            let r = wave.field.mean_modulus();
            step.step(&mut wave);
            r
        })
        .collect();
    assert!(r[7] < 0.99 * r[0], "the field did not move: {r:?}");
    let window = rule(Velocity::Position).window(&retrieval, &geometry, &[3.0, 4.0], &[0.0; 2], &r);
    near(&[window.lior], &[5.0 * r.iter().sum::<f64>() / 8.0], 1e-13);
}
