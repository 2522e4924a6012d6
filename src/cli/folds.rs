//! The folds of a cross-validation: trained one after another, reported as a table or as JSON lines.

use pollster::block_on;
use serde_json::json;

use super::console::{say, say_json};
use super::flags::encode;
use super::progress::Progress;
use super::report::metrics_rows;
use super::{Answer, Failure, interrupt};
use crate::Device;
use crate::error::Error;
use crate::io::Table;
use crate::report::{Table as TextTable, counted};
use crate::train::{Event, Flow, Fold, Metrics, SplitTable, Stop, TrainOptions, main_metric, mean_and_spread};

/// Parts of a fold in the line of progress; a fold that stops early is done at once.
const FOLD: u64 = 1000;

/// The folds to train.
pub(super) struct FoldPlan {
    options: TrainOptions,
    table: Table,
    splits: Vec<SplitTable>,
}

impl FoldPlan {
    /// Errors if the table has too few rows or groups.
    pub(super) fn new(options: TrainOptions, table: Table, count: usize) -> Answer<Self> {
        let splits = options.folds(&table, count)?;
        Ok(Self { options, table, splits })
    }

    /// Trains the folds and reports them.
    pub(super) fn run(&self, device: &Device, is_json: bool) -> Answer<Vec<Fold>> {
        interrupt::watch();
        let count = self.splits.len();
        if !is_json {
            say(&format!("\n  cross-validation: {count} models, each without a part of the rows\n"));
        }
        let progress = Progress::of(count as u64 * FOLD, "starting").ticking();
        let mut folds = Vec::new();
        for (at, split) in self.splits.iter().enumerate() {
            let run = encode(&self.options, &self.table, split.clone())?;
            let epochs = run.settings.epochs;
            progress.say(format!("fold {} of {count}", at + 1));
            let mut watch = |event: &Event<'_>| {
                if let Event::Steps { epoch, done, steps } = event {
                    let share = (epoch * steps + done) as f64 / (epochs * steps) as f64;
                    progress.set(at as u64 * FOLD + (share * FOLD as f64) as u64);
                }
                if interrupt::is_requested() { Flow::Stop } else { Flow::Continue }
            };
            let fold = block_on(Fold::train(device, run, &mut watch))?;
            match fold.outcome.stop {
                Stop::Requested => {
                    let place = format!("interrupted in fold {} of {count}", at + 1);
                    return Err(Failure::Interrupted(format!("{place}; nothing was written")));
                }
                Stop::Diverged => {
                    let what = format!("the loss diverged in fold {} of {count}; try a smaller learning rate", at + 1);
                    return Err(Error::new(what).into());
                }
                Stop::Epochs | Stop::Patience | Stop::Coverage => {}
            }
            if is_json {
                report_fold(&fold, at, count);
            }
            folds.push(fold);
        }
        progress.finish();
        let summary = FoldSummary::of(&folds);
        if is_json {
            say_json(&summary.json());
        } else {
            say(&summary.text());
        }
        Ok(folds)
    }
}

fn report_fold(fold: &Fold, at: usize, count: usize) {
    let [train, validation, held] = fold.rows;
    say_json(&json!({
        "event": "fold", "fold": at + 1, "folds": count, "rows": { "train": train, "validation": validation, "test": held },
        "epochs": fold.outcome.epochs, "best_epoch": best_epoch(fold), "stop": fold.outcome.stop,
        "test": fold.metrics, "baseline": fold.baseline,
    }));
}

/// From 1.
fn best_epoch(fold: &Fold) -> Option<usize> {
    fold.outcome.best_epoch.map(|epoch| epoch + 1)
}

/// Metrics of each fold, their mean and spread.
pub(super) struct FoldSummary {
    each: Vec<Metrics>,
    mean: Metrics,
    spread: Metrics,
    baseline: Metrics,
    median_best_epoch: Option<usize>,
}

impl FoldSummary {
    pub(super) fn of(folds: &[Fold]) -> Self {
        let each: Vec<Metrics> = folds.iter().filter_map(|fold| fold.metrics).collect();
        let baselines: Vec<Metrics> = folds.iter().filter_map(|fold| fold.baseline).collect();
        let [mean, spread] = mean_and_spread(&each);
        let [baseline, _] = mean_and_spread(&baselines);
        let mut epochs: Vec<usize> = folds.iter().filter_map(best_epoch).collect();
        epochs.sort_unstable();
        let median_best_epoch = epochs.get(epochs.len() / 2).copied();
        Self { each, mean, spread, baseline, median_best_epoch }
    }

    fn json(&self) -> serde_json::Value {
        // The loss of the baseline is 0 if there is none.
        let baseline = (self.baseline.rows > 0).then_some(self.baseline);
        json!({
            "event": "folds", "folds": self.each.len(), "mean": self.mean, "spread": self.spread, "baseline": baseline,
            "median_best_epoch": self.median_best_epoch,
        })
    }

    /// Number of folds.
    pub(super) fn count(&self) -> usize {
        self.each.len()
    }

    /// The main metric: its name, its mean and spread, and its mean without inputs.
    pub(super) fn headline(&self) -> (&'static str, f64, f64, Option<f64>) {
        let (name, label, mean, _) = main_metric(&self.mean);
        let of = |metrics: &Metrics| {
            let figure = Metrics::FIGURES.iter().find(|(known, _, _)| *known == name);
            figure.and_then(|(_, _, figure)| figure(metrics))
        };
        let baseline = (self.baseline.rows > 0).then(|| of(&self.baseline)).flatten();
        (label, mean, of(&self.spread).unwrap_or(f64::NAN), baseline)
    }

    /// One row per fold, then their mean, its spread, and the mean without inputs.
    pub(super) fn table(&self) -> TextTable {
        let names: Vec<String> = (1..=self.each.len()).map(|fold| format!("fold {fold}")).collect();
        let mut rows: Vec<(&str, Option<Metrics>)> =
            names.iter().zip(&self.each).map(|(name, metrics)| (name.as_str(), Some(*metrics))).collect();
        rows.push(("mean", Some(self.mean)));
        // A spread is of folds, not of rows.
        rows.push(("± spread", Some(Metrics { rows: 0, ..self.spread })));
        rows.push(("without inputs", (self.baseline.rows > 0).then_some(self.baseline)));
        metrics_rows(&rows)
    }

    fn text(&self) -> String {
        let best = self
            .median_best_epoch
            .map_or_else(String::new, |epoch| format!(", the median of their best epochs is {epoch}"));
        let models = counted(self.each.len(), "fold");
        format!("{}\n\n  {models}{best}; now the model itself", self.table().text())
    }
}
