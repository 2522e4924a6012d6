//! A trained model: spec, parameters and the preparation of its table, in one safetensors file that every face reads and writes.

use super::prediction::{Follow, Noted, PredictOptions, Prediction};
use super::predictor::{Factor, Predictor, ROWS_AT_A_TIME};
use super::storage::Storage;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::files::Table;
use crate::files::tensors::{self, Array, CHECKSUM, Data, NO_CHECKSUM, Tensors};
use crate::host::{memory_bytes, number};
use crate::json::{Json, Record};
use crate::kernels::mlp::Precision;
use crate::kernels::strict::Decoded;
use crate::loss::Loss;
use crate::math::largest;
use crate::nn::{Layout, Spec};
use crate::record;
use crate::table::{Encoded, Note, NoteKind, Preparation, Unknown};

/// A trained model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its layers.
    pub spec: Spec,
    /// The loss it was trained with.
    pub loss: Loss,
    /// Its flat parameters, in the layout's order.
    pub parameters: Vec<f32>,
    /// How rows of a table become inputs and outputs become predictions; absent for a model trained on arrays.
    pub preparation: Option<Preparation>,
    /// The type of the weights in the file that it was read from.
    pub storage: Storage,
    /// Version of the schema of its file.
    pub format: u32,
    /// The engine that wrote its file.
    pub engine: String,
    /// How it was trained, as text; see [`Model::provenance`].
    pub(crate) provenance: Option<String>,
    /// The files of the models of its folds; see [`Model::folds`].
    pub(crate) attached: Vec<Vec<u8>>,
}

/// Everything in the file that is not a tensor.
struct Header {
    /// Version of the file's schema.
    format: u32,
    /// The engine that wrote it.
    engine: String,
    spec: Spec,
    loss: Loss,
    preparation: Option<Preparation>,
    storage: Storage,
}

record! { Header { format, engine, spec, loss, preparation, storage = Storage::F32 } }

/// The schema this engine writes. It also reads 1, which is the same without a checksum.
const FORMAT: u32 = 2;
/// The schemas without a checksum.
const UNCHECKED: u32 = 1;
/// Bytes of memory per parameter: loading holds up to four copies of them.
const BYTES_EACH: u64 = 16;
/// The metadata key of a model file.
const KEY: &str = "meromorph";
/// The metadata key of how it was trained.
const PROVENANCE: &str = "meromorph.training";
/// The engine that writes files.
const ENGINE: &str = concat!("meromorph ", env!("CARGO_PKG_VERSION"));

impl Model {
    /// A model of flat parameters in the layout's order.
    pub fn new(spec: Spec, loss: Loss, parameters: Vec<f32>, preparation: Option<Preparation>) -> Self {
        let (format, engine) = (FORMAT, ENGINE.to_owned());
        let (storage, provenance, attached) = (Storage::F32, None, Vec::new());
        Self { spec, loss, parameters, preparation, storage, format, engine, provenance, attached }
    }

    pub(crate) fn predictor(&self, device: &Device) -> Result<Predictor> {
        Predictor::new(device, self.spec.clone().into(), &self.parameters)
    }

    /// The file's bytes, weights as f32.
    pub fn save(&self) -> Result<Vec<u8>> {
        self.save_as(Storage::F32)
    }

    /// The file's bytes, weights as `storage`.
    pub fn save_as(&self, storage: Storage) -> Result<Vec<u8>> {
        tensors::write(&self.to_tensors(storage)?)
    }

    /// Reads a model file with weights of any storage type; `source` names it in messages. Errors if the file is damaged.
    pub fn load(bytes: &[u8], source: &str) -> Result<Self> {
        let mut content = tensors::read(bytes, source)?;
        Self::from_tensors(&mut content, source)
    }

    pub(crate) fn to_tensors(&self, storage: Storage) -> Result<Tensors> {
        let header = Header {
            format: FORMAT,
            engine: ENGINE.into(),
            spec: self.spec.clone(),
            loss: self.loss.clone(),
            preparation: self.preparation.clone(),
            storage,
        };
        let mut metadata = vec![(CHECKSUM.into(), NO_CHECKSUM.into()), (KEY.into(), header.to_json().to_string())];
        metadata.extend(self.provenance.iter().map(|text| (PROVENANCE.into(), text.clone())));
        let mut content = Tensors { metadata, ..Tensors::default() };
        let layout = Layout::of(&self.spec);
        for parameter in &layout.parameters {
            storage.put(&mut content, parameter, layout.slice(parameter, &self.parameters))?;
        }
        for (at, bytes) in self.attached.iter().enumerate() {
            let array = Array { shape: vec![bytes.len()], data: Data::U8(bytes.clone()) };
            content.tensors.insert(fold_name(at), array);
        }
        Ok(content)
    }

    pub(crate) fn from_tensors(content: &mut Tensors, source: &str) -> Result<Self> {
        let err = |what: String| Error::new(format!("{source}: {what}"));
        let Some(text) = content.text(KEY) else {
            return Err(err("it is a safetensors file, but not a meromorph model".into()));
        };
        let header = Json::parse(text).and_then(|json| Header::from_json(&json));
        let header = header.map_err(|error| err(format!("its model header is damaged: {error}")))?;
        if header.format > UNCHECKED && content.text(CHECKSUM).is_none() {
            return Err(err("is damaged: its checksum is missing".into()));
        }
        if header.format > FORMAT {
            return Err(err(format!(
                "its format is {}, this engine ({}) reads up to {FORMAT}",
                header.format,
                env!("CARGO_PKG_VERSION")
            )));
        }
        let outputs = header.spec.values().map_err(|error| error.within(source))?;
        if let Some(preparation) = &header.preparation {
            preparation.check().map_err(|error| error.within(source))?;
            let (inputs, wanted) = (preparation.inputs(), header.spec.inputs);
            if inputs != wanted {
                return Err(err(format!("its columns give {inputs} inputs, its model takes {wanted}")));
            }
            let needed = header.loss.outputs(preparation.target.outputs());
            if needed != outputs {
                return Err(err(format!("its target needs {needed} outputs, its model gives {outputs}")));
            }
        }
        let layout = Layout::of(&header.spec);
        let most = memory_bytes() / BYTES_EACH;
        if layout.total as u64 > most {
            return Err(err(format!("its parameters are {} words, of which {most} at most are read", layout.total)));
        }
        // Every tensor is found in the file before anything of the size that the header claims is allocated.
        let mut tensors = Vec::new();
        for parameter in &layout.parameters {
            let values = header.storage.take(content, parameter).map_err(|error| error.within(source))?;
            if let Some(bad) = values.iter().find(|value| !value.is_finite()) {
                return Err(err(format!("parameter {} holds {}", parameter.name, number(*bad))));
            }
            tensors.push(values);
        }
        let mut parameters = vec![0.0; layout.total];
        for (parameter, values) in layout.parameters.iter().zip(tensors) {
            parameters[parameter.offset..parameter.offset + values.len()].copy_from_slice(&values);
        }
        let mut attached = Vec::new();
        while let Some(Array { data: Data::U8(bytes), .. }) = content.tensors.remove(&fold_name(attached.len())) {
            attached.push(bytes);
        }
        let provenance = content.text(PROVENANCE).map(str::to_owned);
        let Header { spec, loss, preparation, storage, format, engine } = header;
        Ok(Self { storage, format, engine, provenance, attached, ..Self::new(spec, loss, parameters, preparation) })
    }

    /// The raw outputs [rows, outputs] for encoded inputs [rows, inputs].
    pub async fn outputs(&self, device: &Device, x: &[f32]) -> Result<Vec<f32>> {
        self.outputs_in(device, x, Precision::F32).await
    }

    /// The same with activations in `precision`. For f16 errors if the model is not a plain perceptron of up to 16 layers (on a GPU 128 wide), or
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
        let (mut predictions, mut probabilities) = self.predict_encoded(by, &x, options).await?;
        let classes = preparation.target.levels().len();
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
        for part in x.chunks(ROWS_AT_A_TIME * inputs) {
            outputs.extend(predictor.run(part).await?);
            if let Some(Follow(follow)) = options.follow {
                follow(outputs.len() / width, x.len() / inputs);
            }
        }
        let (levels, link) = (preparation.target.levels(), self.loss.link());
        let mut probabilities = Vec::with_capacity(if levels.is_empty() { 0 } else { outputs.len() });
        let prediction = |row: &[f32]| {
            let is_finite = row.iter().all(|z| z.is_finite());
            if levels.is_empty() {
                return if is_finite { self.decoded_number(preparation, row) } else { Prediction::None };
            }
            let (class, start) = (largest(row), probabilities.len());
            link.push_probabilities(row, &mut probabilities);
            if is_finite {
                return Prediction::Class { name: levels[class].clone(), probability: probabilities[start + class] };
            }
            probabilities[start..].fill(f64::NAN);
            Prediction::None
        };
        let predictions = outputs.chunks_exact(width).map(prediction).collect();
        Ok((predictions, probabilities))
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

    /// The probability of every class, [rows, classes], from raw outputs of that shape: softmax, or sigmoid if each class was trained
    /// against the rest.
    pub fn class_probabilities(&self, outputs: &[f32], classes: usize) -> Vec<f64> {
        let mut all = Vec::with_capacity(outputs.len());
        outputs.chunks_exact(classes).for_each(|row| self.loss.link().push_probabilities(row, &mut all));
        all
    }

    /// How rows of a table are prepared. Errors for a model trained on arrays.
    pub fn preparation(&self) -> Result<&Preparation> {
        self.preparation
            .as_ref()
            .ok_or_else(|| Error::new("predict: the model was trained on arrays and has no column names"))
    }
}

/// The tensor that holds the file of a fold's model.
fn fold_name(at: usize) -> String {
    format!("fold.{at}")
}
