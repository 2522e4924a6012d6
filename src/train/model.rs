//! A trained model: spec, parameters and the preparation of its table, in one safetensors file that every face reads and writes.

use super::metrics::largest;
use super::predictor::{Factor, Predictor};
use super::storage::Storage;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::{MEMORY_BYTES, number};
use crate::io::tensors::{self, Tensors};
use crate::io::{Preparation, Table};
use crate::json::{Json, Record};
use crate::kernels::mlp::Precision;
use crate::kernels::strict::Decoded;
use crate::loss::Loss;
use crate::nn::{Layout, Spec};
use crate::record;

/// A model that predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What it is made of.
    pub spec: Spec,
    /// What it was trained to make small.
    pub loss: Loss,
    /// Its flat parameters, in the layout's order.
    pub parameters: Vec<f32>,
    /// How a table becomes its inputs and its outputs a prediction; absent for a model trained on bare arrays.
    pub preparation: Option<Preparation>,
    /// What the weights were in the file that it was read from.
    pub storage: Storage,
}

/// How a model is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct PredictOptions<'a> {
    /// Numbers for each row: ⊥ wherever one is near 0. For models with poles.
    pub factors: &'a [Factor],
    /// What activations are. f16 is for plain perceptrons of up to 16 layers, 128 wide: what is ⊥ is decided in f32.
    pub precision: Precision,
}

/// What the file says in words, beside the tensors.
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

/// The schema this engine writes and reads.
const FORMAT: u32 = 1;
/// Words of parameters, at most: they are in memory as the file has them, as they are read, among the others and on the device.
const MOST_WORDS: u64 = MEMORY_BYTES / 16;
/// The metadata key that marks a file as ours.
const KEY: &str = "meromorph";

impl Model {
    /// A model of flat parameters in the layout's order.
    pub fn new(spec: Spec, loss: Loss, parameters: Vec<f32>, preparation: Option<Preparation>) -> Self {
        Self { spec, loss, parameters, preparation, storage: Storage::F32 }
    }

    fn predictor(&self, device: &Device) -> Result<Predictor> {
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

    /// Reads a model file, whatever its weights are kept as; `source` names it in messages.
    pub fn load(bytes: &[u8], source: &str) -> Result<Self> {
        let mut content = tensors::read(bytes, source)?;
        Self::from_tensors(&mut content, source)
    }

    pub(super) fn to_tensors(&self, storage: Storage) -> Result<Tensors> {
        let header = Header {
            format: FORMAT,
            engine: concat!("meromorph ", env!("CARGO_PKG_VERSION")).into(),
            spec: self.spec.clone(),
            loss: self.loss.clone(),
            preparation: self.preparation.clone(),
            storage,
        };
        let metadata = vec![(KEY.into(), header.to_json().to_string())];
        let mut content = Tensors { metadata, ..Tensors::default() };
        let layout = Layout::of(&self.spec);
        for parameter in &layout.parameters {
            storage.put(&mut content, parameter, layout.slice(parameter, &self.parameters))?;
        }
        Ok(content)
    }

    pub(super) fn from_tensors(content: &mut Tensors, source: &str) -> Result<Self> {
        let told = |what: String| Error::new(format!("{source}: {what}"));
        let Some(text) = content.text(KEY) else {
            return Err(told("it is a safetensors file, but not a meromorph model".into()));
        };
        let header = Json::parse(text).and_then(|json| Header::from_json(&json));
        let header = header.map_err(|error| told(format!("its model header is damaged: {error}")))?;
        if header.format != FORMAT {
            return Err(told(format!(
                "its format is {}, this engine ({}) reads {FORMAT}",
                header.format,
                env!("CARGO_PKG_VERSION")
            )));
        }
        let outputs = header.spec.values().map_err(|error| error.within(source))?;
        if let Some(preparation) = &header.preparation {
            preparation.check().map_err(|error| error.within(source))?;
            let (inputs, wanted) = (preparation.inputs(), header.spec.inputs);
            if inputs != wanted {
                return Err(told(format!("its columns give {inputs} inputs, its model takes {wanted}")));
            }
            let classes = preparation.target.outputs();
            if classes != outputs {
                return Err(told(format!("its target needs {classes} outputs, its model gives {outputs}")));
            }
        }
        let layout = Layout::of(&header.spec);
        if layout.total as u64 > MOST_WORDS {
            return Err(told(format!(
                "its parameters are {} words, of which {MOST_WORDS} at most are read",
                layout.total
            )));
        }
        // Every tensor is found in the file before anything of the size that the header claims is allocated.
        let mut tensors = Vec::new();
        for parameter in &layout.parameters {
            let values = header.storage.take(content, parameter).map_err(|error| error.within(source))?;
            if let Some(bad) = values.iter().find(|value| !value.is_finite()) {
                return Err(told(format!("parameter {} holds {}", parameter.name, number(*bad))));
            }
            tensors.push(values);
        }
        let mut parameters = vec![0.0; layout.total];
        for (parameter, values) in layout.parameters.iter().zip(tensors) {
            parameters[parameter.offset..parameter.offset + values.len()].copy_from_slice(&values);
        }
        let Header { spec, loss, preparation, storage, .. } = header;
        Ok(Self { storage, ..Self::new(spec, loss, parameters, preparation) })
    }

    /// The raw outputs [rows, outputs] for encoded inputs [rows, inputs].
    pub async fn outputs(&self, device: &Device, x: &[f32]) -> Result<Vec<f32>> {
        self.outputs_in(device, x, Precision::F32).await
    }

    /// The same with activations in `precision`. Refuses f16 for any but plain perceptrons of up to 16 layers, 128 wide,
    /// and where a row goes beyond its range.
    pub async fn outputs_in(&self, device: &Device, x: &[f32], precision: Precision) -> Result<Vec<f32>> {
        self.predictor(device)?.keeping(precision)?.run(x).await
    }

    /// Decoded pairs for encoded inputs [rows, inputs]; an error for a model that makes none.
    pub async fn decoded(&self, device: &Device, x: &[f32]) -> Result<Decoded> {
        self.predictor(device)?.decode(x, &[]).await
    }

    /// The same, and ⊥ wherever one of up to four validity factors is near 0: numbers for each value, each factor with its threshold.
    pub async fn decoded_where(&self, device: &Device, x: &[f32], factors: &[Factor]) -> Result<Decoded> {
        self.predictor(device)?.decode(x, factors).await
    }

    /// Encodes a table, predicts every row and tells each in the target's own terms.
    pub async fn predict(&self, device: &Device, table: &Table) -> Result<Vec<Prediction>> {
        self.predict_as(device, table, PredictOptions::default()).await
    }

    /// The same as asked. Refuses factors for a model that cannot say ⊥, and f16 for one that can.
    pub async fn predict_as(
        &self,
        device: &Device,
        table: &Table,
        asked: PredictOptions<'_>,
    ) -> Result<Vec<Prediction>> {
        let PredictOptions { factors, precision } = asked;
        let preparation = self.preparation()?;
        let rows: Vec<u32> = (0..table.rows() as u32).collect();
        let x = preparation.encode(table, &rows)?;
        let predictor = self.predictor(device)?.keeping(precision)?;
        if self.spec.head().is_some() {
            let decoded = predictor.decode(&x, factors).await?;
            let tell = |at: usize| Prediction::Decoded {
                value: (!decoded.is_bottom(at)).then(|| preparation.decode_target(decoded.value[at])),
                is_gap: decoded.gap[at],
                is_fault: decoded.is_fault(at),
            };
            return Ok((0..decoded.value.len()).map(tell).collect());
        }
        if !factors.is_empty() {
            return Err(Error::new(
                "predict: validity factors belong to models with poles; this one always gives a value",
            ));
        }
        let outputs = predictor.run(&x).await?;
        let levels = preparation.target.levels();
        let tell = |row: &[f32]| match levels {
            [] => Prediction::Number(preparation.decode_target(row[0])),
            levels => {
                let class = largest(row);
                Prediction::Class { name: levels[class].clone(), probability: self.probability(row, class) }
            }
        };
        Ok(outputs.chunks_exact(preparation.target.outputs()).map(tell).collect())
    }

    /// The probability of every class for every row of a table, [rows, classes]; an error for a model of a number.
    pub async fn probabilities(&self, device: &Device, table: &Table) -> Result<Vec<f64>> {
        let preparation = self.preparation()?;
        let classes = preparation.target.levels().len();
        if classes == 0 {
            let name = preparation.target.name();
            return Err(Error::new(format!("predict: column \"{name}\" is a number; only classes have probabilities")));
        }
        let outputs = self.outputs(device, &preparation.encode(table, &table.every_row())?).await?;
        let of_row = |row: &[f32]| (0..classes).map(|class| self.probability(row, class)).collect::<Vec<_>>();
        Ok(outputs.chunks_exact(classes).flat_map(of_row).collect())
    }

    /// Of one class from a row's outputs: softmax, or sigmoid where each class was learnt against the rest.
    fn probability(&self, row: &[f32], class: usize) -> f64 {
        let own = row[class];
        let against = match &self.loss {
            Loss::Pointwise(_) => (-f64::from(own)).exp(),
            _ => row.iter().map(|&z| f64::from(z - own).exp()).sum::<f64>() - 1.0,
        };
        1.0 / (1.0 + against)
    }

    /// How its table is prepared, or an error where it was trained on bare arrays.
    pub fn preparation(&self) -> Result<&Preparation> {
        self.preparation
            .as_ref()
            .ok_or_else(|| Error::new("predict: the model was trained on bare arrays and knows no columns"))
    }
}

/// What a model says of one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// A number in the target's units.
    Number(f64),
    /// A number in the target's units, or ⊥.
    Decoded {
        /// The number; `None` for ⊥: the model says that there is none.
        value: Option<f64>,
        /// Whether it is so near a pole that it deserves doubt.
        is_gap: bool,
        /// Whether it is ⊥ because something went wrong, not because there is a pole.
        is_fault: bool,
    },
    /// The likeliest class and its probability: softmax, or sigmoid where each class was learnt against the rest.
    Class {
        /// Its name.
        name: String,
        /// In (0, 1].
        probability: f64,
    },
}
