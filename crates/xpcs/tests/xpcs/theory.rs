//! The physics of the models and their formulas.

use crate::{CONVENTIONS, at_truth, pairs, place, small};
use meromorph::fit::{Formula, Problem, SolveOptions, solve};
use meromorph_xpcs::{Fitting, Flow, Model, Scaling, Synthetic, decay};

#[test]
fn limits_of_the_physics() {
    for flow in [Flow::Static, Flow::Laminar] {
        let made = Synthetic { phi: vec![3.0, 93.0, -87.0, 40.0], dt: 1e-6, times: 30, ..small(flow, 0.0) };
        let raw = |made: &Synthetic, model: Model| {
            let experiment = made.experiment().unwrap();
            decay(&model, &experiment, |name| made.value(name)).unwrap()
        };
        // t2 near t1: 1. The diagonal is 1.
        assert!(raw(&made, made.model).iter().all(|value| (value - 1.0).abs() < 1e-4));
        let made = Synthetic { dt: 0.5, times: 60, ..made };
        let values = raw(&made, made.model);
        let experiment = made.experiment().unwrap();
        let at = |angle, i, j| values[place(&experiment, [angle, i, j])];
        for [angle, i, j] in pairs(&experiment) {
            let value = at(angle, i, j);
            assert!((0.0..=1.0).contains(&value) && value == at(angle, j, i) && at(angle, i, i) == 1.0);
            if flow == Flow::Static {
                assert!(value > 0.0 && value < at(angle, i, j - 1), "{angle} {i} {j}");
            }
        }
        // Large lags: 0.
        assert!(at(0, 0, 59) < 1e-4);
        if flow == Flow::Laminar {
            // Where the flow is across, it has no effect.
            let still = raw(&made, Model { flow: Flow::Static, ..made.model });
            for [angle, i, j] in pairs(&experiment) {
                let place = place(&experiment, [angle, i, j]);
                let apart = (values[place] - still[place]).abs();
                assert!(apart < 1e-12 || ![1, 2].contains(&angle), "{apart}");
            }
            assert!((at(0, 0, 4) - still[place(&experiment, [0, 0, 4])]).abs() > 0.01);
        }
    }
}

#[test]
fn the_formula_is_the_theory() {
    // With all else fixed, contrast and offset are found without residuals only if both agree.
    for (flow, convention) in [Flow::Static, Flow::Laminar].into_iter().flat_map(|flow| CONVENTIONS.map(|c| (flow, c)))
    {
        let made = small(flow, 0.0);
        let made = Synthetic { model: Model { convention, ..made.model }, ..made };
        let experiment = made.experiment().unwrap();
        let physical = made.truth.iter().filter(|(name, _)| !["contrast", "offset"].contains(name));
        let fitting = Fitting { fixed: physical.copied().collect(), ..Fitting::new(made.model) };
        let outcome = fitting.solve(&experiment).unwrap();
        assert!(outcome.fit.cost < 1e-26, "{flow:?} {convention:?}: {}", outcome.fit.cost);
        assert!((outcome.value("contrast", 0.0) - 0.3).abs() < 1e-12, "{flow:?} {convention:?}");
    }
    // Floors: the rate is negative at first, then 1e-10.
    let made = small(Flow::Static, 0.0).with("D_offset", -1500.0).unwrap();
    let experiment = made.experiment().unwrap();
    let physical = made.truth.iter().filter(|(name, _)| !["contrast", "offset"].contains(name));
    let fitting = Fitting { fixed: physical.copied().collect(), ..Fitting::new(made.model) };
    assert!(fitting.solve(&experiment).unwrap().fit.cost < 1e-26);
}

#[test]
fn fifty_three_parameters_equal_a_formula_that_writes_them_out() {
    let phi: Vec<f64> = (0..23).map(|at| 7.5 * f64::from(at)).collect();
    let made = Synthetic { phi, times: 9, dt: 0.6, ..small(Flow::Laminar, 0.002) };
    let made = Synthetic { model: Model { scaling: Scaling::Individual, ..made.model }, ..made };
    let experiment = made.experiment().unwrap();
    let fit = at_truth(&made).solve(&experiment).unwrap().fit;
    assert_eq!(fit.free.len(), 53);

    let rows = pairs(&experiment);
    let column = |pick: &dyn Fn([usize; 3]) -> f64| -> Vec<f64> { rows.iter().map(|at| pick(*at)).collect() };
    let t1 = column(&|[_, i, _]| experiment.t[i]);
    let t2 = column(&|[_, _, j]| experiment.t[j]);
    let phi = column(&|[angle, ..]| experiment.phi[angle]);
    let c2 = column(&|at| experiment.c2.at(place(&experiment, at)).unwrap());
    let switched = |name: &str| {
        let terms: Vec<String> =
            experiment.phi.iter().enumerate().map(|(at, angle)| format!("{name}{at}*(phi == {angle})")).collect();
        format!("({})", terms.join(" + "))
    };
    let text = made.model.formula(&experiment).unwrap();
    let text = text.replace("contrast[phi]", &switched("contrast")).replace("offset[phi]", &switched("offset"));
    let formula = Formula::parse(&text, &["t1", "t2", "phi"]).unwrap();
    let mut problem = Problem::new(formula, &[("t1", &t1), ("t2", &t2), ("phi", &phi)], &c2).unwrap();
    for (name, value) in &made.truth {
        if ["contrast", "offset"].contains(name) {
            for at in 0..23 {
                problem = problem.start(&format!("{name}{at}"), *value).unwrap();
            }
        } else {
            problem = problem.start(name, *value).unwrap();
        }
    }
    let written = solve(&problem, &SolveOptions::default()).unwrap();
    for one in &fit.parameters {
        let name = match one.name.split_once('[') {
            Some((name, angle)) => {
                let angle: f64 = angle.trim_end_matches(']').parse().unwrap();
                format!("{name}{}", experiment.phi.iter().position(|phi| *phi == angle).unwrap())
            }
            None => one.name.clone(),
        };
        let other = written.parameters.iter().find(|other| other.name == name).unwrap();
        let (stderr, value) = (one.stderr.unwrap(), other.value);
        assert!((one.value - value).abs() < 1e-4 * stderr, "{name}: {one:?}, {other:?}");
        assert!((other.stderr.unwrap() / stderr - 1.0).abs() < 1e-5, "{name}: {one:?}, {other:?}");
    }
    assert!((written.cost / fit.cost - 1.0).abs() < 1e-9);
}
