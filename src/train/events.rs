//! Events of a run, the report of an epoch, and the outcome.

use crate::record;

use serde::Serialize;

/// An event during a run.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// Steps were handed to the device.
    Steps {
        /// The epoch, from 0.
        epoch: usize,
        /// Steps done in this epoch.
        done: usize,
        /// Steps in an epoch.
        steps: usize,
    },
    /// What the source of gradients reports of the steps up to here.
    Source(&'a [(String, f64)]),
    /// An epoch ended.
    Epoch(&'a EpochReport),
}

/// The report of an epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct EpochReport {
    /// The epoch, from 0.
    pub epoch: usize,
    /// Mean of the batch losses, weighted by rows; each comes from before its update.
    pub train_loss: f64,
    /// Loss on the validation rows; absent without any, and if the best epoch is not chosen by it.
    pub val_loss: Option<f64>,
    /// Score of the epoch; present if `Trainer::choose_best_by` set one.
    pub score: Option<f64>,
    /// Learning rate of the last step.
    pub lr: f64,
    /// Whether it is the best so far.
    pub is_best: bool,
    /// Statistics of the pairs on the validation rows, if the model has a projective head.
    pub pairs: Option<PairReport>,
    /// Norms of the gradients, if they are limited or may be left out.
    pub gradients: Option<GradientReport>,
}

record! { EpochReport { epoch, train_loss, val_loss, score = None, lr, is_best, pairs, gradients = None } }

/// Norms of the gradients in an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientReport {
    /// Updates that were made.
    pub updates: u64,
    /// Updates that were left out, because a gradient was not finite.
    pub skipped: u64,
    /// Updates whose gradient was too long; those limited tensor by tensor do not count.
    pub limited: u64,
    /// The largest norm before any limit.
    pub largest_norm: f64,
    /// The factor of the loss after the epoch, if it is scaled.
    pub loss_scale: Option<f64>,
}

record! { GradientReport { updates, skipped, limited, largest_norm, loss_scale = None } }

/// Statistics of the pairs on the validation rows; on the training rows without any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairReport {
    /// The share of pairs that are decoded to a number, in [0, 1].
    pub coverage: f64,
    /// The smallest |Q|.
    pub least_q: f64,
    /// The mean |Q|.
    pub mean_q: f64,
}

record! { PairReport { coverage, least_q, mean_q } }

/// What a callback returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Continue.
    Continue,
    /// Stop after the current window of steps; the run can be continued or resumed exactly.
    Stop,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// All epochs were run.
    Epochs,
    /// The validation loss, or the score, stopped improving.
    Patience,
    /// Too few validation rows were decoded to a number, for too many epochs.
    Coverage,
    /// The callback returned `Flow::Stop`.
    Requested,
    /// The loss became NaN, infinite or larger than 1e15.
    Diverged,
}

/// The outcome of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Why it ended.
    pub stop: Stop,
    /// The epoch whose weights are kept, from 0; absent if none was chosen.
    pub best_epoch: Option<usize>,
    /// Epochs done.
    pub epochs: usize,
    /// Steps done.
    pub steps: u64,
}
