//! Metrics of predictions, one file each: how they are computed, named and explained. A model's metrics are a record of those that apply. To add one: a file
//! with its `METRIC`, and its word in the list here.

mod scored;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::json::{Json, Record, read_fields};
pub use scored::{ClassCount, Classes, Numbers, Pair, Pairs, Predicted, Scored, Shares};

/// A metric.
pub struct Metric {
    /// Its name for people; its name in JSON is that of its field.
    pub label: &'static str,
    /// What it is, in one sentence without a full stop.
    pub doc: &'static str,
    /// Its value, if it applies to the predictions.
    pub of: fn(&Scored<'_>) -> Option<f64>,
}

/// A metric of a record: its name in JSON, its name for people, and its value.
pub type Figure = (&'static str, &'static str, fn(&Metrics) -> Option<f64>);

macro_rules! metrics {
    ($($name:ident),+ $(,)?) => {
        $(mod $name;)+

        /// Metrics of one part of the data; those that do not apply are absent. [`Metrics::DOCS`] says what each is.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct Metrics {
            /// Number of rows.
            pub rows: usize,
            /// Mean loss, in the loss's units.
            pub loss: f64,
            $(
                #[doc = concat!("The metric `", stringify!($name), "`.")]
                #[serde(skip_serializing_if = "Option::is_none", default)]
                pub $name: Option<f64>,
            )+
        }

        impl Metrics {
            /// Every metric, in the order of a report.
            pub const FIGURES: &[Figure] = &[
                ("loss", "loss", |m| Some(m.loss)),
                $((stringify!($name), $name::METRIC.label, |m| m.$name),)+
            ];

            /// The names of all metrics in JSON, and what they are.
            pub const DOCS: &[(&str, &str)] =
                &[("loss", "Mean loss, in the loss's units"), $((stringify!($name), $name::METRIC.doc),)+];

            /// Of predictions.
            pub fn of_scored(scored: &Scored<'_>) -> Self {
                Self { rows: scored.rows, loss: scored.loss, $($name: ($name::METRIC.of)(scored)),+ }
            }

            /// With what `of` makes of each.
            pub(crate) fn of_each(rows: usize, mut of: impl FnMut(fn(&Self) -> Option<f64>) -> Option<f64>) -> Self {
                Self { rows, loss: of(|m| Some(m.loss)).unwrap_or_default(), $($name: of(|m| m.$name)),+ }
            }

            fn fields(&mut self) -> Vec<(&'static str, &mut Option<f64>)> {
                vec![$((stringify!($name), &mut self.$name)),+]
            }
        }
    };
}

metrics! {
    mse, mae, r2, rmse, nll, accuracy, balanced_accuracy, f1, mcc, auc, log_loss, calibration, median, coverage, gap, refused, found,
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
        let (mut rows, mut loss) = (0_usize, None::<f64>);
        let mut slots: Vec<(&'static str, &mut dyn Record, bool)> =
            vec![("rows", &mut rows, false), ("loss", &mut loss, true)];
        slots.extend(self.fields().into_iter().map(|(name, field)| (name, field as &mut dyn Record, true)));
        read_fields(json, &mut slots)?;
        (self.rows, self.loss) = (rows, loss.unwrap_or(f64::NAN));
        Ok(())
    }
}

#[cfg(test)]
impl Metrics {
    /// With a value of each.
    pub(crate) fn every_figure() -> Self {
        let mut next = 0.0;
        Self::of_each(7, |_| {
            next += 0.25;
            Some(next)
        })
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

    fn classes(probabilities: &[f64], own: &[f32], count: usize) -> Metrics {
        let predicted = Predicted::Classes(Classes::new(probabilities, own, count));
        Metrics::of_scored(&Scored { rows: own.len(), loss: 0.0, scale: 1.0, predicted })
    }

    /// Figures by hand; scikit-learn gives the same.
    #[test]
    fn two_classes_by_hand() {
        let p = [0.9, 0.1, 0.6, 0.4, 0.35, 0.65, 0.6, 0.4, 0.2, 0.8];
        let own = [0.0, 0.0, 0.0, 1.0, 1.0];
        let got = classes(&p, &own, 2);
        let near = |name: &str, got: f64, expected: f64| {
            assert!((got - expected).abs() < 1e-12, "{name}: got {got}, expected {expected}");
        };
        near("accuracy", got.accuracy.unwrap(), 0.6);
        near("balanced accuracy", got.balanced_accuracy.unwrap(), 0.5 * (2.0 / 3.0 + 0.5));
        near("f1", got.f1.unwrap(), 0.5 * (2.0 / 3.0 + 0.5));
        // Of the six pairs, 0.4 beats 0.1, ties with 0.4, loses to 0.65; 0.8 beats all.
        near("auc", got.auc.unwrap(), 4.5 / 6.0);
        let loss = -(0.9_f64.ln() + 0.6_f64.ln() + 0.35_f64.ln() + 0.4_f64.ln() + 0.8_f64.ln()) / 5.0;
        near("log loss", got.log_loss.unwrap(), loss);
        // Bins: .9 right; .6 twice, one right; .65 wrong, in the same bin; .8 right.
        near("calibration", got.calibration.unwrap(), (0.1 + (1.85 - 1.0) + 0.2) / 5.0);
    }

    #[test]
    fn the_correlation_of_classes_by_hand() {
        // Of classes 0, 0, 1, 2 the predictions are 0, 1, 1, 2: (3·4 - (2·1 + 1·2 + 1·1)) / √((16 - 6)(16 - 6)).
        let p = [0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8];
        assert!((classes(&p, &[0.0, 0.0, 1.0, 2.0], 3).mcc.unwrap() - 0.7).abs() < 1e-12);
        let same = [0.9, 0.1, 0.8, 0.2];
        assert_eq!(classes(&same, &[0.0, 1.0], 2).mcc, Some(0.0));
        assert_eq!(classes(&same, &[0.0, 0.0], 2).mcc, None);
    }

    #[test]
    fn three_classes_average_over_those_that_are_present() {
        let p = [0.7, 0.2, 0.1, 0.2, 0.7, 0.1, 0.6, 0.3, 0.1, 0.1, 0.8, 0.1];
        let got = classes(&p, &[0.0, 1.0, 1.0, 1.0], 3);
        assert_eq!((got.accuracy, got.balanced_accuracy), (Some(0.75), Some(0.5 * (1.0 + 2.0 / 3.0))));
        assert_eq!(got.auc, Some(1.0));
        assert_eq!(classes(&p, &[0.0; 4], 3).auc, None);
    }
}
