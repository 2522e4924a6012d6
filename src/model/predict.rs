//! What a model predicts: outputs for encoded inputs, and for every row of a table a prediction in the target's units.

use super::prediction::{Follow, Noted, PredictOptions, Prediction};
use super::predictor::{Factor, Predictor, ROWS_AT_A_TIME};
use super::trained::Model;
use crate::device::{Device, Summary};
use crate::error::{Error, Result};
use crate::files::Table;
use crate::host::has_room;
use crate::kernels::mlp::Precision;
use crate::kernels::strict::Decoded;
use crate::loss::Link;
use crate::table::{Encoded, Note, NoteKind, Preparation, Unknown};

impl Model {
    /// The raw outputs [rows, outputs] for encoded inputs [rows, inputs].
    pub async fn outputs(&self, device: &Device, x: &[f32]) -> Result<Vec<f32>> {
        self.outputs_in(device, x, Precision::F32).await
    }

    /// Every output on its own, each [rows, columns], of a function with several.
    pub async fn outputs_each(&self, device: &Device, x: &[f32]) -> Result<Vec<Vec<f32>>> {
        self.predictor(device)?.run_each(x).await
    }

    /// The same as [`Model::outputs`] with activations in `precision`. For f16 errors if the model is not a plain perceptron of up to 16 layers (on a GPU 128 wide), or
    /// an output exceeds the range.
    pub async fn outputs_in(&self, device: &Device, x: &[f32], precision: Precision) -> Result<Vec<f32>> {
        self.predictor(device)?.keeping(precision)?.run(x).await
    }

    /// Decoded pairs for encoded inputs [rows, inputs]. Errors if the model has no projective head.
    pub async fn decoded(&self, device: &Device, x: &[f32]) -> Result<Decoded> {
        self.predictor(device)?.decode(x, &[]).await
    }

    /// The same, and ⊥ wherever one of up to four validity factors is below its threshold; each has one number per value.
    pub async fn decoded_where(&self, device: &Device, x: &[f32], factors: &[Factor]) -> Result<Decoded> {
        self.predictor(device)?.decode(x, factors).await
    }

    /// Launches, arithmetic and memory of a prediction of one row; nothing runs.
    pub fn work(&self) -> Result<Summary> {
        let device = Device::dry();
        let (predictor, x) = (self.predictor(&device)?, device.upload(&vec![0; self.spec.inputs])?);
        let (plan, _outputs) = device.capture(|| predictor.outputs(&x, 1))?;
        Ok(plan.summary().clone())
    }

    /// Encodes a table and predicts every row, in the target's units.
    pub async fn predict(&self, device: &Device, table: &Table) -> Result<Vec<Prediction>> {
        self.predict_as(device, table, PredictOptions::default()).await
    }

    /// The same with options. Errors for factors without a projective head, and for f16 with one.
    pub async fn predict_as(
        &self,
        device: &Device,
        table: &Table,
        options: PredictOptions<'_>,
    ) -> Result<Vec<Prediction>> {
        Ok(self.predict_noting(device, table, options).await?.0)
    }

    /// The same, and what was noticed about single cells: outside of the training range, not seen by training, or unusable.
    pub async fn predict_noting(
        &self,
        device: &Device,
        table: &Table,
        options: PredictOptions<'_>,
    ) -> Result<(Vec<Prediction>, Vec<Note>)> {
        self.predict_fully(device, table, options).await.map(|noted| (noted.predictions, noted.notes))
    }

    /// The same, and the probability of every class.
    pub async fn predict_fully(&self, device: &Device, table: &Table, options: PredictOptions<'_>) -> Result<Noted> {
        self.predict_with(&self.predictor(device)?, table, options).await
    }

    /// The same by a predictor of this model.
    pub(crate) async fn predict_with(
        &self,
        by: &Predictor,
        table: &Table,
        options: PredictOptions<'_>,
    ) -> Result<Noted> {
        let preparation = self.preparation()?;
        let Encoded { x, notes } = preparation.encode_noting(table, &table.every_row(), options.unknown)?;
        let classes = preparation.target.levels().len();
        self.check_memory(table, classes)?;
        let (mut predictions, mut probabilities) = self.predict_encoded(by, &x, options).await?;
        for note in notes.iter().filter(|note| matches!(note.kind, NoteKind::Unusable(_))) {
            predictions[note.row] = Prediction::None;
            probabilities[note.row * classes..][..classes].fill(f64::NAN);
        }
        Ok(Noted { predictions, notes, probabilities })
    }

    /// Predictions, and for classes the probabilities [rows, classes].
    async fn predict_encoded(
        &self,
        predictor: &Predictor,
        x: &[f32],
        options: PredictOptions<'_>,
    ) -> Result<(Vec<Prediction>, Vec<f64>)> {
        let PredictOptions { factors, precision, .. } = options;
        let preparation = self.preparation()?;
        let predictor = predictor.keeping(precision)?;
        if self.spec.head().is_some() {
            let decoded = predictor.decode(x, factors).await?;
            let prediction = |at: usize| Prediction::Decoded {
                value: (!decoded.is_bottom(at)).then(|| preparation.decode_target(decoded.value[at])),
                is_gap: decoded.gap[at],
                is_fault: decoded.is_fault(at),
            };
            return Ok(((0..decoded.value.len()).map(prediction).collect(), Vec::new()));
        }
        if !factors.is_empty() {
            return Err(Error::new(
                "predict: validity factors belong to models with poles; this one always gives a value",
            ));
        }
        let (inputs, width, mut outputs) = (preparation.inputs(), self.spec.outputs()?, Vec::new());
        let mut spreads = self.varies().then(Vec::new);
        for part in x.chunks(ROWS_AT_A_TIME * inputs) {
            outputs.extend(predictor.run(part).await?);
            if let Some(spreads) = &mut spreads {
                spreads.extend(self.spreads(&predictor, part).await?);
            }
            if let Some(Follow(follow)) = options.follow {
                follow(outputs.len() / width, x.len() / inputs);
            }
        }
        let levels = preparation.target.levels();
        let link = if levels.is_empty() { self.loss.link() } else { self.link_of_classes() };
        let mut probabilities = Vec::with_capacity(if levels.is_empty() { 0 } else { outputs.len() });
        let prediction = |(at, row): (usize, &[f32])| {
            let is_finite = row.iter().all(|z| z.is_finite());
            if levels.is_empty() {
                let spread = spreads.as_ref().map(|spreads| spreads[at]);
                return if is_finite { self.decoded_number(preparation, row, spread) } else { Prediction::None };
            }
            let (class, start) = ((link.class)(row), probabilities.len());
            link.push_probabilities(row, &mut probabilities);
            if is_finite {
                return Prediction::Class { name: levels[class].clone(), probability: probabilities[start + class] };
            }
            probabilities[start..].fill(f64::NAN);
            Prediction::None
        };
        let predictions = outputs.chunks_exact(width).enumerate().map(prediction).collect();
        Ok((predictions, probabilities))
    }

    /// Whether its numbers have a deviation: that of the target, or of several models.
    pub fn has_deviation(&self) -> bool {
        self.loss.link().deviation.is_some() || self.varies()
    }

    /// Whether several models predict a number each, whose deviation from their mean is all that is known of that of the prediction.
    fn varies(&self) -> bool {
        let is_number = self.preparation.as_ref().is_none_or(|preparation| preparation.target.levels().is_empty());
        self.members() > 1 && self.spec.head().is_none() && is_number && self.loss.link().deviation.is_none()
    }

    /// The standard deviation of the predictions of several models for each row, in the units of the loss's targets.
    async fn spreads(&self, predictor: &Predictor, x: &[f32]) -> Result<Vec<f64>> {
        let (link, width) = (self.loss.link(), self.spec.outputs()?);
        let rows = x.len() / self.spec.inputs;
        let mut numbers = vec![Vec::with_capacity(predictor.members()); rows];
        for at in 0..predictor.members() {
            let outputs = predictor.member(at).run(x).await?;
            numbers.iter_mut().zip(outputs.chunks_exact(width)).for_each(|(all, row)| all.push(link.number(row[0])));
        }
        let deviation = |all: Vec<f64>| {
            let count = all.len() as f64;
            let mean = all.iter().sum::<f64>() / count;
            (all.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count).sqrt()
        };
        Ok(numbers.into_iter().map(deviation).collect())
    }

    /// Errors if the outputs, the predictions and the probabilities of so many rows do not fit in memory.
    fn check_memory(&self, table: &Table, classes: usize) -> Result<()> {
        let (rows, outputs) = (table.rows() as u64, self.spec.outputs()?);
        let each = 4 * outputs + 8 * classes + size_of::<Prediction>();
        let said = has_room(rows.saturating_mul(each as u64), || format!("predictions of {rows} rows"));
        said.map_err(|what| Error::new(format!("{}: {what}; use fewer rows", table.source())))
    }

    /// The probability of every class for every row of a table, [rows, classes]; NaN in rows without a prediction. Errors if the target
    /// is a number.
    pub async fn probabilities(&self, device: &Device, table: &Table, unknown: Unknown) -> Result<Vec<f64>> {
        let target = &self.preparation()?.target;
        if target.levels().is_empty() {
            let name = target.name();
            return Err(Error::new(format!("predict: column \"{name}\" is a number; only classes have probabilities")));
        }
        let options = PredictOptions { unknown, ..PredictOptions::default() };
        Ok(self.predict_fully(device, table, options).await?.probabilities)
    }

    /// The probability of every class, [rows, classes], from raw outputs: softmax of as many, sigmoid if each class was trained against the rest, or as
    /// the loss says.
    pub fn class_probabilities(&self, outputs: &[f32], classes: usize) -> Vec<f64> {
        let link = self.link_of_classes();
        link.each_probability(outputs, (link.outputs)(classes))
    }

    /// How outputs become classes. A loss of numbers, as a model with a closure loss has it, says nothing about them: then each is against the rest.
    fn link_of_classes(&self) -> &'static Link {
        let link = self.loss.link();
        if link.probabilities.is_some() { link } else { &Link::SIGMOID }
    }

    /// The prediction of a number from a row's outputs.
    fn decoded_number(&self, preparation: &Preparation, row: &[f32], spread: Option<f64>) -> Prediction {
        let link = self.loss.link();
        let value = preparation.decode_target(link.number(row[0]));
        match link.deviation.map(|deviation| deviation(row[1])).or(spread) {
            Some(deviation) => Prediction::Normal { mean: value, deviation: deviation * preparation.target.scale() },
            None => Prediction::Number(value),
        }
    }
}
