//! How a model was trained and how well it did: a text next to the weights in the model file, which no prediction needs.

use super::blend::Blend;
use super::origin::Origin;
use crate::error::Result;
use crate::files::{Format, Percent};
use crate::json::{Json, Record};
use crate::judge::{Metrics, Residuals};
use crate::model::Model;
use crate::record;
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
    /// The blend with a linear model that the model is.
    pub blend: Option<Blend>,
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
        source, origin, settings, rows, dropped = 0, epochs, best_epoch, blend = None, validation, test, baseline, folds = Vec::new(), residuals,
    }
}

impl Model {
    /// With a record of its training, which its file will hold.
    #[must_use]
    pub fn with_provenance(self, provenance: &Provenance) -> Self {
        Self { provenance: Some(provenance.to_json().to_string()), ..self }
    }

    /// Without the record of its training and the models of its folds: for pages and packages, which only predict. The metrics of the test rows stay,
    /// so that a page can say how good it is.
    #[must_use]
    pub fn without_provenance(&self) -> Self {
        let test = self.provenance().ok().flatten().and_then(|provenance| provenance.test);
        let quality = test.map(|metrics| metrics.to_json().to_string()).or_else(|| self.quality.clone());
        let mut bare = Self { provenance: None, attached: Vec::new(), quality, ..self.clone() };
        if let Some(preparation) = &mut bare.preparation {
            preparation.format = Some(self.reading());
        }
        bare
    }

    /// How the table was written that it learnt from, so that new tables are read in the same way. A file of an earlier version has it only in
    /// the record of its training.
    pub fn reading(&self) -> Format {
        let own = self.preparation.as_ref().and_then(|preparation| preparation.format.clone());
        let recorded = || Some(self.provenance().ok()??.origin.format);
        let unknown = || Format { percent: Percent::Fraction, ..Format::default() };
        own.or_else(recorded).unwrap_or_else(unknown)
    }

    /// The record of its training; `None` if its file has none. Errors if it is damaged.
    pub fn provenance(&self) -> Result<Option<Provenance>> {
        let parsed =
            self.provenance.as_ref().map(|text| Json::parse(text).and_then(|json| Provenance::from_json(&json)));
        parsed.transpose().map_err(|error| error.within("the record of the training is damaged"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Loss;
    use crate::nn::{Activation, Layout, Spec};

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
            blend: Some(Blend { linear: 0.25, sharpness: 1.5 }),
            test: Some(Metrics::every_figure()),
            folds: vec![Metrics::every_figure(); 2],
            ..Provenance::default()
        };
        let fold = model.clone();
        let model = Model { labels: Some("number".into()), ..model };
        let model = model.with_provenance(&provenance).with_folds(&[fold.clone(), fold]).unwrap();
        let bytes = model.save().unwrap();
        let read = Model::load(&bytes, "m").unwrap();
        assert_eq!((&read, read.folds().unwrap().len()), (&model, 2));
        let bare = read.without_provenance();
        let quality = Some(Metrics::every_figure().to_json().to_string());
        assert_eq!((&bare.quality, &bare.without_provenance().quality), (&quality, &quality));
        assert_eq!(Model::load(&bare.save().unwrap(), "m").unwrap(), bare);
        assert_eq!([&read.labels, &bare.labels].map(Option::as_deref), [Some("number"); 2]);
        assert_eq!((bare.provenance().unwrap(), bare.folds().unwrap().len()), (None, 0));
        assert_eq!(Model::load(&bytes, "m").unwrap().provenance().unwrap(), Some(provenance));
    }
}
