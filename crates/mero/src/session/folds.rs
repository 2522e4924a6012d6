//! The folds of a cross-validation, and runs with other seeds: trained one after another, reported as a table or as JSON lines.

use pollster::block_on;
use serde_json::json;

use crate::options::flags::encode;
use crate::show::folds::{FoldSummary, best_epoch};
use crate::terminal::console::{say, say_json};
use crate::terminal::interrupt;
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::Device;
use meromorph::error::{Error, Result};
use meromorph::files::Table;
use meromorph::report::counted;
use meromorph::run::{Fold, SplitTable, TrainOptions};
use meromorph::table::Choice;
use meromorph::train::{Event, Flow, Stop};

/// Parts of a fold in the line of progress; a fold that stops early is done at once.
const FOLD: u64 = 1000;

/// The folds, or the runs with other seeds, to train before the model.
pub(crate) struct FoldPlan {
    runs: Vec<(TrainOptions, SplitTable)>,
    table: Table,
    /// What one of them is called.
    noun: &'static str,
}

impl FoldPlan {
    /// Errors if the table has too few rows or groups.
    pub(crate) fn new(options: TrainOptions, table: Table, count: usize) -> Answer<Self> {
        let splits = options.folds(&table, count)?;
        let runs = splits.into_iter().map(|split| (options.clone(), split)).collect();
        Ok(Self { runs, table, noun: "fold" })
    }

    /// Runs on the same split with other seeds of weights, order and dropout.
    pub(crate) fn repeats(options: &TrainOptions, table: Table, count: usize) -> Answer<Self> {
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
    pub(crate) fn run(&self, device: &Device, is_json: bool) -> Answer<Vec<Fold>> {
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
                    progress.finish();
                    let place = format!("interrupted in {noun} {} of {count}", at + 1);
                    if folds.is_empty() {
                        return Err(Failure::Interrupted(format!("{place}; nothing was written")));
                    }
                    // With JSON each has been reported.
                    if !is_json {
                        say(&FoldSummary::of(noun, &folds).table().text());
                    }
                    let done = counted(folds.len(), noun);
                    return Err(Failure::Interrupted(format!("{place}; {done} reported above, no model was written")));
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
        let summary = FoldSummary::of(noun, &folds);
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
