//! The progress of a run: its epochs so far, and what they decide about the next.

use super::config::{CoverageGoal, TrainerConfig};
use super::events::{EpochReport, PairReport, Stop};
use crate::error::Result;
use crate::json::{Json, Record};
use crate::optim::ScheduleShape;
use crate::record;

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Finished epochs.
    pub history: Vec<EpochReport>,
    /// Steps done in the current epoch.
    pub cursor: usize,
    /// How each of its models stands.
    pub standings: Vec<Standing>,
}

/// How one of the models of a run stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// The losses of the current epoch's steps; stored as a tensor, because they need not be finite.
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
    /// Whether its loss diverged after its best epoch, whose weights it keeps while the other models go on.
    pub has_diverged: bool,
}

record! {
    Standing { best_loss, best_epoch, since_best, drops, since_drop, held, uncovered = 0, skipped = 0, has_diverged = false } else { losses, means }
}

/// In JSON the first model's figures are fields of the progress, as in files from before there were several.
impl Record for Progress {
    fn blank() -> Self {
        Self { standings: vec![Standing::blank()], ..Self::default() }
    }

    fn to_json(&self) -> Json {
        let mut fields =
            vec![("history".to_owned(), self.history.to_json()), ("cursor".to_owned(), self.cursor.to_json())];
        let mut each = self.standings.iter().map(Record::to_json);
        if let Some(Json::Fields(first)) = each.next() {
            fields.extend(first);
        }
        let others: Vec<Json> = each.collect();
        if !others.is_empty() {
            fields.push(("others".to_owned(), Json::List(others)));
        }
        Json::Fields(fields)
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        self.history.read(json.field("history")?).map_err(|error| error.within("history"))?;
        self.cursor.read(json.field("cursor")?).map_err(|error| error.within("cursor"))?;
        let mut others: Vec<Standing> = Vec::new();
        if let Some(listed) = json.get("others") {
            others.read(listed).map_err(|error| error.within("others"))?;
        }
        self.standings = [Standing::from_json(json)?].into_iter().chain(others).collect();
        Ok(())
    }
}

impl Standing {
    /// Whether a value is finite and improves on the best so far by more than `min_delta`.
    pub(crate) fn improves(&self, value: f64, min_delta: f64) -> bool {
        value.is_finite() && self.best_loss.is_none_or(|best| value < best - min_delta)
    }

    /// Why the model has ended, which then keeps its weights: its patience is spent, its coverage was too low for too long, or its loss diverged.
    pub(crate) fn stop(&self, settings: &TrainerConfig) -> Option<Stop> {
        if self.has_diverged {
            return Some(Stop::Diverged);
        }
        let is_patience = settings.patience > 0 && self.since_best >= settings.patience;
        let is_uncovered = settings.coverage.is_some_and(|goal| self.uncovered >= goal.patience);
        if is_patience { Some(Stop::Patience) } else { is_uncovered.then_some(Stop::Coverage) }
    }

    /// Counts an epoch whose coverage is below its goal.
    pub(crate) fn notice_coverage(&mut self, goal: Option<CoverageGoal>, pairs: Option<PairReport>) {
        if let (Some(goal), Some(pairs)) = (goal, pairs) {
            self.uncovered = if pairs.coverage < goal.least { self.uncovered + 1 } else { 0 };
        }
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
