//! The progress of a run: its epochs so far, and what they decide about the next.

use super::config::CoverageGoal;
use super::events::{EpochReport, PairReport};
use crate::optim::ScheduleShape;
use crate::record;

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Finished epochs.
    pub history: Vec<EpochReport>,
    /// Steps done in the current epoch.
    pub cursor: usize,
    /// Their losses; stored as a tensor, because they need not be finite.
    pub losses: Vec<f32>,
    /// The best validation loss, or score.
    pub best_loss: Option<f64>,
    /// The epoch it comes from, from 0.
    pub best_epoch: Option<usize>,
    /// Epochs since then.
    pub since_best: usize,
    /// Reductions of the learning rate by a plateau schedule so far.
    pub drops: u32,
    /// Epochs without improvement since the last reduction.
    pub since_drop: usize,
    /// The weight of the coverage term, if it follows the coverage.
    pub held: Option<f64>,
    /// The running means of the adaptive sampler, one per training row; stored as a tensor in full precision.
    pub means: Vec<f64>,
    /// Consecutive epochs whose coverage was too low.
    pub uncovered: usize,
    /// Updates that were left out in the finished epochs.
    pub skipped: u64,
}

record! {
    Progress { history, cursor, best_loss, best_epoch, since_best, drops, since_drop, held, uncovered = 0, skipped = 0 } else { losses, means }
}

impl Progress {
    /// Whether a value is finite and improves on the best so far by more than `min_delta`.
    pub(crate) fn improves(&self, value: f64, min_delta: f64) -> bool {
        value.is_finite() && self.best_loss.is_none_or(|best| value < best - min_delta)
    }

    /// Counts an epoch, and returns whether the coverage has been below its goal for as many epochs as the goal allows.
    pub(crate) fn is_uncovered(&mut self, goal: Option<CoverageGoal>, pairs: Option<PairReport>) -> bool {
        let (Some(goal), Some(pairs)) = (goal, pairs) else { return false };
        self.uncovered = if pairs.coverage < goal.least { self.uncovered + 1 } else { 0 };
        self.uncovered >= goal.patience
    }

    /// Counts an epoch for a plateau schedule, which reduces the learning rate after some without improvement.
    pub(crate) fn notice_plateau(&mut self, shape: ScheduleShape, is_best: bool) {
        let Some(patience) = shape.as_kind().patience() else { return };
        self.since_drop = if is_best { 0 } else { self.since_drop + 1 };
        if self.since_drop >= patience.max(1) {
            self.drops += 1;
            self.since_drop = 0;
        }
    }
}
