//! How a model was trained and how well it did: a text next to the weights in the model file, which no prediction needs.

use crate::error::Result;
use crate::json::{Json, Record, read_fields};
use crate::judge::Metrics;
use crate::judge::Residuals;
use crate::model::Model;
use crate::record;
use crate::train::Origin;
use crate::train::TrainerConfig;

/// How a model was trained. It depends only on the run, so that a resumed run writes the same file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The name of the table.
    pub source: String,
    /// How the table was read and split.
    pub origin: Origin,
    /// The configuration of the run.
    pub settings: TrainerConfig,
    /// Rows for training, validation and test.
    pub rows: [usize; 3],
    /// Rows that were left out because of missing cells.
    pub dropped: usize,
    /// Epochs that were run.
    pub epochs: usize,
    /// The epoch whose weights were kept, from 1.
    pub best_epoch: Option<usize>,
    /// Metrics of the validation rows.
    pub validation: Option<Metrics>,
    /// Metrics of the test rows.
    pub test: Option<Metrics>,
    /// Metrics of the test rows without the inputs.
    pub baseline: Option<Metrics>,
    /// Metrics of the rows that each fold held out.
    pub folds: Vec<Metrics>,
    /// Errors of rows that the weights were not fitted to, for prediction intervals.
    pub residuals: Option<Residuals>,
}

record! {
    Provenance {
        source, origin, settings, rows, dropped = 0, epochs, best_epoch, validation, test, baseline, folds = Vec::new(), residuals,
    }
}

impl Model {
    /// With a record of its training, which its file will hold.
    #[must_use]
    pub fn with_provenance(self, provenance: &Provenance) -> Self {
        Self { provenance: Some(provenance.to_json().to_string()), ..self }
    }

    /// Without the record of its training and the models of its folds: for pages and packages, which only predict.
    #[must_use]
    pub fn without_provenance(&self) -> Self {
        Self { provenance: None, attached: Vec::new(), ..self.clone() }
    }

    /// The record of its training; `None` if its file has none. Errors if it is damaged.
    pub fn provenance(&self) -> Result<Option<Provenance>> {
        let parsed =
            self.provenance.as_ref().map(|text| Json::parse(text).and_then(|json| Provenance::from_json(&json)));
        parsed.transpose().map_err(|error| error.within("the record of the training is damaged"))
    }
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
mod tests {
    use super::*;
    use crate::loss::Loss;
    use crate::nn::{Activation, Layout, Spec};

    fn every_figure() -> Metrics {
        let [a, b, c, d, e] = [0.5, 0.25, 3.0, 1e-9, 0.1].map(Some);
        Metrics {
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

    #[test]
    fn every_metric_is_written_and_read() {
        let all = every_figure();
        assert_eq!(Metrics::from_json(&all.to_json()).unwrap(), all);
        let few = Metrics { rows: 3, loss: 1.0, mse: Some(f64::NAN), mae: Some(2.0), ..Metrics::default() };
        assert_eq!(few.to_json().to_string(), r#"{"rows":3,"loss":1.0,"mae":2.0}"#);
    }

    #[test]
    fn a_model_file_keeps_how_it_was_trained() {
        let spec = Spec::mlp(1, &[], 1, Activation::identity());
        let parameters = vec![0.0; Layout::of(&spec).total];
        let model = Model::new(spec, Loss::mse(), parameters, None);
        assert_eq!(model.provenance().unwrap(), None);
        let provenance = Provenance {
            source: "wine.csv".into(),
            rows: [70, 15, 15],
            best_epoch: Some(3),
            test: Some(every_figure()),
            folds: vec![every_figure(); 2],
            ..Provenance::default()
        };
        let fold = model.clone();
        let model = model.with_provenance(&provenance).with_folds(&[fold.clone(), fold]).unwrap();
        let bytes = model.save().unwrap();
        let read = Model::load(&bytes, "m").unwrap();
        assert_eq!((&read, read.folds().unwrap().len()), (&model, 2));
        let bare = read.without_provenance();
        assert_eq!((bare.provenance().unwrap(), bare.folds().unwrap().len()), (None, 0));
        assert_eq!(Model::load(&bytes, "m").unwrap().provenance().unwrap(), Some(provenance));
    }
}
