//! Inverse kinematics of a planar arm with two links of length 1, near the poses where its Jacobian is singular: θ2 = 0 and π.
//! The target is the step of the joints by damped least squares for a requested step of the hand. After ZeroProofML's IK domain.

mod damped;
mod data;
mod measure;
mod methods;

use super::description::Size;
use super::subject::{Notation, Subject};
use super::training::adam;
use data::size;
use meromorph::optim::Schedule;
use meromorph::train::TrainerConfig;

pub use data::{BUCKETS, Data, EDGES, bucket, damped_least_squares, determinant, draw, hand, samples, stratified};
pub use measure::{PoleMetrics, pole_metrics};

fn config(mode: Size) -> TrainerConfig {
    let epochs = match mode {
        Size::Contract => 1,
        Size::Smoke => 2,
        Size::Paper => 50,
    };
    adam(epochs, 256, 1e-3, Schedule::CONSTANT)
}

const NOTATION: Notation<Data, measure::Steps> = Notation {
    inputs: &["theta1", "theta2", "dx", "dy"],
    targets: &["dtheta1", "dtheta2"],
    predictions: &["dtheta1", "dtheta2"],
    validation: None,
    read: |values| Ok(measure::direct(&[vec![values.into()]])),
};

/// The domain.
pub(super) fn subject() -> Subject<Data, measure::Steps> {
    Subject {
        facts: &measure::FACTS,
        methods: methods::all(),
        sizes: |mode| vec![("samples, split 80 to 20 in every bucket", size(mode))],
        draw,
        train: |data| &data.train,
        notation: NOTATION,
        config,
        epoch_score: None,
        probes: |data| vec![data.test.x.clone()],
        measure: measure::measure,
        remarks: |_| Vec::new(),
    }
}
