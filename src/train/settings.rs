//! What a training run is asked to do.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::optim::{Optimizer, Schedule};

/// Settings of a run; they are kept in its checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What is made small.
    pub loss: Loss,
    /// How parameters follow gradients.
    pub optimizer: Optimizer,
    /// Base learning rate.
    pub lr: f64,
    /// How it changes.
    pub schedule: Schedule,
    /// Most passes over the training rows.
    pub epochs: usize,
    /// Rows per step; the last step of an epoch may have fewer.
    pub batch: usize,
    /// Epochs without improvement before stopping; 0 = never stop early.
    pub patience: usize,
    /// What counts as improvement of the validation loss.
    pub min_delta: f64,
    /// Seed of weights, order and dropout.
    pub seed: u64,
    /// Which step to take; `None` lets the trainer choose.
    pub step: Option<StepKind>,
    /// Weight of each class; empty = all 1.
    pub class_weights: Vec<f32>,
}

/// How a step is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Two launches: forward and backward per tile of rows; reduction and update.
    Fused,
    /// The model's ops, recorded once and replayed.
    Recorded,
}

impl StepKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::Recorded => "recorded",
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            loss: Loss::Mse,
            optimizer: Optimizer::adamw(1e-6),
            lr: 1e-3,
            schedule: Schedule::COSINE,
            epochs: 200,
            batch: 256,
            patience: 15,
            min_delta: 1e-6,
            seed: 0,
            step: None,
            class_weights: Vec::new(),
        }
    }
}

impl Settings {
    /// Refuses what cannot be trained with, in the user's words.
    pub fn check(&self) -> Result<()> {
        let is_rate = self.lr.is_finite() && self.lr > 0.0;
        let wrong = [
            (self.epochs == 0, "epochs is 0; training needs at least 1".to_owned()),
            (self.batch == 0, "batch is 0; a step needs at least 1 row".to_owned()),
            (!is_rate, format!("lr is {}; a learning rate is a finite number above 0", self.lr)),
            (!self.min_delta.is_finite(), format!("min_delta is {}; it must be finite", self.min_delta)),
        ];
        match wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, message)) => Err(Error::new(format!("train: {message}"))),
            None => Ok(()),
        }
    }
}
