//! Censored dose-response: how strong is a drug, when the assay sees only part of the scale? A Hill curve is observed at ten
//! concentrations with noise; its log10 IC50 lies below, inside or above the window of concentrations, or the curve is flat.
//! After ZeroProofML's DOSE domain: the same distributions and the same order of draws, from this engine's generator.

mod data;
mod measure;
mod methods;
mod odds;
mod pairs;

use super::description::Size;
use super::subject::{Notation, Subject};
use super::training::adam;
use data::sizes;
use meromorph::optim::Schedule;
use meromorph::train::TrainerConfig;

pub use data::{Data, POINTS, TARGETS, THRESHOLDS, WINDOW, draw, hill, split};
pub use measure::Call;

fn config(mode: Size) -> TrainerConfig {
    let (epochs, batch) = match mode {
        Size::Contract => (1, 128),
        Size::Smoke => (2, 256),
        Size::Paper => (30, 512),
    };
    adam(epochs, batch, 2e-3, Schedule::CONSTANT)
}

const NOTATION: Notation<Data, Call> = Notation {
    inputs: &[
        "log10_c1",
        "e1",
        "log10_c2",
        "e2",
        "log10_c3",
        "e3",
        "log10_c4",
        "e4",
        "log10_c5",
        "e5",
        "log10_c6",
        "e6",
        "log10_c7",
        "e7",
        "log10_c8",
        "e8",
        "log10_c9",
        "e9",
        "log10_c10",
        "e10",
    ],
    targets: &["log10_ic50", "class", "clamped", "y_n", "y_d"],
    predictions: &["class", "log10_ic50", "abs_q"],
    validation: Some(|data| &data.validation),
    read: measure::written,
};

/// The domain.
pub(super) fn subject() -> Subject<Data, Call> {
    Subject {
        facts: &measure::FACTS,
        methods: methods::all(),
        sizes: |mode| {
            let [train, validation, test] = sizes(mode);
            vec![("train curves", train), ("validation curves", validation), ("test curves", test)]
        },
        draw,
        train: |data| &data.train,
        notation: NOTATION,
        config,
        epoch_score: None,
        probes: |data| vec![data.test.x.clone()],
        measure: measure::measure,
        remarks: measure::remarks,
    }
}
