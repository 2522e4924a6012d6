//! Optimisers whose update takes several launches: their trajectories are those of torch, and they train with everything else that updates know.

mod learning;
mod memory;
mod refused;
mod together;
mod trajectories;

use crate::devices::devices;
use crate::rows::rows;
use meromorph::Device;
use meromorph::nn::{Activation, Spec};
use meromorph::optim::{Optimizer, Schedule};
use meromorph::train::{Data, StepKind, Trainer, TrainerConfig};
use pollster::block_on;

const KINDS: [StepKind; 2] = [StepKind::Fused, StepKind::Recorded];
const NAMES: [&str; 3] = ["muon", "adafactor", "novograd"];

fn optimizer(name: &str, constants: &[(&str, f32)]) -> Optimizer {
    let set = |optimizer: Optimizer, &(name, value): &(&str, f32)| optimizer.with(name, value).expect("a constant");
    constants.iter().fold(Optimizer::parse(name).expect("an optimizer"), set)
}

fn data(count: usize) -> Data {
    rows(3, [count, count / 2], |x| 2.0 * x[0] - x[1] * x[2])
}

fn spec() -> Spec {
    Spec::mlp(3, &[12, 8], 1, Activation::tanh())
}

fn settings(name: &str, kind: StepKind) -> TrainerConfig {
    TrainerConfig {
        optimizer: optimizer(name, &[]).with_weight_decay(0.01),
        schedule: Schedule::COSINE,
        lr: 0.02,
        epochs: 2,
        batch: 64,
        patience: 0,
        step: Some(kind),
        ..TrainerConfig::default()
    }
}

fn trainer(device: &Device, config: TrainerConfig, data: Data) -> Trainer {
    let mut trainer = Trainer::new(device, spec(), config, data).expect("a trainer");
    let rows = trainer.data().train.y.len() as u32;
    trainer.shuffle_with(move |_| (0..rows).collect());
    trainer
}

fn advanced(device: &Device, config: &TrainerConfig, data: Data, steps: usize) -> Vec<f32> {
    let mut trainer = trainer(device, config.clone(), data);
    trainer.advance(steps).expect("steps");
    block_on(trainer.parameters()).expect("parameters")
}

fn worst(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Runs a body for every device, kind of step and optimiser.
fn everywhere(threads: &[usize], body: impl Fn(&Device, TrainerConfig, &str)) {
    for device in devices(threads) {
        for kind in KINDS {
            for name in NAMES {
                let place = format!("{name} {kind:?} on {}", device.info().device);
                body(&device, settings(name, kind), &place);
            }
        }
    }
}
