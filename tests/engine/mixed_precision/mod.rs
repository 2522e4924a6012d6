//! Mixed precision: half the bytes between the passes, nearly the same loss, and updates that overflow in 16 bits are as if they had never been.

mod kept;
mod memory;
mod refused;
mod scale;
mod whole_runs;

use crate::rows::rows;
use meromorph::nn::{Activation, Layer, LayerNorm, Residual, Spec};
use meromorph::optim::Schedule;
use meromorph::train::{Data, Examples, Half, LossScaling, MixedPrecision, StepKind, TrainerConfig};

const INPUTS: usize = 4;

fn data(count: usize, target: impl Fn(&[f32]) -> f32) -> Data {
    rows(INPUTS, [count, count / 2], target)
}

/// Targets as pairs, for a projective head.
fn paired(count: usize) -> Data {
    let data = data(count, smooth);
    let pairs = |part: &Examples| Examples { x: part.x.clone(), y: part.y.iter().flat_map(|y| [*y, 1.0]).collect() };
    let (train, validation, test) = (pairs(&data.train), pairs(&data.validation), pairs(&data.test));
    Data { targets: 2, train, validation, test, ..data }
}

fn smooth(x: &[f32]) -> f32 {
    x[0] - x[1] * x[2] + 0.5 * (3.0 * x[3]).sin()
}

fn settings(precision: Option<MixedPrecision>) -> TrainerConfig {
    TrainerConfig {
        schedule: Schedule::CONSTANT,
        batch: 32,
        epochs: 20,
        patience: 0,
        step: Some(StepKind::Recorded),
        precision,
        ..TrainerConfig::default()
    }
}

fn deep(layers: usize, width: usize) -> Spec {
    Spec::mlp(INPUTS, &vec![width; layers], 1, Activation::tanh())
}

fn f16() -> MixedPrecision {
    MixedPrecision::new(Half::F16)
}

fn with_scale(scale: LossScaling) -> MixedPrecision {
    MixedPrecision { scale: Some(scale), ..f16() }
}

/// Norms and residual layers.
fn blocks() -> Spec {
    let mut spec = deep(3, 24);
    let inner = vec![Layer::LayerNorm(LayerNorm { epsilon: 1e-5 }), spec.layers[2].clone(), spec.layers[3].clone()];
    spec.layers.splice(2..4, [Layer::Residual(Residual { layers: inner })]);
    spec
}
