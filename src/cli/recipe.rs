//! From flags to a model and its settings. Defaults follow from the task and the number of training rows.

use super::args::{LossName, OptimizerName, Recipe, ScheduleName};
use super::{Answer, Failure};
use crate::io::{Preparation, Target};
use crate::loss::Loss;
use crate::nn::{Activation, Layer, Spec};
use crate::optim::{Optimizer, Schedule, Shape};
use crate::train::Settings;

/// Fewer training rows than this make a small table.
const SMALL: usize = 2000;

/// What small tables change. A batch of 32 gives them steps enough per epoch; a decay of 1 per unit of learning rate and
/// labels that are not quite sure keep 9,000 weights from learning some hundred rows by heart. Chosen over 20 seeds on
/// scikit-learn's wine, breast cancer, digits and diabetes tables.
struct Defaults {
    batch: usize,
    weight_decay: f32,
    smoothing: f32,
}

impl Defaults {
    fn of(rows: usize) -> Self {
        match rows {
            0..SMALL => Self { batch: 32, weight_decay: 1.0, smoothing: 0.1 },
            _ => Self { batch: 256, weight_decay: 1e-6, smoothing: 0.0 },
        }
    }
}

impl Recipe {
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    pub(super) fn activation(&self) -> Activation {
        self.activation.unwrap_or(Activation::Silu)
    }

    pub(super) fn widths(&self) -> &[usize] {
        self.hidden.as_ref().map_or(&[64, 64, 64], |widths| &widths.0)
    }

    /// What can be told from the flags alone, before any file is read.
    pub(super) fn check(&self) -> Answer {
        let shares = [("dropout", self.dropout), ("smoothing", self.smoothing), ("momentum", self.momentum)];
        for (name, share) in shares {
            if let Some(share) = share.filter(|share| !(0.0..1.0).contains(share)) {
                return Err(Failure::usage(format!("{name} is {share}, wanted at least 0 and less than 1")));
            }
        }
        if let Some(decay) = self.weight_decay.filter(|decay| !(decay.is_finite() && *decay >= 0.0)) {
            return Err(Failure::usage(format!("weight-decay is {decay}, wanted a finite number of at least 0")));
        }
        if let Some(delta) = self.delta.filter(|delta| !(delta.is_finite() && *delta > 0.0)) {
            return Err(Failure::usage(format!("delta is {delta}, wanted a finite number above 0")));
        }
        let plain = Settings::default();
        let (epochs, batch, lr) = (self.epochs.unwrap_or(1), self.batch.unwrap_or(1), self.lr.unwrap_or(plain.lr));
        Settings { lr, epochs, batch, ..plain }.check().map_err(|error| Failure::usage(error.to_string()))
    }

    /// The model for `inputs` and `outputs`.
    pub(super) fn spec(&self, inputs: usize, outputs: usize) -> Spec {
        let mut spec = Spec::mlp(inputs, self.widths(), outputs, self.activation());
        if let Some(rate) = self.dropout.filter(|rate| *rate > 0.0) {
            let with_dropout = |layer| match layer {
                Layer::Activation { .. } => vec![layer, Layer::Dropout { rate }],
                _ => vec![layer],
            };
            spec.layers = spec.layers.into_iter().flat_map(with_dropout).collect();
        }
        spec
    }

    /// The loss for the task, over `rows` training rows.
    pub(super) fn loss(&self, target: &Target, rows: usize) -> Answer<Loss> {
        let smoothing = self.smoothing.unwrap_or(Defaults::of(rows).smoothing);
        let (is_class, task) = match target {
            Target::Regression { .. } => (false, "a number; use mse, mae or huber"),
            Target::Classification { .. } => (true, "a class; use cross-entropy or bce"),
        };
        let name = self.loss.unwrap_or(if is_class { LossName::CrossEntropy } else { LossName::Mse });
        let (loss, is_for_class) = match name {
            LossName::Mse => (Loss::Mse, false),
            LossName::Mae => (Loss::Mae, false),
            LossName::Huber => (Loss::Huber { delta: self.delta.unwrap_or(1.0) }, false),
            LossName::CrossEntropy => (Loss::CrossEntropy { smoothing }, true),
            LossName::Bce => (Loss::Bce, true),
        };
        if is_class != is_for_class {
            return Err(Failure::usage(format!("the loss does not fit the target, which is {task}")));
        }
        Ok(loss)
    }

    /// Settings of a run over `rows` training rows.
    pub(super) fn settings(&self, preparation: &Preparation, loss: Loss, rows: usize) -> Settings {
        let (plain, defaults) = (Settings::default(), Defaults::of(rows));
        let epochs = self.epochs.unwrap_or(plain.epochs);
        Settings {
            loss,
            optimizer: self.optimizer(self.weight_decay.unwrap_or(defaults.weight_decay)),
            lr: self.lr.unwrap_or(plain.lr),
            schedule: self.schedule(epochs),
            epochs,
            batch: self.batch.unwrap_or(defaults.batch),
            patience: self.patience.unwrap_or(plain.patience),
            seed: self.seed(),
            step: self.step.map(Into::into),
            class_weights: self.class_weights.map_or_else(Vec::new, |_| balanced(&preparation.target)),
            ..plain
        }
    }

    fn optimizer(&self, weight_decay: f32) -> Optimizer {
        match self.optimizer.unwrap_or(OptimizerName::Adamw) {
            OptimizerName::Adamw => Optimizer::adamw(weight_decay),
            OptimizerName::Adam => Optimizer::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay },
            OptimizerName::Sgd => {
                Optimizer::Sgd { momentum: self.momentum.unwrap_or(0.9), nesterov: false, weight_decay }
            }
        }
    }

    fn schedule(&self, epochs: usize) -> Schedule {
        let shape = match self.schedule.unwrap_or(ScheduleName::Cosine) {
            ScheduleName::Constant => Shape::Constant,
            ScheduleName::Cosine => Shape::Cosine { floor: 0.0 },
            ScheduleName::Step => Shape::Step { every: epochs.div_ceil(3), factor: 0.1 },
            ScheduleName::Plateau => Shape::Plateau { patience: 5, factor: 0.5 },
        };
        Schedule { warmup_steps: self.warmup.unwrap_or(0), shape }
    }
}

/// Rows / (classes · rows of the class); 1 for a class without training rows.
fn balanced(target: &Target) -> Vec<f32> {
    let Target::Classification { counts, .. } = target else { return Vec::new() };
    let share = counts.iter().sum::<u32>() as f32 / counts.len() as f32;
    counts.iter().map(|&count| if count == 0 { 1.0 } else { share / count as f32 }).collect()
}
