//! Parameters are recovered, from no start and from several.

use crate::small;
use meromorph_xpcs::{Fitting, Flow, Model, Synthetic};

#[test]
fn parameters_are_recovered_without_starts() {
    // Each with its tolerance: item 23 of the specification of homodyne's tests, at 1 % of noise.
    let tolerances = [
        ("contrast", 0.05),
        ("offset", 0.02),
        ("D0", 0.1),
        ("alpha", 0.05),
        ("gamma_dot_0", 0.2),
        ("beta", 0.1),
        ("phi0", 0.05),
    ];
    let mut failures = Vec::new();
    for flow in [Flow::Static, Flow::Laminar] {
        for (times, noise) in [(60, 0.003), (120, 0.003)] {
            let made = Synthetic { times, noise, seed: times as u64, ..Synthetic::new(Model::new(flow)) };
            let outcome = Fitting::new(made.model).solve(&made.experiment().unwrap()).unwrap();
            for one in &outcome.fit.parameters {
                let truth = made.value(&one.name);
                let tolerance = tolerances.iter().find(|(name, _)| *name == one.name).map_or(1.0, |(_, one)| *one);
                let is_near = (one.value - truth).abs() < tolerance * truth.abs();
                let is_likely = (one.value - truth).abs() < 4.0 * one.stderr.unwrap();
                if !is_near || !is_likely {
                    failures.push(format!("{flow:?} {times}: {one:?}, truth {truth}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn five_starts_agree() {
    for flow in [Flow::Static, Flow::Laminar] {
        let made = small(flow, 0.003);
        let experiment = made.experiment().unwrap();
        let reference = Fitting::new(made.model).solve(&experiment).unwrap().fit;
        for factor in [0.7, 0.85, 1.0, 1.15, 1.3] {
            let starts = made.truth.iter().map(|(name, value)| (*name, value * factor)).collect();
            let fit = Fitting { starts, ..Fitting::new(made.model) }.solve(&experiment).unwrap().fit;
            // The smallest start leads to a plateau where the rate of diffusion is at its least.
            for (one, other) in fit.parameters.iter().zip(&reference.parameters) {
                let apart = (one.value - other.value).abs() / other.stderr.unwrap();
                assert!(apart < 1e-3, "{flow:?} {factor} {}: {apart}", one.name);
            }
        }
    }
}
