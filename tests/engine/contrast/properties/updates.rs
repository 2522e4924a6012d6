//! The update of the contrastive rule: its direction, its ranges, and that it refuses numbers that are not finite.

use super::super::oracle::{Error, Geometry, Nudge, Rates, Rotor, Statistics, descend, wrap};
use super::{near, problem};
use std::f64::consts::PI;

const RATES: Rates = Rates { metric: 2.0, theta: 0.5 };

/// A gradient of zeros for two coordinates, and the geometry it is for.
fn zeros() -> (Statistics, Geometry) {
    let (energy, geometry, batch) = problem(Rotor::new(2, 2), 2, [1, 3], Error::Squared);
    (energy.contrast(&geometry, &batch, Nudge::OneSided(0.0)), geometry)
}

#[test]
fn an_update_goes_down_the_gradient() {
    let (gradient, _) = zeros();
    let gradient = Statistics { metric: vec![0.1, -0.2], angles: vec![0.4, 0.0], ..gradient };
    let mut geometry = Geometry { metric: vec![1.0, 1.0], theta: vec![0.3, -0.3] };
    assert!(descend(&mut geometry, &gradient, RATES));
    near(&geometry.metric, &[0.8, 1.4], 1e-15);
    near(&geometry.theta, &[0.1, -0.3], 1e-15);
}

#[test]
fn metrics_are_clamped_and_angles_wrapped() {
    let (gradient, _) = zeros();
    let gradient = Statistics { metric: vec![1e3, -1e3], angles: vec![-0.2, 0.2], ..gradient };
    let mut geometry = Geometry { metric: vec![1.0, 1.0], theta: vec![3.1, -3.1] };
    assert!(descend(&mut geometry, &gradient, RATES));
    assert_eq!(geometry.metric, [0.01, 100.0]);
    near(&geometry.theta, &[3.2 - 2.0 * PI, 2.0 * PI - 3.2], 1e-14);
}

#[test]
fn wrapped_angles_are_equal_and_in_range() {
    let below = f64::from_bits((-PI).to_bits() + 1);
    assert!(below < -PI);
    for angle in [0.0, 1.0, -PI, PI, below, 3.0 * PI, -3.0 * PI, 7.0, -7.0, 1e3, -1e3] {
        let wrapped = wrap(angle);
        assert!((-PI..PI).contains(&wrapped), "{angle}: {wrapped}");
        near(&[wrapped.sin(), wrapped.cos()], &[angle.sin(), angle.cos()], 1e-12);
    }
    // Nothing is lost on an angle that is in range.
    assert_eq!(wrap(1e-20), 1e-20);
}

#[test]
fn numbers_that_are_not_finite_leave_parameters_as_they_were() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (gradient, geometry) = zeros();
        let ones = Statistics { metric: vec![0.1; 2], angles: vec![0.1; 2], ..gradient };
        let mut spoilt = [ones.clone(), ones.clone(), ones.clone()];
        spoilt[0].metric[1] = bad;
        spoilt[1].angles[0] = bad;
        spoilt[2].queries[0] = bad;
        for gradient in spoilt {
            let mut after = geometry.clone();
            assert!(!descend(&mut after, &gradient, RATES));
            assert_eq!(after, geometry);
        }
        let mut after = geometry.clone();
        assert!(descend(&mut after, &ones, RATES));
        assert_ne!(after, geometry);
    }
}
