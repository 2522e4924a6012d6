//! How near a pole predictions are uncertain, from the errors of the model itself. A pole that was learned a little aside of the true one gives large
//! numbers of either sign at the true one. As points of the projective line they are near the target, at a distance that held-out rows show; where a
//! prediction is no farther from ⊥ than that, the true value may be on the other side of the pole.

use crate::judge::pairs::with_targets;
use crate::math::quantile_of_sorted;

/// Fewest values that errors are taken from.
const FEWEST: usize = 20;
/// Share of the values nearest to poles that errors are taken from.
const NEAREST: f64 = 0.02;
/// Share of those errors that the gap covers.
const COVERED: f64 = 0.95;
/// The widest gap, as the sine of an angle: values farther than 1.7 times the target's scale from its middle.
const WIDEST: f64 = 0.5;

/// Of each target its distance from ⊥ and that of the prediction from it, as sines of the angle between pairs; pairs are [rows, 2 · outputs].
pub(crate) fn chordal_errors(z: &[f32], y: &[f32], outputs: usize) -> Vec<[f64; 2]> {
    let one = |pairs: [f32; 4]| {
        let [p, q, yn, yd] = pairs.map(f64::from);
        let (length, of_target) = (p.hypot(q), yn.hypot(yd));
        let error = (p * yd - q * yn).abs() / (length * of_target);
        error.is_finite().then_some([yd.abs() / of_target, error])
    };
    with_targets(outputs, z, y).filter_map(one).collect()
}

/// The error that covers most of those at the targets nearest to ⊥; `None` if there are too few.
pub(crate) fn measured(mut errors: Vec<[f64; 2]>) -> Option<f64> {
    if errors.len() < FEWEST {
        return None;
    }
    errors.sort_by(|a, b| a[0].total_cmp(&b[0]));
    errors.truncate(((errors.len() as f64 * NEAREST) as usize).max(FEWEST));
    let mut near: Vec<f64> = errors.into_iter().map(|[_, error]| error).collect();
    near.sort_by(f64::total_cmp);
    Some(quantile_of_sorted(&near, COVERED).min(WIDEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "got {got}, expected {expected}");
    }

    #[test]
    fn errors_are_sines_of_the_angle_between_pairs() {
        // (3, 4) has length 5. Against (1, 0), which is ⊥: |3 · 0 - 4 · 1| / 5. Against (0, 1): |3 · 1 - 4 · 0| / 5. No length matters.
        let cases = [
            ([3.0, 4.0], [1.0, 0.0], [0.0, 0.8]),
            ([3.0, 4.0], [-2.0, 0.0], [0.0, 0.8]),
            ([-6.0, -8.0], [0.0, 1.0], [1.0, 0.6]),
            ([4.0, 3.0], [4.0, 3.0], [0.6, 0.0]),
            ([1.0, 0.0], [3.0, 4.0], [0.8, 0.8]),
        ];
        for (z, y, expected) in cases {
            let got = chordal_errors(&z, &y, 1);
            assert_eq!(got.len(), 1);
            got[0].into_iter().zip(expected).for_each(|(got, expected)| assert_near(got, expected));
        }
        // Two outputs: both numerators, then both denominators.
        let got = chordal_errors(&[3.0, 1.0, 4.0, 0.0], &[1.0, 0.0, 0.0, 2.0], 2);
        assert_eq!(got.len(), 2);
        got.concat().into_iter().zip([0.0, 0.8, 1.0, 1.0]).for_each(|(got, expected)| assert_near(got, expected));
        assert!(chordal_errors(&[0.0, 0.0], &[1.0, 0.0], 1).is_empty(), "a pair of zeros has no angle");
    }

    #[test]
    fn the_gap_covers_most_errors_at_the_targets_nearest_to_poles() {
        // Errors of 0.01 to 0.20; 0.95 of the way over the 19 steps between them is 18.05.
        let few: Vec<[f64; 2]> = (1..=20).rev().map(|at| [f64::from(at), f64::from(at) / 100.0]).collect();
        assert_near(measured(few.clone()).unwrap(), 0.1905);
        assert_eq!(measured(few[1..].to_vec()), None, "19 errors are too few");
        // Of 2000 targets the nearest 40, whose errors are 0 to 0.039: 0.95 · 39 = 37.05.
        let error = |at: u32| if at < 40 { f64::from(at) / 1000.0 } else { 0.4 };
        let many: Vec<[f64; 2]> = (0..2000).rev().map(|at| [f64::from(at), error(at)]).collect();
        assert_near(measured(many).unwrap(), 0.03705);
        assert_eq!(measured(vec![[0.0, 0.7]; 20]), Some(0.5), "no gap is wider");
    }
}
