//! Bounds and ties of parameters.

use super::{DECAY, decay, fitted, problem};
use meromorph::fit::{Formula, Problem, SolveOptions, solve};

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
