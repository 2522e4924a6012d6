//! Fits without given starts: where searches begin decides which minimum they find.

use meromorph::fit::{RobustLoss, SolveOptions, solve};

use super::{DECAY, Truth, decay, fitted, noise, problem};

/// A few numbers of [0, 1) from a seed.
fn shares(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[test]
fn two_peaks_are_both_found() {
    let x: Vec<f64> = (0..300).map(|row| f64::from(row) / 15.0).collect();
    let noise = noise(300);
    for seed in 0..20 {
        let mut share = shares(seed);
        let mut between = |low: f64, high: f64| low + (high - low) * share();
        let peaks =
            [[3.0, 8.0], [11.0, 17.0]].map(|[low, high]| [between(2.0, 6.0), between(low, high), between(0.5, 1.3)]);
        let truth = |x: f64| 1.0 + peaks.iter().map(|[h, c, s]| h * (-0.5 * ((x - c) / s).powi(2)).exp()).sum::<f64>();
        let y: Vec<f64> = x.iter().zip(&noise).map(|(x, noise)| truth(*x) + 0.1 * noise).collect();
        let fit = fitted(&problem("gaussian(x) + gaussian(x) + line(x)", &[x.clone(), y]).unwrap());
        assert!(fit.statistics.rmse < 0.07, "{peaks:?}: {:?}", fit.parameters);
    }
}

#[test]
fn losses_that_flatten_out_find_a_line_among_outliers() {
    let x: Vec<f64> = (0..60).map(|row| f64::from(row) / 6.0).collect();
    let noise = noise(60);
    for seed in 0..30 {
        let mut share = shares(seed);
        let mut outlier = || if share() < 0.1 { 60.0 * share() - 30.0 } else { 0.0 };
        let y: Vec<f64> = x.iter().zip(&noise).map(|(x, noise)| 2.0 * x + 1.0 + 0.1 * noise + outlier()).collect();
        let data = [x.clone(), y];
        for loss in [RobustLoss::SoftL1, RobustLoss::Huber, RobustLoss::Cauchy, RobustLoss::Arctan] {
            let fit = fitted(&problem("a * x + b", &data).unwrap().loss(loss, 0.1).unwrap());
            assert!((fit.value("a").unwrap() - 2.0).abs() < 0.1, "{loss:?}, seed {seed}: {:?}", fit.parameters);
        }
    }
}

/// Only rounding errors of the amplitude, which is 0, say anything of the rate.
#[test]
fn the_rate_of_a_decay_that_is_not_there_is_not_determined() {
    let [x, y] = decay(50);
    let fit = fitted(&problem(DECAY, &[x, vec![3.0; y.len()]]).unwrap());
    assert_eq!(fit.undetermined, ["b"], "{:?}", fit.parameters);
    let stderr = |name: &str| fit.parameters.iter().find(|parameter| parameter.name == name).unwrap().stderr;
    assert!(stderr("b").is_none() && stderr("c").is_some());
    assert!((fit.value("c").unwrap() - 3.0).abs() < 1e-12);
}

/// Places of three peaks of one width, far from 0: what is near depends on how far apart places are, not on how far from 0.
#[test]
fn peaks_are_found_wherever_the_column_begins() {
    let noise = noise(300);
    let text = "a * exp(-((x - m) / 0.7)^2) + b * exp(-((x - n) / 0.7)^2) + c * exp(-((x - o) / 0.7)^2)";
    for offset in [0.0, 1000.0] {
        let x: Vec<f64> = (0..300).map(|row| offset + f64::from(row) / 15.0).collect();
        let mut missed = 0;
        for seed in 0..12 {
            let mut share = shares(seed);
            let peaks = [3.0, 9.0, 15.0].map(|place| [2.0 + 3.0 * share(), offset + place + 3.0 * share()]);
            let truth = |x: f64| peaks.iter().map(|[h, m]| h * (-((x - m) / 0.7).powi(2)).exp()).sum::<f64>();
            let y: Vec<f64> = x.iter().zip(&noise).map(|(x, noise)| truth(*x) + 0.05 * noise).collect();
            let data = [x.clone(), y];
            let bounded = ["m", "n", "o"]
                .into_iter()
                .try_fold(problem(text, &data).unwrap(), |problem, name| problem.bounds(name, offset, offset + 20.0));
            missed += usize::from(fitted(&bounded.unwrap()).statistics.rmse > 0.04);
        }
        assert!(missed <= 1, "{missed} of 12 from {offset}");
    }
}

/// Values of very different sizes, as in SI units: all are determined.
#[test]
fn sizes_do_not_decide_what_is_determined() {
    let x: Vec<f64> = (0..40).map(|row| 1e15 * (1.0 + 0.02 * f64::from(row))).collect();
    let y: Vec<f64> = x.iter().zip(noise(40)).map(|(f, noise)| 6.626e-34 * f - 3.2e-19 + 1e-21 * noise).collect();
    let fit = fitted(&problem("a * x + b", &[x, y]).unwrap());
    assert!(fit.undetermined.is_empty(), "{:?}", fit.undetermined);
    assert!(fit.parameters.iter().all(|parameter| parameter.stderr.is_some_and(|stderr| stderr > 0.0)));
}

#[test]
fn robust_steps_stay_within_bounds() {
    let x: Vec<f64> = (0..60).map(|row| f64::from(row) / 6.0).collect();
    let y: Vec<f64> = x.iter().zip(noise(60)).map(|(x, noise)| 2.0 * x + 0.1 * noise).collect();
    let data = [x, y];
    let bounded = problem("a * x", &data).unwrap().bounds("a", 0.0, 1.0).unwrap();
    let fit = fitted(&bounded.loss(RobustLoss::Cauchy, 0.1).unwrap());
    assert_eq!(fit.value("a"), Some(1.0));
}

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

/// Bounds that leave no place for what the data show, and columns that say nothing of places, end in an answer or an error.
#[test]
fn a_term_that_fits_nowhere_is_no_panic() {
    let x: Vec<f64> = (0..80).map(|row| 0.25 * f64::from(row)).collect();
    let noise = noise(80);
    let y: Vec<f64> = x.iter().zip(&noise).map(|(x, noise)| 2.0 * (1.7 * x + 0.4).cos() + 0.05 * noise).collect();
    let data = [x.clone(), y.clone()];
    for bounds in [("a", [f64::NEG_INFINITY, 0.0]), ("a", [5.0, 6.0]), ("b", [-40.0, -20.0]), ("c", [-2.0, -0.1])] {
        let (name, [low, high]) = bounds;
        let problem = problem("a*cos(b*x+c)+d", &data).unwrap().bounds(name, low, high).unwrap();
        let fit = solve(&problem, &SolveOptions::default()).unwrap();
        let value = fit.value(name).unwrap();
        assert!((low..=high).contains(&value), "{name} is {value}");
    }
    let constant = [vec![1.0; 80], y];
    let _ = solve(&problem("a*cos(b*x+c)", &constant).unwrap(), &SolveOptions::default());
}

/// Phases within half a turn of 0 and amplitudes above 0, however far from 0 x is.
#[test]
fn phases_are_within_a_turn_for_large_x() {
    let noise = noise(400);
    for scale in [1.0, 1e4, 1e8] {
        let x: Vec<f64> = (0..400).map(|row| scale * f64::from(row) / 20.0).collect();
        let truth = |x: f64| 2.0 * (1.7 * x / scale - 2.4).cos();
        let y: Vec<f64> = x.iter().zip(&noise).map(|(x, noise)| truth(*x) + 0.05 * noise).collect();
        let fit = fitted(&problem("a*cos(b*x+c)", &[x, y]).unwrap());
        let [a, c] = ["a", "c"].map(|name| fit.value(name).unwrap());
        assert!((a - 2.0).abs() < 0.05 && (c + 2.4).abs() < 0.05, "{scale}: {:?}", fit.parameters);
    }
}

/// The same times computed in two ways differ by rounding: no frequency beyond half a turn for a row is reported.
#[test]
fn times_that_differ_by_rounding_have_the_lowest_frequency() {
    let mut sum = 0.0;
    let added = (0..150).map(|_| {
        sum += 0.1;
        sum - 0.1
    });
    let x: Vec<f64> = added.chain((0..150).map(|row| 0.1 * f64::from(row))).collect();
    let noise = noise(300);
    let y: Vec<f64> = x.iter().zip(&noise).map(|(x, noise)| 2.0 * (1.7 * x + 0.4).cos() + 0.1 * noise).collect();
    let fit = fitted(&problem("a*cos(b*x+c)", &[x, y]).unwrap());
    assert!((fit.value("b").unwrap() - 1.7).abs() < 0.01, "{:?}", fit.parameters);
}

/// One row far off a peak draws a term of least squares to it; a robust loss is not drawn.
#[test]
fn a_robust_loss_finds_the_peak_and_not_the_outliers() {
    let x: Vec<f64> = (0..120).map(|row| f64::from(row) / 6.0).collect();
    let noise = noise(120);
    let mut y: Vec<f64> =
        x.iter().zip(&noise).map(|(x, noise)| 3.0 * (-0.5 * (x - 6.0_f64).powi(2)).exp() + 0.1 * noise).collect();
    y[100] += 20.0;
    y[20] -= 15.0;
    let data = [x, y];
    for loss in [RobustLoss::SoftL1, RobustLoss::Cauchy] {
        let fit = fitted(&problem("gaussian(x)", &data).unwrap().usual_bounds().loss(loss, 0.1).unwrap());
        assert!((fit.value("center").unwrap() - 6.0).abs() < 0.1, "{loss:?}: {:?}", fit.parameters);
    }
}

/// Terms that share their width are in the order of their places too.
#[test]
fn terms_with_one_width_are_in_order() {
    let x: Vec<f64> = (0..100).map(|row| f64::from(row) / 10.0).collect();
    let bell = |x: f64, c: f64| (-0.5 * ((x - c) / 0.6).powi(2)).exp();
    let y: Vec<f64> =
        x.iter().zip(noise(100)).map(|(x, noise)| 5.0 * bell(*x, 7.0) + 2.0 * bell(*x, 3.0) + 0.02 * noise).collect();
    let model = "h1*exp(-0.5*((x-c1)/s)^2) + h2*exp(-0.5*((x-c2)/s)^2)";
    let fit = fitted(&problem(model, &[x, y]).unwrap());
    let expected = [("h1", 2.0), ("c1", 3.0), ("h2", 5.0), ("c2", 7.0), ("s", 0.6)];
    for (name, value) in expected {
        assert!((fit.value(name).unwrap() - value).abs() < 0.05, "{name}: {:?}", fit.parameters);
    }
}
