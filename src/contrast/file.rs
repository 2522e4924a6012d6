//! The file of a memory, and its map as a model for files of other programs.

use super::map::MetricParts;
use super::memory::{Memory, MemoryHeader};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::files::tensors::{self, Array, CHECKSUM, Data, NO_CHECKSUM, Tensors};
use crate::json::{Json, Record};
use crate::loss::Loss;
use crate::model::{Initial, Model, Network};
use crate::ops;

/// The newest format of the file, of memories whose coordinates a model makes. Others are written in format 1, which engines before it read; the first files
/// have no number.
const FORMAT: u32 = 2;
/// The format without a model.
const PLAIN: u32 = 1;
/// The text of the file's metadata that tells a memory from a model.
const KEY: &str = "meromorph memory";
/// The field of the header with the number of the format.
const NUMBER: &str = "format";

impl Memory {
    /// The map as a model, from rows [rows, inputs] to coordinates A (x - shift) [rows, outputs], such as an ONNX file is written of.
    pub async fn map_model(&self) -> Result<Model> {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let parameters = [
            ("map", Initial::values([outputs, inputs], self.map.clone())),
            ("shift", Initial::values([1, inputs], self.shift.clone())),
        ];
        let network = Network::function(inputs, parameters, |p, x| {
            ops::product(&ops::sub(x, &p["shift"]), &p["map"], false, true)
        });
        let spec = network.traced(&Device::cpu(1)).await?;
        // Its outputs are numbers, as those of a mean squared error are.
        Ok(Model::new(spec, Loss::mse(), network.initialise(0)?, None))
    }

    /// The file's bytes (safetensors).
    pub fn save(&self) -> Result<Vec<u8>> {
        let format = if self.header.through.is_some() { FORMAT } else { PLAIN };
        let header = match self.header.to_json() {
            Json::Fields(fields) => Json::Fields([vec![(NUMBER.to_owned(), format.to_json())], fields].concat()),
            _ => unreachable!("a record has fields"),
        };
        let metadata = vec![(CHECKSUM.into(), NO_CHECKSUM.into()), (KEY.into(), header.to_string())];
        let mut content = Tensors { metadata, ..Tensors::default() };
        content.put_f32("map", &[self.outputs(), self.inputs()], self.map.clone());
        content.put_f32("shift", &[self.inputs()], self.shift.clone());
        let MetricParts { weights, angles, planes } = &self.metric;
        for (name, values) in [("weights", weights), ("angles", angles)] {
            if !values.is_empty() {
                content.put_f32(name, &[values.len()], values.clone());
            }
        }
        let whole = |shape, values: &[u32]| Array { shape, data: Data::U32(values.to_vec()) };
        if !planes.is_empty() {
            content.tensors.insert("planes".into(), whole(vec![planes.len() / 2, 2], planes));
        }
        content.tensors.insert("classes".into(), whole(vec![self.rows()], &self.classes));
        tensors::write_with(&content, &[("keys", &[self.outputs(), self.rows()], &self.keys)])
    }

    /// Reads the file of a memory; `source` names it in messages. Errors if it is damaged or another kind of file.
    pub fn load(bytes: &[u8], source: &str) -> Result<Self> {
        let mut content = tensors::read(bytes, source)?;
        let wrong = |what: &str| Error::new(format!("{source}: {what}"));
        let text = content
            .text(KEY)
            .ok_or_else(|| wrong("it holds no memory: expected a file that mero contrast has written"))?;
        let json = Json::parse(text).map_err(|error| error.within(source))?;
        let format = json.get(NUMBER).map_or(Ok(PLAIN), u32::from_json).map_err(|error| error.within(source))?;
        tensors::check_format(format, FORMAT).map_err(|what| wrong(&what))?;
        let header = MemoryHeader::from_json(&json).map_err(|error| error.within(source))?;
        let shape = |name: &str| content.shape(name).map(<[usize]>::to_vec).unwrap_or_default();
        let ([outputs, inputs], [_, rows]) = (&shape("map")[..], &shape("keys")[..]) else {
            return Err(wrong("the memory has no map or no keys: expected both with two axes"));
        };
        let (outputs, inputs, rows) = (*outputs, *inputs, *rows);
        if [outputs, inputs, rows].contains(&0) {
            return Err(wrong("the memory is empty: expected rows, coordinates and a map"));
        }
        let map = content.take_f32("map", &[outputs, inputs])?;
        let shift = content.take_f32("shift", &[inputs])?;
        let keys = content.take_f32("keys", &[outputs, rows])?;
        let Some(Array { shape: found, data: Data::U32(classes) }) = content.tensors.remove("classes") else {
            return Err(wrong("the memory has no classes"));
        };
        if found != [rows] || classes.iter().any(|class| *class as usize >= header.names.len()) {
            return Err(wrong("the classes of the memory do not fit its rows and names"));
        }
        let metric = metric_of(&mut content, inputs, source)?;
        let numbers = [&map, &shift, &keys, &metric.weights, &metric.angles].into_iter().flatten();
        if numbers.copied().any(|x| !x.is_finite()) || !header.reach.is_finite() || !header.sharpness.is_finite() {
            return Err(wrong("the memory holds a number that is not finite"));
        }
        if !header.columns.is_empty() && header.columns.len() != inputs {
            return Err(wrong("the names of the columns do not fit the map"));
        }
        Ok(Self { header, map, shift, metric, classes, keys })
    }
}

/// What the map of a metric of so many coordinates is made of, if the file says so.
fn metric_of(content: &mut Tensors, inputs: usize, source: &str) -> Result<MetricParts> {
    let angles = content.shape("angles").map(|shape| shape.iter().product());
    let has_weights = content.shape("weights").is_some();
    let mut take = |name: &str, length: Option<usize>| {
        length.map_or_else(|| Ok(Vec::new()), |length| content.take_f32(name, &[length]))
    };
    let (weights, angles) = (take("weights", has_weights.then_some(inputs))?, take("angles", angles)?);
    let planes = match content.tensors.remove("planes") {
        Some(Array { shape, data: Data::U32(planes) }) if shape == [angles.len(), 2] => planes,
        None if angles.is_empty() => Vec::new(),
        _ => return Err(Error::new(format!("{source}: the planes of the memory do not fit its angles"))),
    };
    if planes.iter().any(|at| *at as usize >= inputs) {
        return Err(Error::new(format!("{source}: the planes of the memory do not fit its map")));
    }
    Ok(MetricParts { weights, angles, planes })
}
