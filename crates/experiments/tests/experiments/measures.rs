//! Measures compared with known results.

use crate::close;
use meromorph_experiments::{
    Confusion, Estimate, OperatingPoints, Operation, auroc, average_precision, ik, log_space, quantile, sweep,
};

#[test]
fn classes_are_counted() {
    let truth = [0, 0, 0, 1, 1, 1, 1, 2, 2, 2];
    let found = [0, 1, 2, 1, 1, 1, 0, 2, 2, 1];
    let confusion = Confusion::of(&truth, &found);
    assert_eq!(confusion.0, [[1, 1, 1], [1, 3, 0], [0, 1, 2]]);
    assert_eq!(confusion.false_censored(), Some(0.25));
    close(confusion.false_inside().unwrap(), 1.0 / 3.0, 1e-15);
    let f1 = [2.0 / 5.0, 6.0 / 9.0, 4.0 / 6.0];
    close(confusion.macro_f1(), f1.iter().sum::<f64>() / 3.0, 1e-15);
    // Among censored rows: below, 1 of 3 found and no false positive; above, 2 of 3 and one false positive.
    close(confusion.direction_f1().unwrap(), f64::midpoint(2.0 / 4.0, 4.0 / 6.0), 1e-15);
    assert_eq!(Confusion::of(&[1], &[1]).false_inside(), None);
}

#[test]
fn scores_are_ranked() {
    let is_positive = [true, false, true, false];
    assert_eq!(auroc(&is_positive, &[0.9, 0.1, 0.8, 0.2]), Some(1.0));
    assert_eq!(auroc(&is_positive, &[0.5; 4]), Some(0.5));
    assert_eq!(auroc(&is_positive, &[0.1, 0.9, 0.2, 0.8]), Some(0.0));
    assert_eq!(auroc(&[true; 2], &[0.1, 0.2]), None);
    assert_eq!(average_precision(&is_positive, &[0.9, 0.1, 0.8, 0.2]), Some(1.0));
    close(average_precision(&[false, true, false, true], &[0.9, 0.8, 0.7, 0.6]).unwrap(), 0.5, 1e-15);
    assert_eq!(average_precision(&is_positive, &[0.5; 4]), Some(0.5));
}

#[test]
fn thresholds_are_swept_strictly_below() {
    let found = sweep(&[0.5, 0.1, 0.3], &[0.1, 0.01], &[0.05, 0.1, 0.2, 1.0]);
    let rates: Vec<[f64; 2]> = found.iter().map(|at| [at.false_censored, at.false_inside]).collect();
    assert_eq!(rates, [[0.0, 0.5], [0.0, 0.5], [1.0 / 3.0, 0.0], [1.0, 0.0]]);
    assert_eq!(found[2].bottom_rate, 0.6);
    let taus = log_space(-6.0, -1.0, 41);
    assert_eq!(taus.len(), 41);
    close(taus[0], 1e-6, 1e-12);
    close(taus[40], 1e-1, 1e-12);
}

#[test]
fn a_perfect_rate_ranks_first() {
    let one = |false_inside, false_censored, direction_f1| Operation { false_censored, false_inside, direction_f1 };
    let points = OperatingPoints::of(&[
        one(Some(0.2), Some(0.1), Some(0.9)),
        one(Some(0.0), Some(0.0), Some(0.5)),
        one(None, Some(0.3), None),
    ]);
    assert_eq!([points.safety_first, points.accuracy_first, points.balanced], [Some(1); 3]);
    assert_eq!(points.direction_aware, Some(0));
    assert_eq!(OperatingPoints::of(&[one(None, None, None)]).balanced, None);
}

#[test]
fn intervals_contain_their_means() {
    let values = [1.0, 2.0, 3.0, 4.0, 10.0];
    let found = Estimate::of(&values).unwrap();
    assert_eq!((found.mean, found.count), (4.0, 5));
    assert!(1.0 < found.low && found.low < 2.6 && 5.5 < found.high && found.high < 8.0, "{found:?}");
    assert_eq!(Estimate::of(&values), Some(found), "the same values, the same interval");
    assert_eq!(Estimate::of(&[]), None);
    let same = Estimate::of_differences(&values, &values.map(|value| value - 0.5)).unwrap();
    assert_eq!((same.mean, same.low, same.high), (0.5, 0.5, 0.5), "pairs cancel what they share");
    assert_eq!([quantile(&values, 0.5), quantile(&values, 0.875), quantile(&[], 0.5)], [Some(3.0), Some(7.0), None]);
}

#[test]
fn poles_are_found_where_steps_are_large() {
    // Δθ = (0, 1/sin θ2): a pole of first order whose sign flips.
    let place = |at: i32| f64::from(at) * 1e-3;
    let row = |theta1: f64, at: i32| ([theta1, place(at), 0.0, 0.0], [0.0, 1.0 / place(at).sin()]);
    let anchors = [-2.0, -1.0, 0.0, 1.0, 2.0];
    let rows: Vec<_> =
        anchors.iter().flat_map(|&theta1| (-100..=100).filter(|at| *at != 0).map(move |at| row(theta1, at))).collect();
    let found = ik::pole_metrics(&rows);
    assert!(found.ple.unwrap() < 4e-3, "{found:?}");
    assert_eq!(found.sign_consistency, Some(1.0));
    assert!(found.slope_error.unwrap() < 1e-9, "{found:?}");
    let even: Vec<_> = rows.iter().map(|(x, step)| (*x, [step[0], step[1].abs()])).collect();
    assert_eq!(ik::pole_metrics(&even).sign_consistency, Some(0.0));
    let exact = |pose: [f64; 2], step: [f64; 2]| {
        let (from, to) = (ik::hand(pose), ik::hand([pose[0] + step[0], pose[1] + step[1]]));
        ([pose[0], pose[1], to[0] - from[0], to[1] - from[1]], step)
    };
    assert_eq!(ik::pole_metrics(&[exact([0.3, 0.8], [0.1, -0.2])]).residual, Some(0.0));
    assert_eq!(ik::pole_metrics(&[]).residual, None);
}
