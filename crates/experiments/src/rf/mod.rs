//! High-Q resonators: H(s) = w0² / (s² + (w0/Q) s + w0²) at s = jw. Trained on filters of moderate Q, tested on sharp ones, whose
//! peak is a pole close to the axis: a smooth model cuts it off. After ZeroProofML's RF domain.

mod data;
mod measure;
mod methods;
mod powers;

use super::description::Size;
use super::subject::{EpochScore, Notation, Subject};
use super::training::adam;
use data::{Sizes, features, sizes};
use meromorph::optim::{Cosine, Schedule, ScheduleShape};
use meromorph::train::TrainerConfig;

pub use data::{Data, Filter, QUALITIES, draw, peak, peak_grid, response};

fn config(mode: Size) -> TrainerConfig {
    let (epochs, batch) = match mode {
        Size::Contract => (1, 128),
        Size::Smoke => (20, 256),
        Size::Paper => (20, 1024),
    };
    // From lr down to 1e-7 over the epochs.
    let schedule = Schedule { warmup_steps: 0, shape: ScheduleShape::Cosine(Cosine { floor: 5e-5 }) };
    adam(epochs, batch, 2e-3, schedule)
}

const NOTATION: Notation<Data, measure::Responses> = Notation {
    inputs: &["log10_w", "log10_w0", "log10_q"],
    targets: &["re", "im"],
    predictions: &["re", "im"],
    validation: Some(|data| &data.validation),
    read: |values| Ok(measure::direct(&[vec![values.into()]])),
};

/// The domain.
pub(super) fn subject() -> Subject<Data, measure::Responses> {
    Subject {
        facts: &measure::FACTS,
        methods: methods::all(),
        sizes: |mode| {
            let Sizes { filters: [train, validation, test], points, .. } = sizes(mode);
            vec![
                ("training filters", train),
                ("validation filters", validation),
                ("test filters", test),
                ("points per filter", points),
            ]
        },
        draw,
        train: |data| &data.train,
        notation: NOTATION,
        config,
        epoch_score: Some(EpochScore {
            x: |data| &data.validation.x,
            score: |data, found| measure::mean_square(&data.validation, found, |_| true).unwrap_or(f64::INFINITY),
        }),
        probes: |data| {
            let pairs = data.filters.iter().zip(&data.grids);
            let peaks = pairs.flat_map(|(&filter, grid)| grid.iter().flat_map(move |&w| features(w, filter)));
            vec![data.test.x.clone(), peaks.collect()]
        },
        measure: measure::measure,
        remarks: |_| Vec::new(),
    }
}
