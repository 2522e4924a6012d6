//! What happens between the gradients of a step and its update: limits, updates that are left out, groups of parameters, means of weights, a look at
//! sharper places, optimisers that move tensor by tensor.

mod flow;
mod groups;
mod left_out;
mod limits;
mod methods;
mod refused;
mod weights;

use crate::rows::rows;
use meromorph::Device;
use meromorph::nn::{Activation, Spec};
use meromorph::optim::{Optimizer, Schedule};
use meromorph::train::{Clip, Data, GradientConfig, StepKind, Trainer, TrainerConfig};
use pollster::block_on;

fn data(count: usize) -> Data {
    rows(3, [count, count / 2], |x| 2.0 * x[0] - x[1] * x[2])
}

fn spec() -> Spec {
    Spec::mlp(3, &[12, 8], 1, Activation::tanh())
}

/// Plain descent, so that a step is the gradient times the rate.
fn settings(gradients: GradientConfig, step: StepKind) -> TrainerConfig {
    TrainerConfig {
        optimizer: Optimizer::sgd(0.0).expect("a share"),
        schedule: Schedule::CONSTANT,
        lr: 0.5,
        epochs: 2,
        batch: 64,
        patience: 0,
        step: Some(step),
        gradients,
        ..TrainerConfig::default()
    }
}

fn trainer(device: &Device, settings: TrainerConfig) -> Trainer {
    Trainer::new(device, spec(), settings, data(192)).expect("a trainer")
}

/// The parameters before and after a number of steps.
fn advanced(trainer: &mut Trainer, steps: usize) -> [Vec<f32>; 2] {
    let before = block_on(trainer.parameters()).expect("parameters");
    trainer.advance(steps).expect("steps");
    [before, block_on(trainer.parameters()).expect("parameters")]
}

fn moved([before, after]: &[Vec<f32>; 2]) -> Vec<f64> {
    before.iter().zip(after).map(|(before, after)| f64::from(*after) - f64::from(*before)).collect()
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

const KINDS: [StepKind; 2] = [StepKind::Fused, StepKind::Recorded];

fn clip(clip: Clip) -> GradientConfig {
    GradientConfig { clip: Some(clip), ..GradientConfig::default() }
}
