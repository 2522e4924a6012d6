//! Metrics of predictions as a record: their names, their values, and their JSON.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::json::{Json, Record, read_fields};

/// Metrics of one part of the data; those that do not apply are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Number of rows.
    pub rows: usize,
    /// Mean loss, in the loss's units.
    pub loss: f64,
    /// Mean squared error, in squared target units.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mse: Option<f64>,
    /// Mean absolute error, in target units.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mae: Option<f64>,
    /// 1 - Σ(y - z)² / Σ(y - ȳ)²; absent if the targets are constant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub r2: Option<f64>,
    /// Root of the mean squared error, in target units, of a model that predicts standard deviations, which are like it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rmse: Option<f64>,
    /// Mean of -ln of the predicted normal density at the targets, whose unit is that of the target.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nll: Option<f64>,
    /// Share of rows whose class was predicted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accuracy: Option<f64>,
    /// Mean over the classes of the share of their rows whose class was predicted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub balanced_accuracy: Option<f64>,
    /// Mean over the classes of F1, the harmonic mean of precision and recall.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub f1: Option<f64>,
    /// Area under the ROC curve, for more than two classes the mean of each against the rest; absent if a class has all rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub auc: Option<f64>,
    /// Mean of -ln p of the rows' own classes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub log_loss: Option<f64>,
    /// Mean distance of the predicted classes' probability from the share of them that is right, over ten bins (Naeini et al. 2015).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub calibration: Option<f64>,
    /// Share of values that are decoded to a number; the errors are over these. Only for a projective head, like the metrics below.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub coverage: Option<f64>,
    /// Median absolute error of the decoded values, in target units: robust against a few rows near a pole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub median: Option<f64>,
    /// Share of all values that are decoded in the gap near a pole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gap: Option<f64>,
    /// Share of the finite targets that are predicted as ⊥.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<f64>,
    /// Share of the ⊥ targets that are predicted as ⊥.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub found: Option<f64>,
}

/// A metric: its name in JSON, its name for people, and its value.
pub type Figure = (&'static str, &'static str, fn(&Metrics) -> Option<f64>);

impl Metrics {
    /// Every metric, in the order of a report.
    pub const FIGURES: [Figure; 17] = [
        ("loss", "loss", |m| Some(m.loss)),
        ("mse", "mse", |m| m.mse),
        ("mae", "mae", |m| m.mae),
        ("r2", "R²", |m| m.r2),
        ("rmse", "rmse", |m| m.rmse),
        ("nll", "nll", |m| m.nll),
        ("accuracy", "accuracy", |m| m.accuracy),
        ("balanced_accuracy", "balanced", |m| m.balanced_accuracy),
        ("f1", "F1", |m| m.f1),
        ("auc", "AUC", |m| m.auc),
        ("log_loss", "log loss", |m| m.log_loss),
        ("calibration", "calibration", |m| m.calibration),
        ("median", "median", |m| m.median),
        ("coverage", "coverage", |m| m.coverage),
        ("gap", "gap", |m| m.gap),
        ("refused", "refused", |m| m.refused),
        ("found", "⊥ found", |m| m.found),
    ];
}

/// Only the metrics that are present are written.
impl Record for Metrics {
    fn blank() -> Self {
        Self::default()
    }

    fn to_json(&self) -> Json {
        let figures = Self::FIGURES.iter().filter_map(|(name, _, figure)| Some((*name, figure(self)?)));
        let figures =
            figures.filter(|(_, value)| value.is_finite()).map(|(name, value)| (name.to_owned(), value.to_json()));
        Json::Fields([("rows".to_owned(), self.rows.to_json())].into_iter().chain(figures).collect())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        let mut loss = None;
        let fields: [(&'static str, &mut Option<f64>); 17] = [
            ("loss", &mut loss),
            ("mse", &mut self.mse),
            ("mae", &mut self.mae),
            ("r2", &mut self.r2),
            ("rmse", &mut self.rmse),
            ("nll", &mut self.nll),
            ("accuracy", &mut self.accuracy),
            ("balanced_accuracy", &mut self.balanced_accuracy),
            ("f1", &mut self.f1),
            ("auc", &mut self.auc),
            ("log_loss", &mut self.log_loss),
            ("calibration", &mut self.calibration),
            ("median", &mut self.median),
            ("coverage", &mut self.coverage),
            ("gap", &mut self.gap),
            ("refused", &mut self.refused),
            ("found", &mut self.found),
        ];
        let mut slots: Vec<(&'static str, &mut dyn Record, bool)> = vec![("rows", &mut self.rows, false)];
        slots.extend(fields.into_iter().map(|(name, field)| (name, field as &mut dyn Record, true)));
        read_fields(json, &mut slots)?;
        self.loss = loss.unwrap_or(f64::NAN);
        Ok(())
    }
}

#[cfg(test)]
impl Metrics {
    /// With a value of each.
    pub(crate) fn every_figure() -> Self {
        let [a, b, c, d, e] = [0.5, 0.25, 3.0, 1e-9, 0.1].map(Some);
        Self {
            rows: 7,
            loss: 2.5,
            mse: a,
            mae: b,
            r2: c,
            rmse: d,
            nll: e,
            accuracy: d,
            balanced_accuracy: e,
            f1: a,
            auc: b,
            log_loss: c,
            calibration: d,
            coverage: e,
            median: a,
            gap: b,
            refused: c,
            found: d,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_written_and_read() {
        let all = Metrics::every_figure();
        assert_eq!(Metrics::from_json(&all.to_json()).unwrap(), all);
        let few = Metrics { rows: 3, loss: 1.0, mse: Some(f64::NAN), mae: Some(2.0), ..Metrics::default() };
        assert_eq!(few.to_json().to_string(), r#"{"rows":3,"loss":1.0,"mae":2.0}"#);
    }
}
