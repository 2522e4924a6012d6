//! The search for a minimum: threads, methods, slopes that are not finite, residuals that are rounding errors.

use super::{DECAY, Truth, decay, fitted, noise, problem};
use meromorph::fit::{Formula, Global, Method, Problem, SolveOptions, solve};

#[test]
fn the_number_of_threads_changes_no_bit() {
    let data = decay(100_000);
    let problem = problem(DECAY, &data).unwrap();
    let with = |threads| solve(&problem, &SolveOptions { threads, ..SolveOptions::default() }).unwrap();
    let one = with(1);
    for threads in [2, 3] {
        assert_eq!(with(threads), one, "{threads} threads");
    }
}

#[test]
fn both_methods_find_the_same_minimum() {
    let data = decay(300);
    let problem =
        problem(DECAY, &data).unwrap().start("a", 1.0).unwrap().start("b", 0.3).unwrap().start("c", 0.0).unwrap();
    let [one, other] = [Method::TrustRegion, Method::LevenbergMarquardt]
        .map(|method| solve(&problem, &SolveOptions { method, ..SolveOptions::default() }).unwrap());
    for (one, other) in one.parameters.iter().zip(&other.parameters) {
        assert!((one.value - other.value).abs() < 1e-9 * one.stderr.unwrap().max(1e-3), "{one:?}, {other:?}");
    }
}

/// 0 times an infinite slope is 0: x^b at x = 0, an exponential that overflows in a quotient, the branch that is not taken.
#[test]
fn slopes_that_are_not_finite_do_not_stop_a_fit() {
    let x: Vec<f64> = (0..200).map(|row| f64::from(row) * 0.1).collect();
    let noise = noise(200);
    let models: [Truth; 3] = [
        ("a * exp(-(x / t)^b)", |x| 2.0 * (-(x / 5.0).powf(0.8)).exp()),
        ("1 / (exp((x - m) / k) + 1)", |x| 1.0 / (((x - 9.0) / 0.01).exp() + 1.0)),
        ("where(x > 0, a * log(x), c)", |x| if x > 0.0 { 2.0 * x.ln() } else { 3.0 }),
    ];
    for (text, truth) in models {
        let y: Vec<f64> = x.iter().zip(&noise).map(|(x, noise)| truth(*x) + 0.02 * noise).collect();
        let fit = fitted(&problem(text, &[x.clone(), y]).unwrap());
        assert!(fit.statistics.rmse < 0.02 && fit.stop.is_converged(), "{text}: {fit:?}");
    }
}

#[test]
fn global_searches_leave_a_bad_start() {
    let x: Vec<f64> = (0..200).map(|row| f64::from(row) * 0.05).collect();
    let y: Vec<f64> = x.iter().zip(noise(200)).map(|(x, noise)| 1.5 * (7.3 * x + 0.4).sin() + 0.1 * noise).collect();
    let data = [x, y];
    let waves = problem("a * sin(w * x + p)", &data).unwrap().start("a", 1.0).unwrap().start("w", 2.0).unwrap();
    let waves = waves.start("p", 0.0).unwrap().bounds("w", 0.0, 20.0).unwrap().bounds("p", -4.0, 4.0).unwrap();
    let with = |global| solve(&waves, &SolveOptions { global, ..SolveOptions::default() }).unwrap();
    assert!((with(Global::None).value("w").unwrap() - 7.3).abs() > 1.0, "the start is bad");
    for global in [Global::MultiStart, Global::CmaEs] {
        let found = with(global).value("w").unwrap();
        assert!((found - 7.3).abs() < 0.02, "{global:?}: {found}");
    }
}

#[test]
fn residuals_that_are_rounding_errors_are_an_answer() {
    // No step can lower such a cost, which is no reason to leave for another minimum.
    let x: Vec<f64> = (0..60).map(|row| f64::from(row) / 10.0).collect();
    for frequency in [1.7, 3.1, 4.3, 6.9] {
        let y: Vec<f64> = x.iter().map(|x| (frequency * x + 0.5).sin()).collect();
        let formula = Formula::parse("sin(w * x + p)", &["x"]).unwrap();
        let problem = Problem::new(formula, &[("x", &x)], &y).unwrap();
        let problem = problem.bounds("w", 0.0, 10.0).unwrap().bounds("p", -3.0, 3.0).unwrap();
        let fit = solve(&problem, &SolveOptions::default()).unwrap();
        assert!(fit.stop.is_converged() && fit.recovery.is_empty(), "{frequency}: {:?} {:?}", fit.stop, fit.recovery);
        assert!((fit.value("w").unwrap() - frequency).abs() < 1e-12 && fit.cost < 1e-24, "{frequency}: {}", fit.cost);
    }
}
