//! The folds of a cross-validation, and runs with other seeds: trained one after another, reported as a table or as JSON lines.

use pollster::block_on;
use serde_json::json;

use super::console::{say, say_json};
use super::flags::encode;
use super::progress::Progress;
use super::report::metrics_rows;
use super::{Answer, Failure, interrupt};
use meromorph::Device;
use meromorph::error::{Error, Result};
use meromorph::files::Table;
use meromorph::internal::math::student_reach;
use meromorph::judge::{Metrics, main_metric};
use meromorph::report::{Table as TextTable, counted, figure};
use meromorph::run::{Fold, SplitTable, TrainOptions, mean_and_spread};
use meromorph::table::Choice;
use meromorph::train::{Event, Flow, Stop};

/// Parts of a fold in the line of progress; a fold that stops early is done at once.
const FOLD: u64 = 1000;

/// The folds, or the runs with other seeds, to train before the model.
pub(super) struct FoldPlan {
    runs: Vec<(TrainOptions, SplitTable)>,
    table: Table,
    /// What one of them is called.
    noun: &'static str,
}

impl FoldPlan {
    /// Errors if the table has too few rows or groups.
    pub(super) fn new(options: TrainOptions, table: Table, count: usize) -> Answer<Self> {
        let splits = options.folds(&table, count)?;
        let runs = splits.into_iter().map(|split| (options.clone(), split)).collect();
        Ok(Self { runs, table, noun: "fold" })
    }

    /// Runs on the same split with other seeds of weights, order and dropout.
    pub(super) fn repeats(options: &TrainOptions, table: Table, count: usize) -> Answer<Self> {
        let split_seed = options.choice.split_seed.unwrap_or(options.seed);
        let one = |at: usize| {
            let choice = Choice { split_seed: Some(split_seed), ..options.choice.clone() };
            let options = TrainOptions { seed: options.seed + 1 + at as u64, choice, ..options.clone() };
            let split = SplitTable::new(&table, &options.choice, options.fractions, split_seed)?;
            Ok((options, split))
        };
        let runs = (0..count).map(one).collect::<Result<_>>()?;
        Ok(Self { runs, table, noun: "seed" })
    }

    /// Trains the folds and reports them.
    pub(super) fn run(&self, device: &Device, is_json: bool) -> Answer<Vec<Fold>> {
        interrupt::watch();
        let (count, noun) = (self.runs.len(), self.noun);
        if !is_json {
            let how = if noun == "fold" {
                format!("cross-validation: {count} models, each without a part of the rows")
            } else {
                format!("{count} models with other seeds, on the same rows")
            };
            say(&format!("\n  {how}\n"));
        }
        let progress = Progress::of(count as u64 * FOLD, "starting").ticking();
        let mut folds = Vec::new();
        for (at, (options, split)) in self.runs.iter().enumerate() {
            let run = encode(options, &self.table, split.clone())?;
            let epochs = run.settings.epochs;
            progress.say(format!("{noun} {} of {count}", at + 1));
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
                    let place = format!("interrupted in {noun} {} of {count}", at + 1);
                    return Err(Failure::Interrupted(format!("{place}; nothing was written")));
                }
                Stop::Diverged => {
                    let what =
                        format!("the loss diverged in {noun} {} of {count}; try a smaller learning rate", at + 1);
                    return Err(Error::new(what).into());
                }
                Stop::Epochs | Stop::Patience | Stop::Coverage => {}
            }
            if is_json {
                report_fold(noun, &fold, at, count);
            }
            folds.push(fold);
        }
        progress.finish();
        let summary = FoldSummary { noun, ..FoldSummary::of(&folds) };
        if is_json {
            say_json(&summary.json());
        } else {
            say(&summary.text());
        }
        Ok(folds)
    }
}

fn report_fold(noun: &str, fold: &Fold, at: usize, count: usize) {
    let [train, validation, held] = fold.rows;
    say_json(&json!({
        "event": noun, noun: at + 1, (format!("{noun}s")): count, "rows": { "train": train, "validation": validation, "test": held },
        "epochs": fold.outcome.epochs, "best_epoch": best_epoch(fold), "stop": fold.outcome.stop,
        "test": fold.metrics, "baseline": fold.baseline,
    }));
}

/// From 1.
fn best_epoch(fold: &Fold) -> Option<usize> {
    fold.outcome.best_epoch.map(|epoch| epoch + 1)
}

/// Metrics of each fold or seed, their mean and spread.
pub(super) struct FoldSummary {
    noun: &'static str,
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
        Self { noun: "fold", each, mean, spread, baseline, median_best_epoch }
    }

    fn json(&self) -> serde_json::Value {
        // The loss of the baseline is 0 if there is none.
        let baseline = (self.baseline.rows > 0).then_some(self.baseline);
        json!({
            "event": format!("{}s", self.noun), (format!("{}s", self.noun)): self.each.len(), "mean": self.mean, "spread": self.spread,
            "interval": self.interval(), "baseline": baseline, "median_best_epoch": self.median_best_epoch,
        })
    }

    /// Half the width of the 95 % interval of the main metric's mean, if the runs are independent of each other, as seeds are and folds are not.
    fn interval(&self) -> Option<f64> {
        let count = self.each.len();
        let (_, _, spread, _) = self.headline();
        let half = student_reach(0.95, count.saturating_sub(1)) * spread / (count as f64).sqrt();
        (self.noun == "seed" && half.is_finite()).then_some(half)
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
        let names: Vec<String> = (1..=self.each.len()).map(|at| format!("{} {at}", self.noun)).collect();
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
        let models = counted(self.each.len(), self.noun);
        let (label, mean, ..) = self.headline();
        let interval = self.interval().map_or_else(String::new, |half| {
            format!(", {label} {} ± {} (95 % interval of the mean)", figure(mean), figure(half))
        });
        format!("{}\n\n  {models}{best}{interval}; now the model itself", self.table().text())
    }
}
