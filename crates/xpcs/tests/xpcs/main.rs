//! Two-time correlations: the physics of the models, their formulas and derivatives, recovery, calibration of the intervals, files. `mero xpcs` as a
//! process is in `crates/mero/tests/command/xpcs.rs`.

mod configuration;
mod files;
mod intervals;
mod recovery;
mod theory;
mod two_component;

use meromorph_xpcs::{Convention, Experiment, Fitting, Flow, Model, SincArgument, Synthetic};

/// Data of a few angles and times.
fn small(flow: Flow, noise: f64) -> Synthetic {
    Synthetic { phi: vec![0.0, 30.0, 75.0, 120.0], times: 20, dt: 0.3, noise, ..Synthetic::new(Model::new(flow)) }
}

/// A fit that starts at the truth.
fn at_truth(made: &Synthetic) -> Fitting {
    Fitting { starts: made.truth.clone(), ..Fitting::new(made.model) }
}

/// Every pair t1 < t2: the angle and the places of t1 and t2.
fn pairs(experiment: &Experiment) -> Vec<[usize; 3]> {
    let times = experiment.t.len();
    let of_angle = |angle| (0..times).flat_map(move |i| (i + 1..times).map(move |j| [angle, i, j]));
    (0..experiment.phi.len()).flat_map(of_angle).collect()
}

fn place(experiment: &Experiment, [angle, i, j]: [usize; 3]) -> usize {
    (angle * experiment.t.len() + i) * experiment.t.len() + j
}

const CONVENTIONS: [Convention; 4] = [
    Convention::CODE,
    Convention::THEORY,
    Convention { argument: SincArgument::OverTwoPi, power: 1 },
    Convention { argument: SincArgument::Half, power: 2 },
];
