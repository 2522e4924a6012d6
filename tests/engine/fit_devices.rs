//! Fits whose search runs on a device: the answer is that of the search on the CPU, and the report says which precision was used and why.

use crate::devices::devices;
use meromorph::Device;
use meromorph::fit::{Fit, Formula, Journal, Levels, Problem, RobustLoss, SolveOptions, approach, solve, solve_from};
use pollster::block_on;

const ROWS: usize = 3_000;

/// Numbers in [0, 1) without a pattern.
fn spread(seed: usize) -> Vec<f64> {
    (0..ROWS).map(|at| ((at + 1) * (seed + 7) * 2_654_435_761 % 1_000_003) as f64 / 1_000_003.0).collect()
}

fn on(device: &Device, problem: &Problem<'_>, options: &SolveOptions) -> Fit {
    let mut journal = Journal::default();
    block_on(approach(problem, options, device, &mut journal)).unwrap();
    solve_from(problem, options, &mut journal, &mut |_| Ok(())).unwrap()
}

/// Parameters within 1e-5 standard errors, and standard errors within 1e-6 of themselves.
fn assert_same(what: &str, got: &Fit, expected: &Fit) {
    for (got, expected) in got.parameters.iter().zip(&expected.parameters) {
        let (stderr, name) = (expected.stderr.unwrap(), &got.name);
        assert!((got.value - expected.value).abs() < 1e-5 * stderr, "{what}, {name}: {got:?}, {expected:?}");
        assert!((got.stderr.unwrap() / stderr - 1.0).abs() < 1e-6, "{what}, {name}: {got:?}, {expected:?}");
    }
}

#[test]
fn the_answer_is_that_of_the_cpu() {
    let (t, noise) = (spread(1).iter().map(|t| 5.0 * t).collect::<Vec<f64>>(), spread(2));
    let sets = Levels::of_numbers(&(0..ROWS).map(|at| (at % 4) as f64).collect::<Vec<f64>>());
    let y: Vec<f64> = (0..ROWS)
        .map(|at| (2.0 + (at % 4) as f64) * (-0.8 * t[at]).exp() + 0.3 * t[at].sin() + 0.02 * (noise[at] - 0.5))
        .collect();
    let sigma: Vec<f64> = spread(3).iter().map(|share| 1e-3 * (1.0 + share)).collect();
    let text = "a[set] * exp(-b * t) + c * sin(t)";
    let plain = || {
        let formula = Formula::parse(text, &["t", "set"]).unwrap();
        let problem = Problem::with_levels(formula, &[("t", &t)], &[("set", &sets)], &y).unwrap();
        problem.start("a", 1.0).unwrap().start("b", 0.5).unwrap().start("c", 0.0).unwrap()
    };
    let mut cases = vec![
        ("plain".to_owned(), plain()),
        ("sigma".to_owned(), plain().sigma(&sigma, true).unwrap()),
        ("bounds".to_owned(), plain().bounds("b", 0.0, 1.0).unwrap()),
        ("one fixed".to_owned(), plain().fix("c", 0.3).unwrap()),
    ];
    for (name, loss) in RobustLoss::ALL {
        cases.push((name.to_owned(), plain().loss(loss, 0.01).unwrap()));
    }
    let options = SolveOptions::default();
    for (what, problem) in &cases {
        let expected = solve(problem, &options).unwrap();
        assert_eq!((expected.searched.device.as_str(), expected.searched.precision()), ("cpu", "f64"));
        for device in devices(&[2]) {
            let before = device.counters();
            let got = on(&device, problem, &options);
            let name = device.info().device;
            if what != "one fixed" {
                assert_same(what, &got, &expected);
            }
            let searched = &got.searched;
            assert_eq!(
                (searched.device.as_str(), searched.precision()),
                (name, "f32, then f64"),
                "{what}: {searched:?}"
            );
            assert!(searched.reason.contains("on 1000 rows at the start"), "{}", searched.reason);
            assert!(searched.evaluations > 1 && got.evaluations < expected.evaluations, "{what}: {got:?}");
            // A launch for each group, and the sums and counters of all in two readbacks.
            let (launches, readbacks) =
                (device.counters().launches - before.launches, device.counters().readbacks - before.readbacks);
            assert_eq!(
                [launches, readbacks],
                [4, 2].map(|each| each * searched.evaluations as u64),
                "{what} on {name}"
            );
        }
    }
}

#[test]
fn single_precision_is_refused_where_it_is_not_enough() {
    let t: Vec<f64> = spread(1).iter().map(|t| 1.7e9 + 5.0 * t).collect();
    let peak = |t: f64| (-(t - 1.7e9 - 2.0).powi(2)).exp();
    let y: Vec<f64> = t.iter().zip(spread(2)).map(|(&t, noise)| 3.0 * peak(t) + 0.01 * noise).collect();
    let problem = |text: &str| {
        let formula = Formula::parse(text, &["t"]).unwrap();
        let problem = Problem::new(formula, &[("t", &t)], &y).unwrap();
        problem.start("a", 2.0).unwrap().start("b", 0.5).unwrap().start("c", 1.7e9 + 1.8).unwrap()
    };
    let options = SolveOptions::default();
    let cases = [
        ("a * exp(-b * (t - c)^2)", "of their size, and the most is 0.001"),
        ("a * exp(-b * (t - c)^2) + 1e-50", "the constant 1e-50 is outside the range of 32-bit numbers"),
        ("a * exp(-b * (t - c)^2) + 1e-9 * cumint(b, t)", "integrals are computed in double precision"),
    ];
    for (text, reason) in cases {
        let fit = on(&Device::cpu(1), &problem(text), &options);
        let expected = solve(&problem(text), &options).unwrap();
        assert_eq!(fit.parameters, expected.parameters, "{text}");
        assert_eq!((fit.searched.device.as_str(), fit.searched.precision()), ("cpu", "f64"));
        assert!(fit.searched.reason.contains(reason), "{text}: {}", fit.searched.reason);
    }
    // The difference of the times from a fixed one depends on the data only, and is computed in double precision.
    let fixed = problem("a * exp(-b * (t - c)^2)").fix("c", 1.7e9 + 2.0).unwrap();
    let fit = on(&Device::cpu(1), &fixed, &options);
    assert!(fit.searched.is_single, "{}", fit.searched.reason);
    assert!((fit.value("b").unwrap() - 1.0).abs() < 0.1);
}

#[test]
fn the_journal_keeps_where_the_search_ended() {
    let t: Vec<f64> = spread(1);
    let y: Vec<f64> = t.iter().zip(spread(2)).map(|(t, noise)| 3.0 * (-2.0 * t).exp() + 0.1 * noise).collect();
    let problem = Problem::new(Formula::parse("a * exp(-b * t)", &["t"]).unwrap(), &[("t", &t)], &y).unwrap();
    let problem = problem.start("a", 1.0).unwrap().start("b", 1.0).unwrap();
    let (options, device) = (SolveOptions::default(), Device::cpu(1));
    let whole = on(&device, &problem, &options);
    let mut journal = Journal::default();
    block_on(approach(&problem, &options, &device, &mut journal)).unwrap();
    let launches = device.counters().launches;
    let resumed = loop {
        journal = Journal::from_numbers(&journal.numbers()).unwrap();
        block_on(approach(&problem, &options, &device, &mut journal)).unwrap();
        if let Ok(fit) = solve_from(&problem, &options, &mut journal, &mut |_| Err(meromorph::Error::new("stop"))) {
            break fit;
        }
    };
    assert_eq!(resumed, whole);
    assert_eq!(device.counters().launches, launches, "the device searched again");
}
