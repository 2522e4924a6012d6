//! Curve fits: properties of the solution that need no reference. NIST's and SciPy's answers are in `tests/nist.py` and `tests/curve_fit.py`;
//! `mero fit` as a process is in `tests/cli/fits.rs`.

mod levels;
mod starts;

use meromorph::Result;
use meromorph::files::ranges::Generated;
use meromorph::fit::{
    Fit, Formula, Global, Journal, Method, Problem, RobustLoss, SavedFit, SolveOptions, add_profiles, report, solve,
    solve_from,
};

/// Numbers between -1 and 1 from a linear congruential generator.
fn noise(count: usize) -> Vec<f64> {
    let mut state = 12_345_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// x from 0 to 5 and a noisy decay over it.
fn decay(rows: usize) -> [Vec<f64>; 2] {
    let x: Vec<f64> = (0..rows).map(|row| 5.0 * row as f64 / rows as f64).collect();
    let y = x.iter().zip(noise(rows)).map(|(x, noise)| 3.0 * (-1.2 * x).exp() + 0.5 + 0.05 * noise).collect();
    [x, y]
}

fn problem<'a>(text: &str, [x, y]: &'a [Vec<f64>; 2]) -> Result<Problem<'a>> {
    Problem::new(Formula::parse(text, &["x"])?, &[("x", x)], y)
}

fn fitted(problem: &Problem<'_>) -> Fit {
    solve(problem, &SolveOptions::default()).expect("the fit has an answer")
}

const DECAY: &str = "a * exp(-b * x) + c";

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
fn a_line_has_the_covariance_of_the_closed_form() {
    let x: Vec<f64> = (0..50).map(f64::from).collect();
    let y: Vec<f64> = x.iter().zip(noise(50)).map(|(x, noise)| 2.0 * x - 7.0 + noise).collect();
    let fit = fitted(&problem("slope * x + offset", &[x.clone(), y.clone()]).unwrap());
    let (n, sx, sxx) = (50.0, x.iter().sum::<f64>(), x.iter().map(|x| x * x).sum::<f64>());
    let determinant = n * sxx - sx * sx;
    let (slope, offset) = (fit.value("slope").unwrap(), fit.value("offset").unwrap());
    let square: f64 = x.iter().zip(&y).map(|(x, y)| (slope * x + offset - y).powi(2)).sum();
    let variance = square / 48.0;
    let expected = [[n, -sx], [-sx, sxx]].map(|row| row.map(|entry| entry * variance / determinant));
    for (row, known) in fit.covariance.iter().zip(expected) {
        for (entry, known) in row.iter().zip(known) {
            assert!((entry - known).abs() <= 1e-9 * known.abs(), "{entry}, expected {known}");
        }
    }
}

#[test]
fn sigma_weighs_and_scales() {
    let data = decay(200);
    let sigma: Vec<f64> = noise(200).iter().map(|noise| 0.05 + 0.02 * noise).collect();
    let tenfold: Vec<f64> = sigma.iter().map(|sigma| 10.0 * sigma).collect();
    let fit = |sigma, is_absolute| fitted(&problem(DECAY, &data).unwrap().sigma(sigma, is_absolute).unwrap());
    let [small, large] = [fit(&sigma, false), fit(&tenfold, false)];
    let [small_absolute, large_absolute] = [fit(&sigma, true), fit(&tenfold, true)];
    for name in ["a", "b", "c"] {
        let apart = (small.value(name).unwrap() - large.value(name).unwrap()).abs();
        assert!(apart < 1e-10, "{name}: {apart:e}");
    }
    for at in 0..3 {
        let ratio = |one: &Fit, other: &Fit| one.covariance[at][at] / other.covariance[at][at];
        assert!((ratio(&large, &small) - 1.0).abs() < 1e-8);
        assert!((ratio(&large_absolute, &small_absolute) - 100.0).abs() < 1e-6);
    }
}

#[test]
fn bounds_hold_and_are_reached() {
    let data = decay(200);
    let free = fitted(&problem(DECAY, &data).unwrap());
    let held = fitted(&problem(DECAY, &data).unwrap().bounds("b", 0.0, 1.0).unwrap());
    let b = held.parameters.iter().find(|parameter| parameter.name == "b").unwrap();
    assert!(b.value == 1.0 && b.is_at_bound, "{b:?}");
    assert!(held.cost > free.cost && held.stop.is_converged());
    // With the parameter fixed at its bound, the others have the same values.
    let fixed = fitted(&problem(DECAY, &data).unwrap().fix("b", 1.0).unwrap());
    for name in ["a", "c"] {
        assert!((held.value(name).unwrap() - fixed.value(name).unwrap()).abs() < 1e-9, "{name}");
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

#[test]
fn robust_losses_ignore_outliers() {
    let [x, mut y] = decay(300);
    y.iter_mut().step_by(15).for_each(|y| *y += 4.0);
    let data = [x, y];
    let far = |loss| {
        let fit = fitted(&problem(DECAY, &data).unwrap().loss(loss, 0.1).unwrap());
        (fit.value("c").unwrap() - 0.5).abs()
    };
    assert!(far(RobustLoss::Linear) > 0.2);
    for loss in [RobustLoss::SoftL1, RobustLoss::Huber, RobustLoss::Cauchy, RobustLoss::Arctan] {
        assert!(far(loss) < 0.05, "{}: {}", loss.name(), far(loss));
    }
}

#[test]
fn ties_equal_the_formula_without_them() {
    let data = decay(200);
    let formula = Formula::parse(DECAY, &["x"]).unwrap().tied("c", "a / 6").unwrap();
    let tied = fitted(&Problem::new(formula, &[("x", &data[0])], &data[1]).unwrap());
    let written = fitted(&problem("a * exp(-b * x) + a / 6", &data).unwrap());
    assert_eq!(tied.parameters[..2], written.parameters[..]);
    let c = &tied.parameters[2];
    assert!((c.value - tied.value("a").unwrap() / 6.0).abs() < 1e-15);
    assert!((c.stderr.unwrap() - tied.parameters[0].stderr.unwrap() / 6.0).abs() < 1e-15);
}

#[test]
fn what_the_data_do_not_determine_is_named() {
    let data = decay(100);
    let fit = fitted(&problem("a * exp(-b * x) + c * d", &data).unwrap());
    assert_eq!(fit.undetermined, ["c and d separately"]);
    let stderr = |name: &str| fit.parameters.iter().find(|parameter| parameter.name == name).unwrap().stderr;
    assert!(stderr("a").is_some() && stderr("c").is_none() && stderr("d").is_none());
    // As many rows as parameters leave no residual to estimate errors from.
    let [x, y] = decay(3);
    let fit = fitted(&problem(DECAY, &[x, y]).unwrap().start("b", 1.0).unwrap());
    assert!(fit.dof == 0 && fit.parameters.iter().all(|parameter| parameter.stderr.is_none()));
}

/// A formula and the true values at x.
type Truth = (&'static str, fn(f64) -> f64);

/// The starts of usual models are found without any help.
#[test]
fn starts_are_found() {
    let x: Vec<f64> = (0..400).map(|row| -2.0 + f64::from(row) * 0.02).collect();
    let noise = noise(400);
    let models: [Truth; 5] = [
        ("a * exp(-0.5 * ((x - m) / s)^2) + c", |x| 3.0 * (-0.5 * ((x - 1.0) / 0.4).powi(2)).exp() + 1.0),
        ("l / (1 + exp(-k * (x - m)))", |x| 4.0 / (1.0 + (-2.0 * (x - 1.5)).exp())),
        ("a / (1 + ((x - m) / g)^2) + c * x", |x| 2.0 / (1.0 + ((x - 3.0) / 0.3).powi(2)) + 0.2 * x),
        ("a * exp(-b * x) * cos(w * x + p)", |x| 2.0 * (-0.3 * x).exp() * (4.0 * x + 0.5).cos()),
        ("a + b * x + c * x^2 + d * x^3", |x| 1.0 - x + 0.5 * x * x - 0.1 * x.powi(3)),
    ];
    for (text, truth) in models {
        let y: Vec<f64> = x.iter().zip(&noise).map(|(x, noise)| truth(*x) + 0.02 * noise).collect();
        let fit = fitted(&problem(text, &[x.clone(), y]).unwrap());
        assert!(fit.statistics.rmse < 0.02, "{text}: {fit:?}");
    }
}

#[test]
fn a_saved_fit_predicts_with_bands() {
    let data = decay(200);
    let problem = problem(DECAY, &data).unwrap();
    let fit = fitted(&problem);
    let saved = SavedFit::parse(&report(&problem, &fit, "y", 0.0).to_string(), "fit.json").unwrap();
    let places = [0.0, 2.5, 50.0];
    let predicted = saved.predict(&[&places], 3, 0.95).unwrap();
    // Far away only c is left of the model.
    let c = &fit.parameters[2];
    assert_eq!(predicted.values[2], c.value);
    let half = c.interval.unwrap()[1] - c.value;
    assert!((predicted.confidence[2] - half).abs() < 1e-12);
    // The prediction band adds the variance of one observation, of which the interval of c is a known multiple.
    let reach = half / c.stderr.unwrap();
    for (wide, narrow) in predicted.prediction.iter().zip(&predicted.confidence) {
        let expected = (narrow * narrow + reach * reach * fit.statistics.reduced_chi_square).sqrt();
        assert!((wide - expected).abs() < 1e-12, "{wide}, expected {expected}");
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
fn a_fit_may_end_with_every_parameter_at_a_bound() {
    let data = [vec![1.0, 2.0, 3.0], vec![1.5, 3.0, 4.6]];
    let fit = fitted(&problem("a * x", &data).unwrap().bounds("a", f64::NEG_INFINITY, 0.4).unwrap());
    assert!(fit.parameters[0].value == 0.4 && fit.parameters[0].is_at_bound && fit.stop.is_converged(), "{fit:?}");
}

#[test]
fn wide_bounds_change_nothing() {
    let data = decay(100);
    let free = fitted(&problem(DECAY, &data).unwrap());
    for (low, high) in [(0.0, 1e6), (-1e308, 1e308), (-1e200, 1e200)] {
        let bounded = problem(DECAY, &data).unwrap().bounds("a", low, high).unwrap().bounds("b", low, high).unwrap();
        let bounded = fitted(&bounded);
        assert!((bounded.value("b").unwrap() - free.value("b").unwrap()).abs() < 1e-9, "{low} to {high}: {bounded:?}");
        assert!(bounded.parameters.iter().all(|parameter| !parameter.is_at_bound));
    }
    // Far from the range of numbers a search gives up, but does not panic.
    let far = problem(DECAY, &data).unwrap().bounds("b", 1e300, f64::INFINITY).unwrap();
    assert!(solve(&far, &SolveOptions::default()).is_ok_and(|fit| fit.undetermined == ["b"]));
}

#[test]
fn robust_losses_have_no_likelihood() {
    let data = decay(100);
    let problem = problem(DECAY, &data).unwrap().loss(RobustLoss::Cauchy, 0.01).unwrap();
    let fit = fitted(&problem);
    assert!(fit.statistics.aic.is_nan() && fit.statistics.rmse > 0.02 && fit.statistics.r_squared < 0.999);
    let saved = SavedFit::parse(&report(&problem, &fit, "y", 0.0).to_string(), "fit.json").unwrap();
    assert!(saved.predict(&[&[1.0]], 1, 0.95).unwrap().prediction.is_empty());
}

#[test]
fn edited_files_are_errors() {
    let data = decay(20);
    let problem = problem(DECAY, &data).unwrap();
    let text = report(&problem, &fitted(&problem), "y", 0.0).to_string();
    let message = |text: &str| match SavedFit::parse(text, "fit.json") {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(message(&text), "no error");
    assert!(message(&text[..text.len() / 2]).starts_with("fit.json: "));
    assert!(
        message(&text.replace("\"is_weighted\":false", "\"is_weighted\":true"))
            .starts_with("fit.json: is damaged or was changed: its checksum is ")
    );
    // Without its checksum, a file is judged field by field.
    let checksum = text.find(",\"checksum\":\"").unwrap();
    let unsealed = [&text[..checksum], &text[checksum + ",\"checksum\":\"01234567\"".len()..]].concat();
    assert_eq!(message(&unsealed), "no error");
    let edited = |from: &str, to: &str| {
        assert!(unsealed.contains(from), "{from}");
        message(&unsealed.replace(from, to))
    };
    assert_eq!(
        edited("\"free\":[\"a\"", "\"free\":[\"b\""),
        "fit.json: free: \"b\" is there twice: expected each name once"
    );
    assert_eq!(
        edited("\"covariance\":[[", "\"covariance\":[[1,"),
        "fit.json: covariance: expected 3 rows of 3 numbers, one for each free parameter"
    );
    assert_eq!(
        edited("\"is_weighted\":false", "\"is_weighted\":\"no\""),
        "fit.json: is_weighted: got \"no\", expected true or false"
    );
    assert_eq!(
        edited("\"kind\":\"meromorph fit\"", "\"kind\":\"table\""),
        "fit.json: this JSON is not a fit: expected a file that mero fit --out wrote"
    );
}

#[test]
fn wrong_problems_are_errors() {
    let data = decay(20);
    let message =
        |problem: Result<Problem<'_>>| match problem.and_then(|problem| solve(&problem, &SolveOptions::default())) {
            Ok(_) => "no error".to_owned(),
            Err(error) => error.to_string(),
        };
    let new = || problem(DECAY, &data);
    let [x, mut y] = decay(20);
    y[6] = f64::NAN;
    assert_eq!(message(problem(DECAY, &[x, y])), "fit: y, row 7: got NaN, expected a finite number");
    assert_eq!(
        message(new().and_then(|problem| problem.start("d", 1.0))),
        "p0: \"d\" is not a parameter of the model: expected one of \"a\", \"b\", \"c\""
    );
    assert_eq!(
        message(new().and_then(|problem| problem.bounds("a", 1.0, 1.0))),
        "bounds: a: got 1 to 1, expected the lower bound below the upper; to keep a parameter at a value, fix it"
    );
    assert_eq!(
        message(new().and_then(|problem| problem.bounds("a", 0.0, 1.0)?.start("a", 2.0))),
        "p0: a: got 2, expected a value within its bounds 0 to 1"
    );
    let fixed = || new().and_then(|problem| problem.fix("a", 1.0)?.fix("b", 1.0)?.fix("c", 1.0));
    assert_eq!(message(fixed()), "fit: every parameter is fixed: expected at least one that is free");
    let few = decay(2);
    assert_eq!(message(problem(DECAY, &few)), "fit: got 2 rows, expected at least 3, one for each free parameter");
    assert_eq!(
        message(problem("a * log(x) + b", &data).and_then(|problem| problem.start("a", 1.0)?.start("b", 1.0))),
        "fit: the model is not finite at the start in row 1 (x = 0): expected a start at which it is, or no such rows"
    );
    assert_eq!(
        message(problem("a * log(x) + b", &data)),
        "fit: the model is not finite at the start in row 1 (x = 0): expected a start at which it is, or no such rows"
    );
    assert_eq!(
        message(problem("a * log(x - x - b * b)", &data)),
        "p0: no start was found at which the model is finite, for b: expected starts near the answer, such as b=1"
    );
    let sigma = vec![0.0; 20];
    assert_eq!(
        message(new().and_then(|problem| problem.sigma(&sigma, false))),
        "fit: sigma, row 1: got 0, expected a number above 0"
    );
}

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

#[test]
fn profiles_of_a_line_are_its_intervals_and_others_are_where_the_cost_rises() {
    let x: Vec<f64> = (0..30).map(f64::from).collect();
    let y: Vec<f64> = x.iter().zip(noise(30)).map(|(x, noise)| 2.0 * x - 7.0 + noise).collect();
    let data = [x, y];
    let options = SolveOptions::default();
    let line = problem("slope * x + offset", &data).unwrap();
    let mut fit = fitted(&line);
    add_profiles(&line, &mut fit, &options).unwrap();
    for parameter in &fit.parameters {
        let (interval, profile) = (parameter.interval.unwrap(), parameter.profile.unwrap());
        let close = |at: usize| (interval[at] - profile[at]).abs() < 1e-3 * parameter.stderr.unwrap();
        assert!(close(0) && close(1), "{parameter:?}");
    }
    // A fit with a value fixed at an end has a cost that is higher by t² s² / 2, by the definition of the profile.
    let bent = decay(40);
    let bent = problem(DECAY, &bent).unwrap();
    let mut fit = fitted(&bent);
    add_profiles(&bent, &mut fit, &options).unwrap();
    let (t, variance) = (2.026_192_463_029_1, 2.0 * fit.cost / 37.0);
    for name in ["a", "b", "c"] {
        let profile = fit.parameters.iter().find(|one| one.name == name).unwrap().profile.unwrap();
        for end in profile {
            let cost = fitted(&bent.clone().fix(name, end).unwrap()).cost;
            let risen = (2.0 * (cost - fit.cost) / variance).sqrt();
            assert!((risen / t - 1.0).abs() < 1e-3, "{name} at {end}: {risen}");
        }
    }
    let robust = problem(DECAY, &data).unwrap().loss(RobustLoss::Cauchy, 1.0).unwrap();
    let mut fit = fitted(&robust);
    assert!(add_profiles(&robust, &mut fit, &options).is_err());
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
fn needed_parameters_are_told_from_others() {
    let data = decay(60);
    let saved = |text: &str| {
        let problem = problem(text, &data).unwrap();
        SavedFit::parse(&report(&problem, &fitted(&problem), "y", 0.0).to_string(), "fit").unwrap()
    };
    let [small, right, large] = ["a * exp(-b * x)", DECAY, "a * exp(-b * x) + c + d * x^3"].map(saved);
    let needed = small.tested_against(&right).unwrap();
    assert!(needed.p < 1e-6 && needed.aic_difference < 0.0 && needed.dof == [1, 57], "{needed:?}");
    let not = right.tested_against(&large).unwrap();
    assert!(not.p > 0.01, "{not:?}");
    let wrong = right.tested_against(&small).unwrap_err().to_string();
    assert_eq!(
        wrong,
        "F test: got models of 3 and 2 free parameters, expected more in the second, and fewer than rows"
    );
}

#[test]
fn a_robust_loss_finds_a_start_among_outliers() {
    let [x, mut y] = decay(60);
    y[3] = 5e4;
    let data = [x, y];
    let fit = fitted(&problem(DECAY, &data).unwrap().loss(RobustLoss::Cauchy, 0.1).unwrap());
    assert!((fit.value("a").unwrap() - 3.0).abs() < 0.2, "{:?}", fit.parameters);
}

#[test]
fn rows_that_are_read_give_the_fit_of_rows_in_memory() {
    let rows = 100_000;
    let noise = noise(rows);
    let row = |row: usize, into: &mut [f64]| {
        let x = 5.0 * (row * 7_919 % rows) as f64 / rows as f64;
        let set = (row / 1_000 % 3) as f64;
        into.copy_from_slice(&[set, x, (set + 1.0) * (-1.2 * x).exp() + 0.5 + 0.05 * noise[row]]);
        if row == 50 {
            into[1] = f64::NAN;
        }
    };
    let source = Generated::new(rows, &["set", "x", "y"], row).unwrap();
    let formula = || Formula::parse("a[set] * exp(-b * x) + c", &["set", "x", "y"]).unwrap();
    let read = Problem::read(formula(), &source, "y", None, true).unwrap();
    assert_eq!((read.rows(), read.groups()), (rows - 1, 3));
    let missing = Problem::read(formula(), &source, "y", None, false).map(|_| ()).unwrap_err().to_string();
    assert_eq!(missing, "fit: column \"x\", row 51: got NaN, expected a finite number");
    let mut columns = [vec![], vec![], vec![]];
    for at in (0..rows).filter(|row| *row != 50) {
        let mut values = [0.0; 3];
        row(at, &mut values);
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    let named: [(&str, &[f64]); 2] = [("set", &columns[0]), ("x", &columns[1])];
    let held = fitted(&Problem::new(formula(), &named, &columns[2]).unwrap());
    let read = fitted(&read);
    for (own, other) in read.parameters.iter().zip(&held.parameters) {
        assert_eq!(own.name, other.name);
        // Rows are added in another order.
        assert!((own.value - other.value).abs() < 1e-3 * own.stderr.unwrap(), "{own:?}, {other:?}");
        assert!((own.stderr.unwrap() / other.stderr.unwrap() - 1.0).abs() < 1e-9, "{own:?}, {other:?}");
    }
}

#[test]
fn a_journal_goes_on_with_the_same_bits() {
    // More rows than are summed at a time, so that passes are interrupted too.
    let rows = 9_000_000;
    let source = Generated::new(rows, &["x", "y"], |row, into| {
        let x = 5.0 * row as f64 / rows as f64;
        into.copy_from_slice(&[x, 3.0 * (-1.2 * x).exp() + 0.5 + 0.01 * ((row * 2_654_435_761) % 1_000) as f64 / 1e3]);
    })
    .unwrap();
    let formula = Formula::parse(DECAY, &["x", "y"]).unwrap();
    let problem = Problem::read(formula, &source, "y", None, false).unwrap();
    let problem = problem.start("a", 2.0).unwrap().start("b", 1.0).unwrap().start("c", 0.0).unwrap();
    let options = SolveOptions::default();
    let whole = solve(&problem, &options).unwrap();
    let mut journal = Journal::default();
    let mut ends = 0;
    let resumed = loop {
        let watch = &mut |_: &Journal| Err(meromorph::Error::new("stop"));
        match solve_from(&problem, &options, &mut journal, watch) {
            Ok(fit) => break fit,
            Err(_) => ends += 1,
        }
        journal = Journal::from_numbers(&journal.numbers()).unwrap();
    };
    assert!(ends > 3, "{ends}");
    assert_eq!(resumed, whole);
    let numbers = journal.numbers();
    assert_eq!(Journal::from_numbers(&numbers[..numbers.len() - 1]).unwrap_err().to_string(), "it is cut short");
    let other = problem.start("a", 2.5).unwrap();
    let foreign = solve_from(&other, &options, &mut journal, &mut |_| Ok(())).unwrap_err().to_string();
    assert!(foreign.contains("the journal is of another fit"), "{foreign}");
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
