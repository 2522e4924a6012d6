//! Metrics of the folds of a cross-validation, or of runs with other seeds: each, their mean and spread.

use serde_json::json;

use super::metrics::metrics_rows;
use meromorph::internal::math::student_reach;
use meromorph::judge::{Metrics, main_metric};
use meromorph::report::{Table, counted, figure};
use meromorph::run::{Fold, mean_and_spread};

/// Metrics of each fold or seed, their mean and spread.
pub(crate) struct FoldSummary {
    noun: &'static str,
    each: Vec<Metrics>,
    mean: Metrics,
    spread: Metrics,
    baseline: Metrics,
    median_best_epoch: Option<usize>,
}

impl FoldSummary {
    /// Of models that are each called `noun`: `fold` or `seed`.
    pub(crate) fn of(noun: &'static str, folds: &[Fold]) -> Self {
        let each: Vec<Metrics> = folds.iter().filter_map(|fold| fold.metrics).collect();
        let baselines: Vec<Metrics> = folds.iter().filter_map(|fold| fold.baseline).collect();
        let [mean, spread] = mean_and_spread(&each);
        let [baseline, _] = mean_and_spread(&baselines);
        let mut epochs: Vec<usize> = folds.iter().filter_map(best_epoch).collect();
        epochs.sort_unstable();
        let median_best_epoch = epochs.get(epochs.len() / 2).copied();
        Self { noun, each, mean, spread, baseline, median_best_epoch }
    }

    pub(crate) fn json(&self) -> serde_json::Value {
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
    pub(crate) fn count(&self) -> usize {
        self.each.len()
    }

    /// The main metric: its name, its mean and spread, and its mean without inputs.
    pub(crate) fn headline(&self) -> (&'static str, f64, f64, Option<f64>) {
        let (name, label, mean, _) = main_metric(&self.mean);
        let of = |metrics: &Metrics| {
            let figure = Metrics::FIGURES.iter().find(|(known, _, _)| *known == name);
            figure.and_then(|(_, _, figure)| figure(metrics))
        };
        let baseline = (self.baseline.rows > 0).then(|| of(&self.baseline)).flatten();
        (label, mean, of(&self.spread).unwrap_or(f64::NAN), baseline)
    }

    /// One row per fold, then their mean, its spread, and the mean without inputs.
    pub(crate) fn table(&self) -> Table {
        let names: Vec<String> = (1..=self.each.len()).map(|at| format!("{} {at}", self.noun)).collect();
        let mut rows: Vec<(&str, Option<Metrics>)> =
            names.iter().zip(&self.each).map(|(name, metrics)| (name.as_str(), Some(*metrics))).collect();
        rows.push(("mean", Some(self.mean)));
        // A spread is of folds, not of rows.
        rows.push(("± spread", Some(Metrics { rows: 0, ..self.spread })));
        rows.push(("without inputs", (self.baseline.rows > 0).then_some(self.baseline)));
        metrics_rows(&rows)
    }

    pub(crate) fn text(&self) -> String {
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

/// From 1.
pub(crate) fn best_epoch(fold: &Fold) -> Option<usize> {
    fold.outcome.best_epoch.map(|epoch| epoch + 1)
}
