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

impl EpochReport {
    /// The report of the models that are trained at once and have not ended: means of their losses, scores and coverages, sums of their updates, extremes of the rest, the
    /// learning rate of the first. The epoch is the best so far if it is for one of them.
    pub(crate) fn of_models(each: &[Self]) -> Self {
        let count = each.len() as f64;
        let mean = |of: &dyn Fn(&Self) -> Option<f64>| each.iter().map(of).sum::<Option<f64>>().map(|sum| sum / count);
        let pairs = each.iter().map(|one| one.pairs).reduce(|a, b| Some(a?.with(b?))).flatten();
        let share =
            |pairs: PairReport| PairReport { coverage: pairs.coverage / count, mean_q: pairs.mean_q / count, ..pairs };
        Self {
            train_loss: mean(&|one| Some(one.train_loss)).unwrap_or(f64::NAN),
            val_loss: mean(&|one| one.val_loss),
            score: mean(&|one| one.score),
            is_best: each.iter().any(|one| one.is_best),
            pairs: pairs.map(share),
            gradients: each.iter().map(|one| one.gradients).reduce(|a, b| Some(a?.with(b?))).flatten(),
            ..each[0]
        }
    }
}

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

impl GradientReport {
    /// With another model's.
    fn with(self, other: Self) -> Self {
        Self {
            updates: self.updates + other.updates,
            skipped: self.skipped + other.skipped,
            limited: self.limited + other.limited,
            largest_norm: self.largest_norm.max(other.largest_norm),
            loss_scale: self.loss_scale.zip(other.loss_scale).map(|(a, b)| a.min(b)),
        }
    }
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

impl PairReport {
    /// With another model's: sums of shares and means.
    fn with(self, other: Self) -> Self {
        Self {
            coverage: self.coverage + other.coverage,
            least_q: self.least_q.min(other.least_q),
            mean_q: self.mean_q + other.mean_q,
        }
    }
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
    /// The epoch whose weights are kept, from 0; absent if none was chosen. Of several models that are trained at once, the last such epoch of one of them;
    /// absent if one has none, as its loss diverged before.
    pub best_epoch: Option<usize>,
    /// Epochs done.
    pub epochs: usize,
    /// Steps done.
    pub steps: u64,
}
