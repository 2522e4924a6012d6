//! Optimisers and learning-rate schedules. The update itself is the `optimise` kernel; here are its numbers:
//! what the host works out in f64 and uploads as a table, one row per step.

mod schedule;

use crate::host;
use crate::kernels::optimise::Rule;
use crate::record;

pub use schedule::{Schedule, Shape};

/// How parameters follow gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimizer {
    /// p -= lr · (g, or the running sum of g with momentum).
    Sgd {
        /// Share of the last direction kept, in [0, 1).
        momentum: f32,
        /// Looks ahead along the momentum (Nesterov 1983).
        nesterov: bool,
        /// Added to the gradient, times p.
        weight_decay: f32,
    },
    /// Adam (Kingma and Ba 2015); weight decay is added to the gradient.
    Adam {
        /// Decay of the first moment.
        beta1: f32,
        /// Decay of the second moment.
        beta2: f32,
        /// Added to the root of the second moment.
        epsilon: f32,
        /// Added to the gradient, times p.
        weight_decay: f32,
    },
    /// Adam with weight decay taken off the parameters (Loshchilov and Hutter 2019).
    AdamW {
        /// Decay of the first moment.
        beta1: f32,
        /// Decay of the second moment.
        beta2: f32,
        /// Added to the root of the second moment.
        epsilon: f32,
        /// Taken off the parameters, times the learning rate.
        weight_decay: f32,
    },
}

record! {
    enum Optimizer {
        Sgd { momentum, nesterov, weight_decay }, Adam { beta1, beta2, epsilon, weight_decay },
        AdamW { beta1, beta2, epsilon, weight_decay },
    }
}

impl Optimizer {
    /// AdamW with the usual moments.
    pub fn adamw(weight_decay: f32) -> Self {
        Self::AdamW { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay }
    }

    /// The same with another weight decay.
    pub fn with_weight_decay(mut self, decay: f32) -> Self {
        match &mut self {
            Self::Sgd { weight_decay, .. } | Self::Adam { weight_decay, .. } | Self::AdamW { weight_decay, .. } => {
                *weight_decay = decay;
            }
        }
        self
    }

    /// The kernel's rule.
    pub fn rule(&self) -> Rule {
        match *self {
            Self::Sgd { momentum, nesterov, weight_decay } => Rule::Sgd { momentum, weight_decay, nesterov },
            Self::Adam { beta1, beta2, epsilon, weight_decay } => {
                Rule::Adam { beta1, beta2, eps: epsilon, weight_decay }
            }
            Self::AdamW { beta1, beta2, epsilon, .. } => Rule::AdamW { beta1, beta2, eps: epsilon },
        }
    }

    /// The table row of step `step` (1-based): learning rate, lr / (1 - beta1^t), 1 / √(1 - beta2^t), decay factor.
    /// Worked out in f64: near t = 1 the differences from 1 are too small for f32.
    pub fn row(&self, lr: f64, step: u64) -> [f32; 4] {
        let correct = |beta: f32| 1.0 - host::pow(f64::from(beta), step as f64);
        match *self {
            Self::Sgd { .. } => [lr as f32, lr as f32, 1.0, 1.0],
            Self::Adam { beta1, beta2, .. } => {
                [lr as f32, (lr / correct(beta1)) as f32, (1.0 / correct(beta2).sqrt()) as f32, 1.0]
            }
            Self::AdamW { beta1, beta2, weight_decay, .. } => [
                lr as f32,
                (lr / correct(beta1)) as f32,
                (1.0 / correct(beta2).sqrt()) as f32,
                (1.0 - lr * f64::from(weight_decay)) as f32,
            ],
        }
    }
}
