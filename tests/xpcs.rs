//! Two-time correlations: the physics of the models, their formulas and derivatives, recovery, calibration of the intervals, files. `mero xpcs` as a
//! process is in `tests/cli/xpcs.rs`.

use meromorph::xpcs::{Fitting, Flow, Model, Scaling, Synthetic, decay};

#[test]
fn probe() {
    for flow in [Flow::Static, Flow::Laminar] {
        for noise in [0.001, 0.01] {
            let made = Synthetic { noise, ..Synthetic::new(Model::new(flow)) };
            let experiment = made.experiment().unwrap();
            let started = std::time::Instant::now();
            let outcome = Fitting::new(made.model).solve(&experiment).unwrap();
            println!(
                "{:?} {noise} {:?} evals {} {:?}",
                flow,
                started.elapsed(),
                outcome.fit.evaluations,
                outcome.fit.stop
            );
            for p in &outcome.fit.parameters {
                println!("{} {} +- {:?} truth {}", p.name, p.value, p.stderr, made.value(&p.name));
            }
            let _ = decay(&made.model, &experiment, |n| made.value(n));
            let _ = Scaling::Individual;
        }
    }
}
