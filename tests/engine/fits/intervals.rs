//! How sure the parameters are: covariances, weights, profiles, and what the data do not determine.

use super::{DECAY, decay, fitted, noise, problem};
use meromorph::fit::{Fit, RobustLoss, SolveOptions, add_profiles};

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
