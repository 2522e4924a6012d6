//! Parameters with a value per level, shared by some rows or fitted apart.

use meromorph::fit::{Fit, Formula, Levels, Method, Problem, SavedFit, SolveOptions, report, solve, solve_each};

use super::{fitted, noise};

/// Three decays with their own amplitudes and one rate, in rows that alternate between the sets.
fn three_sets() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let rows = 90;
    let set: Vec<f64> = (0..rows).map(|row| f64::from(10 - row % 3)).collect();
    let x: Vec<f64> = (0..rows).map(|row| f64::from(row / 3) * 0.1).collect();
    let decay = |(row, noise): (usize, f64)| set[row] * (-1.5 * x[row]).exp() + 0.3 + 0.01 * noise;
    let y = noise(rows as usize).into_iter().enumerate().map(decay).collect();
    (set, x, y)
}

#[test]
fn parameters_of_levels_equal_a_formula_with_switches() {
    let (set, x, y) = three_sets();
    let columns: [(&str, &[f64]); 2] = [("x", &x), ("set", &set)];
    let formula = Formula::parse("a[set] * exp(-b * x) + c", &["x", "set"]).unwrap();
    let problem = Problem::new(formula, &columns, &y).unwrap();
    let names: Vec<&str> = problem.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
    assert_eq!(names, ["a[8]", "a[9]", "a[10]", "b", "c"]);
    let fit = fitted(&problem);
    let text = "((set==8)*a8 + (set==9)*a9 + (set==10)*a10) * exp(-b * x) + c";
    let switched = Problem::new(Formula::parse(text, &["x", "set"]).unwrap(), &columns, &y).unwrap();
    let switched = fitted(&switched);
    for (own, other) in fit.parameters.iter().zip(&switched.parameters) {
        assert!((own.value - other.value).abs() < 1e-9, "{own:?}, {other:?}");
        assert!((own.stderr.unwrap() / other.stderr.unwrap() - 1.0).abs() < 1e-9, "{own:?}, {other:?}");
    }
    assert_eq!(fit.dof, 85);
    // A parameter of one level can be fixed and bounded by its name, those of all levels by the formula's.
    let fixed = fitted(&problem.clone().fix("a[9]", 9.0).unwrap().bounds("a", 0.0, 9.5).unwrap());
    assert_eq!([fixed.value("a[9]"), fixed.value("a[10]")], [Some(9.0), Some(9.5)]);
    let saved = SavedFit::parse(&report(&problem, &fit, "y", 0.0).to_string(), "fit").unwrap();
    let levels = Levels::of_numbers(&[10.0, 8.0]);
    let predicted = saved.predict_levels(&[&[0.0, 0.0]], &[&levels], 2, 0.95).unwrap().values;
    assert!((predicted[0] - fit.value("a[10]").unwrap() - fit.value("c").unwrap()).abs() < 1e-12);
    assert!((predicted[1] - fit.value("a[8]").unwrap() - fit.value("c").unwrap()).abs() < 1e-12);
    let unknown = saved.predict_levels(&[&[0.0]], &[&Levels::of_numbers(&[7.0])], 1, 0.95).unwrap_err();
    assert_eq!(unknown.to_string(), "set: got 7, which the fit did not have");
}

/// Decays of several pixels over eleven times: amplitude 2 + pixel, rate between 0.5 and 1.5.
fn pixels(count: usize) -> [Vec<f64>; 3] {
    let rows = 11 * count;
    let pixel: Vec<f64> = (0..rows).map(|row| (row / 11) as f64).collect();
    let t: Vec<f64> = (0..rows).map(|row| (row % 11) as f64 * 0.4).collect();
    let rate = |pixel: f64| 0.5 + (pixel * 0.37).fract();
    let decay = |(row, noise): (usize, f64)| (2.0 + pixel[row]) * (-rate(pixel[row]) * t[row]).exp() + 0.02 * noise;
    let y = noise(rows).into_iter().enumerate().map(decay).collect();
    [pixel, t, y]
}

#[test]
fn many_fits_are_those_of_each_group() {
    let [pixel, t, y] = pixels(150);
    let columns: [(&str, &[f64]); 2] = [("pixel", &pixel), ("t", &t)];
    let formula = Formula::parse("a[pixel] * exp(-b[pixel] * t)", &["pixel", "t"]).unwrap();
    let problem = Problem::new(formula, &columns, &y).unwrap();
    assert!(problem.is_many());
    let options = SolveOptions::default();
    let fits = solve_each(&problem, &options).unwrap();
    // The same with given starts, with bounds that some fits reach, and on one thread.
    let given = problem.clone().start("a", 5.0).unwrap().start("b", 1.0).unwrap();
    let from_starts = solve_each(&given, &options).unwrap();
    let bounded = given.clone().bounds("b", 0.0, 1.0).unwrap();
    let within = solve_each(&bounded, &options).unwrap();
    assert_eq!(solve_each(&problem, &SolveOptions { threads: 1, ..SolveOptions::default() }).unwrap(), fits);
    for group in 0..150 {
        let rows = 11 * group..11 * (group + 1);
        let own = Formula::parse("a * exp(-b * t)", &["t"]).unwrap();
        let own = Problem::new(own, &[("t", &t[rows.clone()])], &y[rows]).unwrap().start("a", 5.0).unwrap();
        let own = own.start("b", 1.0).unwrap();
        let expected = fitted(&own);
        for found in [&fits, &from_starts] {
            let found = found.fits[group].as_ref().unwrap();
            assert!(found.stop.is_converged());
            for (at, parameter) in expected.parameters.iter().enumerate() {
                let stderr = parameter.stderr.unwrap();
                assert!((found.values[at] - parameter.value).abs() < 1e-6 * stderr, "{group}: {found:?}");
                assert!((found.stderr(at) / stderr - 1.0).abs() < 1e-6, "{group}: {found:?}");
            }
        }
        let expected = fitted(&own.bounds("b", 0.0, 1.0).unwrap());
        let found = within.fits[group].as_ref().unwrap();
        assert!((found.values[1] - expected.value("b").unwrap()).abs() < 1e-9, "{group}: {found:?}");
    }
}

#[test]
fn one_failing_group_does_not_end_the_others() {
    let pixel = [0.0, 0.0, 0.0, 1.0];
    let t = [0.0, 1.0, 2.0, 0.0];
    let y = [1.0, 2.1, 2.9, 5.0];
    let formula = Formula::parse("a[pixel] + b[pixel] * t", &["pixel", "t"]).unwrap();
    let problem = Problem::new(formula, &[("pixel", &pixel), ("t", &t)], &y).unwrap();
    let fits = solve_each(&problem, &SolveOptions::default()).unwrap();
    assert!((fits.fits[0].as_ref().unwrap().values[1] - 0.95).abs() < 1e-9);
    assert_eq!(
        fits.fits[1].as_ref().unwrap_err().to_string(),
        "got 1 row, expected at least 2, one for each free parameter"
    );
    let shared = Formula::parse("a[pixel] + b * t", &["pixel", "t"]).unwrap();
    let shared = Problem::new(shared, &[("pixel", &pixel), ("t", &t)], &y).unwrap();
    assert!(!shared.is_many());
    assert!(solve_each(&shared, &SolveOptions::default()).unwrap_err().to_string().contains("share a free parameter"));
}

/// In set 0, y = 2 t + (1, -1, 1, -1): with b fixed at 2, a is 0 and its variance 4/3 · 1/4. In set 1, y = 3 t + 5 + (1, -1, -1, 1): the variance
/// of a row is 4/2, the mean of t 1.5 and Σ (t - 1.5)² = 5.
#[test]
fn a_parameter_may_be_fixed_in_one_group_of_many() {
    let set = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    let t = [0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0];
    let y = [1.0, 1.0, 5.0, 5.0, 6.0, 7.0, 10.0, 15.0];
    let formula = Formula::parse("b[set] * t + a[set]", &["set", "t"]).unwrap();
    let problem = Problem::new(formula, &[("set", &set), ("t", &t)], &y).unwrap();
    let nan = f64::NAN;
    let line = ([3.0, 5.0], [2.0 / 5.0, -0.6, -0.6, 2.0 * (0.25 + 2.25 / 5.0)]);
    let fixed = |names: &[(&str, f64)]| {
        names.iter().fold(problem.clone(), |problem, (name, value)| problem.fix(name, *value).unwrap())
    };
    let cases = [
        (
            fixed(&[("b[0]", 2.0)]),
            vec![0, 1],
            [([2.0, 0.0], vec![nan, nan, nan, 1.0 / 3.0]), (line.0, line.1.to_vec())],
        ),
        (fixed(&[("b[0]", 2.0), ("a[0]", 0.0)]), vec![0, 1], [([2.0, 0.0], vec![nan; 4]), (line.0, line.1.to_vec())]),
        // Fixed in both, at values of their own.
        (
            fixed(&[("b[0]", 2.0), ("b[1]", 3.0)]),
            vec![1],
            [([2.0, 0.0], vec![1.0 / 3.0]), ([3.0, 5.0], vec![1.0 / 3.0])],
        ),
    ];
    // A limit of evaluations is for the general search, which takes the groups one by one.
    for evaluations in [0, 100] {
        for (problem, free, expected) in &cases {
            let fits = solve_each(problem, &SolveOptions { evaluations, ..SolveOptions::default() }).unwrap();
            assert_eq!((&fits.parameters[..], &fits.free), (&["b".to_owned(), "a".to_owned()][..], free));
            for (fit, (values, covariance)) in fits.fits.iter().zip(expected) {
                let fit = fit.as_ref().unwrap();
                let is_close =
                    |got: &f64, expected: &f64| (got - expected).abs() < 1e-12 || (got.is_nan() && expected.is_nan());
                assert!(fit.values.iter().zip(values).all(|(got, expected)| is_close(got, expected)), "{fit:?}");
                assert_eq!(fit.covariance.len(), covariance.len(), "{fit:?}");
                assert!(
                    fit.covariance.iter().zip(covariance).all(|(got, expected)| is_close(got, expected)),
                    "{fit:?}"
                );
                for place in 0..free.len() {
                    assert!(is_close(&fit.stderr(place), &covariance[place * (free.len() + 1)].sqrt()), "{fit:?}");
                }
            }
        }
    }
}

/// Rows are sorted by their set, but an error has the number and the cells that the row was given with.
#[test]
fn a_row_in_an_error_has_its_own_number_and_cells() {
    let (set, x, y) = ([2.0, 0.0, 1.0], [1.0, -5.0, 3.0], [1.0, 1.0, 1.0]);
    let formula = Formula::parse("a[set] * log(x)", &["set", "x"]).unwrap();
    let problem = Problem::new(formula, &[("set", &set), ("x", &x)], &y).unwrap().start("a", 1.0).unwrap();
    let message =
        "fit: the model is not finite at the start in row 2 (x = -5): expected a start at which it is, or no such rows";
    let options = SolveOptions::default();
    assert_eq!(solve(&problem, &options).unwrap_err().to_string(), message);
    assert_eq!(solve_each(&problem, &options).unwrap().fits[0].as_ref().unwrap_err().to_string(), message);
}

#[test]
fn starts_of_many_fits_are_found_although_the_fits_have_a_pattern() {
    // As in an image whose rows are 100 pixels wide: every hundredth fit is alike.
    let (fits, rows) = (1_200, 30);
    let center = |fit: usize| (fit % 100) as f64 / 10.0 - 5.0;
    let all = || (0..fits).flat_map(|fit| (0..rows).map(move |row| (fit, row as f64 / 2.0 - 7.5)));
    let fit: Vec<f64> = all().map(|(fit, _)| fit as f64).collect();
    let x: Vec<f64> = all().map(|(_, x)| x).collect();
    let y: Vec<f64> =
        all().map(|(fit, x)| 2.0 * (-((x - center(fit)) / 1.5).powi(2)).exp() + 0.01 * (7.0 * x).sin()).collect();
    let formula = Formula::parse("a[fit] * exp(-((x - m[fit]) / w[fit])^2) + b[fit]", &["fit", "x"]).unwrap();
    let problem = Problem::new(formula, &[("fit", &fit), ("x", &x)], &y).unwrap();
    let problem = problem.bounds("a", 0.0, f64::INFINITY).unwrap().bounds("m", -6.0, 6.0).unwrap();
    let problem = problem.bounds("w", 0.2, 4.0).unwrap();
    let fits = solve_each(&problem, &SolveOptions::default()).unwrap();
    for (at, fit) in fits.fits.iter().enumerate() {
        let m = fit.as_ref().unwrap().values[1];
        assert!((m - center(at)).abs() < 0.05, "fit {at}: {m}, expected {}", center(at));
    }
}

#[test]
fn many_fits_without_noise_converge() {
    let rows: Vec<(f64, f64)> = (0..15).flat_map(|set| (0..12).map(move |t| (f64::from(set), f64::from(t)))).collect();
    let set: Vec<f64> = rows.iter().map(|(set, _)| *set).collect();
    let t: Vec<f64> = rows.iter().map(|(_, t)| *t).collect();
    let y: Vec<f64> = rows.iter().map(|(set, t)| (1.0 + set) * (-0.3 * t).exp()).collect();
    // The best c is 0, of which no step is a small share.
    let formula = Formula::parse("a[set] * exp(-b[set] * t) + c[set]", &["set", "t"]).unwrap();
    let fits = solve_each(&Problem::new(formula, &[("set", &set), ("t", &t)], &y).unwrap(), &SolveOptions::default());
    for (set, fit) in fits.unwrap().fits.iter().enumerate() {
        let fit = fit.as_ref().unwrap();
        assert!(fit.stop.is_converged() && fit.evaluations < 40, "{set}: {:?} {}", fit.stop, fit.evaluations);
        assert!(
            (fit.values[0] / (1.0 + set as f64) - 1.0).abs() < 1e-12 && fit.values[2].abs() < 1e-12,
            "{:?}",
            fit.values
        );
    }
}

/// Slopes and offsets have closed forms: within a set, x and y are compared with their means.
#[test]
fn many_levels_with_a_shared_slope_have_the_closed_form() {
    let (sets, each) = (60, 7);
    let set: Vec<f64> = (0..sets * each).map(|row| (row % sets) as f64).collect();
    let x: Vec<f64> = noise(sets * each).iter().zip(&set).map(|(x, set)| x + 0.01 * set).collect();
    let level = |set: f64| (0.7 * set).sin() * 20.0;
    let errors = noise(2 * sets * each).split_off(sets * each);
    let y: Vec<f64> = x.iter().zip(&set).zip(errors).map(|((x, &set), e)| 3.0 * x + level(set) + 0.3 * e).collect();
    let formula = Formula::parse("a[set] + b * x", &["x", "set"]).unwrap();
    let problem = Problem::new(formula, &[("x", &x), ("set", &set)], &y).unwrap();
    let means = |values: &[f64]| -> Vec<f64> {
        let of =
            |at: usize| values.iter().zip(&set).filter(move |(_, set)| **set == at as f64).map(|(value, _)| *value);
        (0..sets).map(|at| of(at).sum::<f64>() / each as f64).collect()
    };
    let (mean_x, mean_y) = (means(&x), means(&y));
    let sum = |f: &dyn Fn(usize, usize) -> f64| (0..x.len()).map(|row| f(row, set[row] as usize)).sum::<f64>();
    let sxx = sum(&|row, at| (x[row] - mean_x[at]).powi(2));
    let slope = sum(&|row, at| (x[row] - mean_x[at]) * (y[row] - mean_y[at])) / sxx;
    let square = sum(&|row, at| (y[row] - mean_y[at] - slope * (x[row] - mean_x[at])).powi(2));
    let variance = square / (x.len() - sets - 1) as f64;
    assert!(variance > 0.01, "the errors must not be a line in x: {variance}");
    for method in [Method::TrustRegion, Method::LevenbergMarquardt] {
        let fit = solve(&problem, &SolveOptions { method, ..SolveOptions::default() }).unwrap();
        let close = |got: f64, expected: f64, what: &str| {
            assert!((got - expected).abs() <= 1e-9 * expected.abs(), "{what}: {got} {expected}");
        };
        let place = |name: &str| fit.free.iter().position(|known| known == name).unwrap();
        close(fit.value("b").unwrap(), slope, "b");
        let b = place("b");
        close(fit.covariance[b][b], variance / sxx, "variance of b");
        for at in [0, 17, sets - 1] {
            let a = place(&format!("a[{at}]"));
            close(fit.value(&fit.free[a]).unwrap(), mean_y[at] - slope * mean_x[at], &fit.free[a]);
            let own = variance * (1.0 / each as f64 + mean_x[at].powi(2) / sxx);
            close(fit.covariance[a][a], own, &fit.free[a]);
            close(fit.covariance[a][b], -variance * mean_x[at] / sxx, &fit.free[a]);
            close(fit.covariance[a][place("a[3]")], variance * (mean_x[at] * mean_x[3] / sxx), "two levels");
        }
    }
}

/// What is not determined is found among eliminated parameters, too.
#[test]
fn a_level_without_an_effect_is_named() {
    let (sets, each) = (40, 5);
    let set: Vec<f64> = (0..sets * each).map(|row| (row % sets) as f64).collect();
    let x: Vec<f64> = noise(sets * each).iter().zip(&set).map(|(x, set)| if *set == 7.0 { 0.0 } else { *x }).collect();
    let errors = noise(2 * sets * each).split_off(sets * each);
    let y: Vec<f64> = x.iter().zip(errors).map(|(x, e)| 3.0 * x + 1.0 + 0.1 * e).collect();
    let formula = Formula::parse("a[set] * x + c", &["x", "set"]).unwrap();
    let fit = fitted(&Problem::new(formula, &[("x", &x), ("set", &set)], &y).unwrap());
    assert_eq!(fit.undetermined, ["a[7]"]);
    let unknown = |fit: &Fit| -> Vec<String> {
        fit.parameters.iter().filter(|one| one.stderr.is_none()).map(|one| one.name.clone()).collect()
    };
    assert_eq!(unknown(&fit), ["a[7]"]);
}
