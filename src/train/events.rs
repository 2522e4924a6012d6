//! What a run tells while it goes on, and what it amounted to.

use crate::record;

use serde::Serialize;

/// What happens during a run.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// Steps were handed to the device.
    Steps {
        /// The epoch, from 0.
        epoch: usize,
        /// Steps of it done.
        done: usize,
        /// Steps it has.
        steps: usize,
    },
    /// An epoch ended.
    Epoch(&'a EpochReport),
}

/// One epoch in figures.
#[derive(Clone, Debug, PartialEq)]
pub struct EpochReport {
    /// The epoch, from 0.
    pub epoch: usize,
    /// Mean batch loss over its rows.
    pub train_loss: f64,
    /// Loss on the validation rows; absent without any.
    pub val_loss: Option<f64>,
    /// Score of the epoch; present if `Trainer::choose_best_by` set one.
    pub score: Option<f64>,
    /// Learning rate of its last step.
    pub lr: f64,
    /// Whether it is the best so far.
    pub is_best: bool,
    /// What the watched rows' pairs look like, if the model makes pairs.
    pub pairs: Option<PairReport>,
}

record! { EpochReport { epoch, train_loss, val_loss, score = None, lr, is_best, pairs } }

/// Pairs of the validation rows (of the training rows without any).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairReport {
    /// The share that is decoded to a number.
    pub coverage: f64,
    /// The smallest |Q|.
    pub least_q: f64,
    /// The mean |Q|.
    pub mean_q: f64,
}

record! { PairReport { coverage, least_q, mean_q } }

/// The watcher's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop here; `checkpoint` can be resumed exactly.
    Stop,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// All epochs were run.
    Epochs,
    /// The validation loss stopped improving.
    Patience,
    /// Too few validation rows were given a number, for too long.
    Coverage,
    /// The watcher said so.
    Requested,
    /// The loss stopped being a number.
    Diverged,
}

/// What a run amounted to.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Why it ended.
    pub stop: Stop,
    /// The epoch the kept weights are from; absent if none was good.
    pub best_epoch: Option<usize>,
    /// Epochs run.
    pub epochs: usize,
    /// Steps run.
    pub steps: u64,
}
