//! The Lennard-Jones potential V(r) = 4ε ((σ/r)^12 - (σ/r)^6) of a pair of atoms, ε = σ = 1. Trained where r ≥ 0.8, tested down
//! to r = 0.2, where V is a billion times larger: the pole at r = 0 must be extrapolated. After ZeroProofML's LJ domain.

mod data;
mod measure;
mod methods;
mod powers;

use super::description::Size;
use super::subject::{EpochScore, Notation, Subject};
use super::training::adam;
use data::{features, sizes};
use meromorph::optim::{Cosine, Schedule, ScheduleShape};
use meromorph::train::TrainerConfig;

pub use data::{DISTANCES, Data, EDGES, bucket, draw, potential, slope};

fn config(mode: Size) -> TrainerConfig {
    let epochs = match mode {
        Size::Contract => 1,
        Size::Smoke => 60,
        Size::Paper => 100,
    };
    let schedule = Schedule { warmup_steps: 0, shape: ScheduleShape::Cosine(Cosine { floor: 0.01 }) };
    adam(epochs, 256, 2e-3, schedule)
}

const NOTATION: Notation<Data, measure::Potentials> = Notation {
    inputs: &["u", "r_third"],
    targets: &["v_tenth"],
    predictions: &["v_tenth"],
    validation: Some(|data| &data.validation),
    read: |values| Ok(measure::direct(&[vec![values.into()]])),
};

/// The domain.
pub(super) fn subject() -> Subject<Data, measure::Potentials> {
    Subject {
        facts: &measure::FACTS,
        methods: methods::all(),
        sizes: |mode| {
            let [train, validation, test] = sizes(mode);
            vec![("training distances", train), ("validation distances", validation), ("test distances", test)]
        },
        draw,
        train: |data| &data.train,
        notation: NOTATION,
        config,
        epoch_score: Some(EpochScore {
            x: |data| &data.validation.x,
            score: |data, found| measure::mean_square(&data.validation, found),
        }),
        probes: |data| {
            let all = |distances: &[f64]| distances.iter().flat_map(|&r| features(r)).collect();
            vec![all(&data.test), all(&measure::line()), all(&measure::neighbours(&data.test))]
        },
        measure: measure::measure,
        remarks: |_| Vec::new(),
    }
}
