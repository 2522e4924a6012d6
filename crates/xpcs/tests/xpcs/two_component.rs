//! Two components: points that are worked out by hand, limits, and recovery of the parameters.

use crate::{pairs, place};
use meromorph_xpcs::{Experiment, Fitting, Flow, Model, Synthetic, Values, decay};

fn made(noise: f64) -> Synthetic {
    Synthetic { phi: vec![0.0, 40.0, 75.0, 120.0], noise, ..Synthetic::new(Model::new(Flow::TwoComponent)) }
}

#[test]
fn points_are_as_worked_out_by_hand() {
    let experiment = Experiment {
        phi: vec![60.0],
        t: vec![0.0, 1.0, 2.0],
        dt: 1.0,
        q: 0.01,
        gap: None,
        c2: Values::Double(vec![0.0; 9]),
        sigma: None,
    };
    let known = [
        ("D0_ref", 2000.0),
        ("D_offset_ref", 1000.0),
        ("D0_sample", 4000.0),
        ("alpha_sample", 1.0),
        ("v0", 100.0),
        ("v_offset", 50.0),
        ("f0", 0.25),
        ("f3", 0.05),
    ];
    let value = |name: &str| known.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, value)| *value);
    let raw = decay(&Model::new(Flow::TwoComponent), &experiment, value).unwrap();
    // Shares 0.3 and 0.7. The integrals from 1 to 2 are 3000, 6000 and 150, a phase of 0.75; from 0, which counts as 0.5, to 1 that of the sample
    // is 3000.
    for (at, expected) in [([0, 1, 2], 0.664_283_992_783), ([0, 0, 1], 0.688_703_196_505)] {
        let value = raw[place(&experiment, at)];
        assert!((value - expected).abs() < 1e-11, "{at:?}: {value} {expected}");
    }
    // Without a sample it is the decay of the reference.
    let alone = decay(&Model::new(Flow::TwoComponent), &experiment, |name| match name {
        "f0" | "f3" => 0.0,
        _ => value(name),
    });
    assert!((alone.unwrap()[place(&experiment, [0, 1, 2])] - (-0.3_f64).exp()).abs() < 1e-12);
}

#[test]
fn the_formula_equals_the_evaluation() {
    let made = made(0.0);
    let physical = made.truth.iter().filter(|(name, _)| !["contrast", "offset"].contains(name));
    let fitting = Fitting { fixed: physical.copied().collect(), ..Fitting::new(made.model) };
    let outcome = fitting.solve(&made.experiment().unwrap()).unwrap();
    assert!(outcome.fit.cost < 1e-24, "{}", outcome.fit.cost);
    assert!((outcome.value("contrast", 0.0) - 0.3).abs() < 1e-10);
}

#[test]
fn parameters_are_recovered() {
    let exact = made(0.0);
    let starts = exact.truth.iter().map(|(name, value)| (*name, value * 1.03)).collect();
    let outcome = Fitting { starts, ..Fitting::new(exact.model) }.solve(&exact.experiment().unwrap()).unwrap();
    for (name, truth) in &exact.truth {
        let value = outcome.value(name, 0.0);
        assert!((value - truth).abs() <= 1e-4 * truth.abs() + 1e-6, "{name}: {value}, truth {truth}");
    }
    // Without starts, at 0.3 % of noise.
    let noisy = made(0.003);
    let experiment = noisy.experiment().unwrap();
    let outcome = Fitting::new(noisy.model).solve(&experiment).unwrap();
    assert_eq!(outcome.fit.rows, pairs(&experiment).len());
    let chi = outcome.fit.statistics.reduced_chi_square / (0.003 * 0.003);
    assert!((chi - 1.0).abs() < 0.1, "{chi}");
    for one in outcome.fit.parameters.iter().filter(|one| !one.is_fixed) {
        let (truth, error) = (noisy.value(&one.name), one.stderr);
        assert!(error.is_some_and(|error| (one.value - truth).abs() < 4.5 * error), "{one:?}, truth {truth}");
    }
    assert_eq!(outcome.fit.free.len(), 15, "f2 keeps its value");
}
