//! What a recipe leaves to the target: class weights, and where there is no value.

use super::*;

fn regression([mean, scale, min, max]: [f64; 4]) -> Target {
    Target::Regression { name: "y".into(), mean, scale, min, max }
}

#[test]
fn class_weights_are_rows_over_classes_times_rows_of_the_class() {
    let weights = |counts: &[u32]| {
        let levels = (0..counts.len()).map(|at| at.to_string()).collect();
        balanced(&Target::Classification { name: "kind".into(), levels, counts: counts.to_vec() })
    };
    assert_eq!(weights(&[8, 8]), [1.0, 1.0]);
    assert_eq!(weights(&[2, 4, 6]), [2.0, 1.0, 4.0 / 6.0]);
    assert_eq!(weights(&[16, 0, 4, 4]), [0.375, 1.0, 1.5, 1.5], "a class without rows counts as one");
    assert!(balanced(&regression([0.0, 1.0, -1.0, 1.0])).is_empty());
}

#[test]
fn values_beyond_the_training_targets_on_either_side_have_no_value() {
    // The largest distance from the mean in scales; the angle's sine for a value v is 1/√(v² + 1).
    let cases = [
        ([0.0, 1.0, -1.0, 40.0], 40.0),
        ([0.0, 1.0, -40.0, 1.0], 40.0),
        ([5.0, 2.0, -75.0, 15.0], 40.0),
        ([5.0, 2.0, -5.0, 85.0], 40.0),
        ([0.0, 1.0, -2.0, 2.0], 10.0),
        ([0.0, 1.0, -9e9, 2.0], 1e6),
    ];
    for (target, largest) in cases {
        let Decoding { tau_infer, tau_train, .. } = beyond(&regression(target));
        let sine = 1.0 / f64::hypot(largest, 1.0);
        let near = |got: f32, wanted: f64| (f64::from(got) / wanted - 1.0).abs() < 1e-6;
        assert!(near(tau_infer, sine), "{target:?}: got {tau_infer:e}, wanted {sine:e}");
        assert!(near(tau_train.unwrap(), 3.0 * sine), "{target:?}: got {tau_train:?}, wanted {:e}", 3.0 * sine);
    }
}
