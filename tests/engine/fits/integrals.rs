//! Integrals within a formula.

use super::{fitted, noise};
use meromorph::fit::{Formula, Problem, SavedFit, report};

#[test]
fn integrals_follow_their_parameters() {
    // The integral of b t^k by trapezoids, against the sum written out for five places.
    let t = [0.0, 0.5, 1.0, 2.0, 4.0];
    let rows: Vec<f64> = (0..60).map(|row| t[row % 5]).collect();
    let whole = |b: f64, k: f64| {
        let mut sums = vec![0.0];
        for at in 1..5 {
            let height = |t: f64| if t == 0.0 { 0.0 } else { b * t.powf(k) };
            sums.push(sums[at - 1] + 0.5 * (t[at] - t[at - 1]) * (height(t[at - 1]) + height(t[at])));
        }
        sums
    };
    let truth = whole(0.7, 1.4);
    let y: Vec<f64> = (0..60).zip(noise(60)).map(|(row, noise)| 2.0 * (-truth[row % 5]).exp() + 0.01 * noise).collect();
    let formula = Formula::parse("a * exp(-cumint(b * t^k, t))", &["t"]).unwrap();
    let problem = Problem::new(formula, &[("t", &rows)], &y).unwrap().start("a", 1.0).unwrap();
    let fit = fitted(&problem.start("b", 1.0).unwrap().start("k", 1.0).unwrap());
    let cost = |[a, b, k]: [f64; 3]| -> f64 {
        let sums = whole(b, k);
        y.iter().enumerate().map(|(row, y)| 0.5 * (y - a * (-sums[row % 5]).exp()).powi(2)).sum()
    };
    let best = ["a", "b", "k"].map(|name| fit.value(name).unwrap());
    assert!((cost(best) - fit.cost).abs() < 1e-12 * fit.cost, "{}, {}", cost(best), fit.cost);
    for at in 0..3 {
        for share in [-1e-4, 1e-4] {
            let mut other = best;
            other[at] *= 1.0 + share;
            assert!(cost(other) > fit.cost, "{at} {share}");
        }
    }
}

/// The integral of b u from p to q is b (q² - p²) / 2, here 1.5 b and 2.5 b. With y = 2 (1.5, 2.5) + 0.2 (2.5, -1.5), b is 2 and its variance
/// (0.25 + 0.09) / (1.5² + 2.5²) = 0.04 with one degree of freedom, for which Student's t is tan(0.475 π).
#[test]
fn an_integral_between_columns_has_the_slope_of_both_ends() {
    let (p, q, y) = ([1.0, 2.0], [2.0, 3.0], [3.5, 4.7]);
    let formula = Formula::parse("cumint(b * u, u, p, q)", &["p", "q"]).unwrap();
    let problem = Problem::new(formula, &[("p", &p), ("q", &q)], &y).unwrap().start("b", 1.0).unwrap();
    let fit = fitted(&problem);
    let b = &fit.parameters[0];
    assert!((b.value - 2.0).abs() < 1e-12 && (b.stderr.unwrap() - 0.2).abs() < 1e-12, "{b:?}");
    let saved = SavedFit::parse(&report(&problem, &fit, "y", 0.0).to_string(), "fit").unwrap();
    let predicted = saved.predict(&[&p, &q], 2, 0.95).unwrap();
    let reach = (0.475 * std::f64::consts::PI).tan();
    for (at, length) in [1.5, 2.5].into_iter().enumerate() {
        assert!((predicted.values[at] - 2.0 * length).abs() < 1e-12, "{predicted:?}");
        assert!((predicted.confidence[at] - 0.2 * length * reach).abs() < 1e-9, "{predicted:?}");
    }
}
