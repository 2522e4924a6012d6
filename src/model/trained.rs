//! A trained model: spec, parameters and the preparation of its table, in one safetensors file that every face reads and writes.

use super::predictor::Predictor;
use super::storage::Storage;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::files::tensors::{self, Array, CHECKSUM, Data, NO_CHECKSUM, Tensors};
use crate::host::{has_room, number};
use crate::json::{Json, Record};
use crate::loss::Loss;
use crate::nn::{Layout, Parameter, Spec};
use crate::record;
use crate::table::Preparation;

/// A trained model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its layers.
    pub spec: Spec,
    /// The loss it was trained with.
    pub loss: Loss,
    /// Its flat parameters, in the layout's order, of one model after another if several were trained at once.
    pub parameters: Vec<f32>,
    /// How rows of a table become inputs and outputs become predictions; absent for a model trained on arrays.
    pub preparation: Option<Preparation>,
    /// The type of the weights in the file that it was read from.
    pub storage: Storage,
    /// Version of the schema of its file.
    pub format: u32,
    /// The engine that wrote its file.
    pub engine: String,
    /// The type that the labels of its classes had where it was trained, such as `number`; absent if they were texts.
    pub labels: Option<String>,
    /// Its metrics on rows that it was not trained on, as JSON, where the record of the training is left out; for pages.
    pub(crate) quality: Option<String>,
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

/// The newest schema, which has functions of several inputs and with others inside. 4 has several models, 3 functions among the layers, 2 none of these; it also reads 1, which
/// has no checksum.
const FORMAT: u32 = 5;
/// The first schema in which tensors may have one more dimension, of several models.
const SEVERAL: u32 = 4;
/// The oldest schema that is written.
const PLAIN: u32 = 2;
/// The schemas without a checksum.
const UNCHECKED: u32 = 1;
/// Bytes of memory per parameter: loading holds up to four copies of them.
const BYTES_EACH: u64 = 16;
/// The metadata key of a model file.
const KEY: &str = "meromorph";
/// The metadata key of how it was trained.
const PROVENANCE: &str = "meromorph.training";
/// The metadata key of its metrics without that.
const QUALITY: &str = "meromorph.quality";
/// The metadata key of the type of its labels.
const LABELS: &str = "meromorph.labels";
/// The engine that writes files.
const ENGINE: &str = concat!("meromorph ", env!("CARGO_PKG_VERSION"));

impl Model {
    /// A model of flat parameters in the layout's order.
    pub fn new(spec: Spec, loss: Loss, parameters: Vec<f32>, preparation: Option<Preparation>) -> Self {
        let (labels, quality, provenance) = (None, None, None);
        let (storage, attached, format, engine) = (Storage::F32, Vec::new(), PLAIN, ENGINE.to_owned());
        let model = Self {
            spec,
            loss,
            parameters,
            preparation,
            storage,
            format,
            engine,
            labels,
            quality,
            provenance,
            attached,
        };
        Self { format: model.oldest_format(), ..model }
    }

    pub(crate) fn predictor(&self, device: &Device) -> Result<Predictor> {
        let each: Vec<&[f32]> = self.each_member().collect();
        let (total, got) = (Layout::of(&self.spec).total, self.parameters.len());
        if each.is_empty() || got != each.len() * total {
            return Err(Error::new(format!("predict: got {got} flat parameters, expected {total} for each model")));
        }
        Predictor::new(device, self.spec.clone().into(), &each, &self.loss)
    }

    /// How many models it is, which were trained at once from different seeds; its prediction is the mean of theirs.
    pub fn members(&self) -> usize {
        self.parameters.len().checked_div(Layout::of(&self.spec).total).unwrap_or(1)
    }

    /// Number of parameter values, of all of its models.
    pub fn parameter_count(&self) -> usize {
        self.members() * Layout::of(&self.spec).count()
    }

    /// One of its models, from 0.
    pub fn member(&self, at: usize) -> Self {
        let parameters = self.each_member().nth(at).unwrap_or_default().to_vec();
        let model = Self { parameters, ..self.clone() };
        Self { format: model.oldest_format(), ..model }
    }

    /// The flat parameters of each model.
    pub(crate) fn each_member(&self) -> impl Iterator<Item = &[f32]> {
        let (members, total) = (self.members(), Layout::of(&self.spec).total);
        (0..members).map(move |at| &self.parameters[at * total..(at + 1) * total])
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
            format: self.oldest_format(),
            engine: ENGINE.into(),
            spec: self.spec.clone(),
            loss: self.loss.clone(),
            preparation: self.preparation.clone(),
            storage,
        };
        let mut metadata = vec![(CHECKSUM.into(), NO_CHECKSUM.into()), (KEY.into(), header.to_json().to_string())];
        metadata.extend(self.provenance.iter().map(|text| (PROVENANCE.into(), text.clone())));
        metadata.extend(self.quality.iter().map(|text| (QUALITY.into(), text.clone())));
        metadata.extend(self.labels.iter().map(|text| (LABELS.into(), text.clone())));
        let mut content = Tensors { metadata, ..Tensors::default() };
        let layout = Layout::of(&self.spec);
        for parameter in &layout.parameters {
            let values: Vec<f32> = self.each_member().flat_map(|flat| layout.slice(parameter, flat)).copied().collect();
            storage.put(&mut content, parameter, self.members(), &values)?;
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
            let what = match content.text("meromorph memory") {
                Some(_) => "it is a memory of mero contrast, which mero recall takes, but not a meromorph model",
                None => "it is a safetensors file, but not a meromorph model",
            };
            return Err(err(what.into()));
        };
        let header = Json::parse(text).and_then(|json| Header::from_json(&json));
        let header = header.map_err(|error| err(format!("its model header is damaged: {error}")))?;
        if header.format > UNCHECKED && content.text(CHECKSUM).is_none() {
            return Err(err("is damaged: its checksum is missing".into()));
        }
        tensors::check_format(header.format, FORMAT).map_err(err)?;
        let each = header.spec.each_output().map_err(|error| error.within(source))?;
        if let Some(preparation) = &header.preparation {
            let outputs = header.spec.values().map_err(|error| error.within(source))?;
            preparation.check().map_err(|error| error.within(source))?;
            let (inputs, expected) = (preparation.inputs(), header.spec.inputs);
            if inputs != expected {
                return Err(err(format!("its columns give {inputs} inputs, its model takes {expected}")));
            }
            let needed = header.loss.outputs(preparation.target.outputs());
            if needed != outputs {
                return Err(err(format!("its target needs {needed} outputs, its model gives {outputs}")));
            }
        }
        let layout = Layout::of(&header.spec);
        let members = match layout.parameters.first().filter(|_| header.format >= SEVERAL) {
            Some(Parameter { name, shape, .. }) => match content.shape(name) {
                Some([members, own @ ..]) if own.len() == shape.rank() => *members.max(&1),
                _ => 1,
            },
            None => 1,
        };
        // The mean of several models is by the loss.
        let fits = |&columns: &usize| header.loss.outputs(header.loss.values(columns)) == columns;
        if members > 1 && !each.iter().all(fits) {
            let name = header.loss.text();
            return Err(err(format!("its loss \"{name}\" does not fit its outputs: got {each:?} columns")));
        }
        let needed = (layout.total as u64).saturating_mul(members as u64).saturating_mul(BYTES_EACH);
        has_room(needed, || format!("its {} parameters", layout.total)).map_err(err)?;
        // Every tensor is found in the file before anything of the size that the header claims is allocated.
        let mut tensors = Vec::new();
        for parameter in &layout.parameters {
            let values = header.storage.take(content, parameter, members).map_err(|error| error.within(source))?;
            if let Some(bad) = values.iter().find(|value| !value.is_finite()) {
                return Err(err(format!("parameter {} holds {}", parameter.name, number(*bad))));
            }
            tensors.push(values);
        }
        let mut parameters = vec![0.0; members * layout.total];
        for (parameter, values) in layout.parameters.iter().zip(tensors) {
            let each = values.chunks_exact(parameter.shape.len().max(1));
            for (flat, values) in parameters.chunks_exact_mut(layout.total.max(1)).zip(each) {
                flat[parameter.offset..][..values.len()].copy_from_slice(values);
            }
        }
        let mut attached = Vec::new();
        while let Some(Array { data: Data::U8(bytes), .. }) = content.tensors.remove(&fold_name(attached.len())) {
            attached.push(bytes);
        }
        let provenance = content.text(PROVENANCE).map(str::to_owned);
        let [labels, quality] = [LABELS, QUALITY].map(|key| content.text(key).map(str::to_owned));
        let Header { spec, loss, preparation, storage, format, engine } = header;
        let model = Self::new(spec, loss, parameters, preparation);
        Ok(Self { storage, format, engine, labels, quality, provenance, attached, ..model })
    }

    /// The oldest schema that holds it, so that engines before the newest one read what they can.
    fn oldest_format(&self) -> u32 {
        let of_layers = self.spec.layers.iter().map(|layer| layer.as_kind().format()).max().unwrap_or(PLAIN);
        if self.members() > 1 { of_layers.max(SEVERAL) } else { of_layers }
    }

    /// How rows of a table are prepared. Errors for a model trained on arrays.
    pub fn preparation(&self) -> Result<&Preparation> {
        self.preparation
            .as_ref()
            .ok_or_else(|| Error::new("predict: the model was trained on arrays and has no column names"))
    }

    /// With the models of the folds of a cross-validation, which intervals need.
    pub fn with_folds(self, folds: &[Self]) -> Result<Self> {
        let attached = folds.iter().map(Self::save).collect::<Result<_>>()?;
        Ok(Self { attached, ..self })
    }

    /// The models of the folds.
    pub fn folds(&self) -> Result<Vec<Self>> {
        self.attached.iter().map(|bytes| Self::load(bytes, "a model of a fold")).collect()
    }
}

/// The tensor that holds the file of a fold's model.
fn fold_name(at: usize) -> String {
    format!("fold.{at}")
}
