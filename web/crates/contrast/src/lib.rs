//! The JavaScript interface of learned memories: a part of its own, fetched when it is needed, on the CPU. Its typed interface is `web/src/memory.ts`.
#![cfg(target_arch = "wasm32")]

use js_sys::{Float32Array, Uint32Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use meromorph_web_values::on_panic;

use meromorph::Device;
use meromorph::contrast::{self, ContrastOptions, Labelled, Learned, Learning, MemoryHeader, MetricParts, OPTIONS};
use meromorph::error::{Error, ErrorKind, Result};
use meromorph::train::{EpochReport, Event, Flow};
use meromorph_web_values::options::apply;
use meromorph_web_values::{Answer, object, strings, thrown};

/// A run that learns a memory.
#[wasm_bindgen]
pub struct Learner {
    learning: Learning,
    rows: Labelled,
    header: MemoryHeader,
    epochs: usize,
    goes_on: bool,
    /// Some of the rows to learn from, and of those held out: with them epochs are judged.
    judges: [Labelled; 2],
}

/// The rows that an epoch's accuracy is measured with, at most: those in memory, and those that are looked for.
const JUDGES: [usize; 2] = [2048, 256];

#[wasm_bindgen]
impl Learner {
    /// Sets up a run over rows x [classes, inputs]; a class is the place of its name in `names`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        x: Vec<f32>,
        inputs: usize,
        classes: Vec<u32>,
        names: Vec<String>,
        is_numeric: bool,
        options: &JsValue,
    ) -> Answer<Learner> {
        let rows = Labelled { inputs, x, classes, names };
        Self::over(rows, is_numeric, options).map_err(|error| thrown(of_call(error, "contrast", "learn")))
    }

    /// Runs an epoch. Returns its event, empty unless it `is_watched`; undefined once the run is over.
    pub async fn epoch(&mut self, is_watched: bool) -> Answer {
        self.next(is_watched).await.map_err(|error| thrown(of_call(error, "contrast", "learn")))
    }

    /// The memory of all rows, also those held out, under the map as it is now.
    pub async fn memory(&self) -> Answer<Memory> {
        let memory = self.learning.memory(&self.rows, self.header.clone()).await;
        memory.map(|memory| Memory { memory }).map_err(|error| thrown(of_call(error, "memory", "learn")))
    }
}

impl Learner {
    fn over(rows: Labelled, is_numeric: bool, options: &JsValue) -> Result<Self> {
        let options = options_of(options)?;
        rows.check()?;
        let [kept, held] = rows.split(options.test, options.seed);
        let learned = rows.subset(&kept);
        let learning = Learning::new(&Device::cpu(1), &learned, &options)?;
        let some = |of: &[usize], most: usize| {
            let some: Vec<usize> = of.iter().copied().step_by(of.len().div_ceil(most).max(1)).collect();
            rows.subset(&some)
        };
        let judges = [some(&kept, JUDGES[0]), some(&held, JUDGES[1])];
        let header = MemoryHeader { is_numeric, ..MemoryHeader::default() };
        Ok(Self { learning, header, epochs: options.epochs, goes_on: true, judges, rows })
    }

    async fn next(&mut self, is_watched: bool) -> Result<JsValue> {
        if !self.goes_on {
            return Ok(JsValue::UNDEFINED);
        }
        let mut report: Option<EpochReport> = None;
        let mut watch = |event: &Event<'_>| {
            if let Event::Epoch(epoch) = event {
                report = Some((*epoch).clone());
            }
            Flow::Continue
        };
        self.goes_on = self.learning.epoch(&mut watch).await?;
        let Some(report) = report else { return Ok(JsValue::UNDEFINED) };
        if !is_watched {
            return Ok(object([]));
        }
        let Learned { matrix, shift, metric, .. } = self.learning.learned().await?;
        let (accuracy, map) = (self.accuracy().await?, map_of([&matrix, &shift], &metric));
        Ok(object([
            ("epoch", (report.epoch as f64).into()),
            ("epochs", (self.epochs as f64).into()),
            ("loss", report.train_loss.into()),
            ("lr", report.lr.into()),
            ("accuracy", accuracy.map_or(JsValue::NULL, JsValue::from)),
            ("map", map),
        ]))
    }

    /// The share of the held rows whose class has the largest weight among the nearest; none without such rows.
    async fn accuracy(&self) -> Result<Option<f64>> {
        let [kept, held] = &self.judges;
        if held.classes.is_empty() {
            return Ok(None);
        }
        let memory = self.learning.memory(kept, MemoryHeader::default()).await?;
        Ok(Some(memory.judge(&held.x, &held.classes)?.accuracy))
    }
}

/// A learned memory.
#[wasm_bindgen]
pub struct Memory {
    memory: contrast::Memory,
}

#[wasm_bindgen]
impl Memory {
    /// The memory in the bytes of a file.
    pub fn load(bytes: &[u8]) -> Answer<Memory> {
        let memory = contrast::Memory::load(bytes, "loadMemory").map_err(thrown)?;
        if memory.header.through.is_some() {
            let what = "loadMemory: the memory was learned through a layer of a model: expected one of columns, or use mero recall --through";
            return Err(thrown(Error::usage(what)));
        }
        Ok(Memory { memory })
    }

    /// What it is, as an object.
    pub fn info(&self) -> JsValue {
        let contrast::Memory { header, map, shift, metric, classes, .. } = &self.memory;
        object([
            ("classes", strings(header.names.iter().map(String::as_str))),
            ("isNumeric", header.is_numeric.into()),
            ("columns", strings(header.columns.iter().map(String::as_str))),
            ("target", header.target.as_str().into()),
            ("rows", Uint32Array::from(&classes[..]).into()),
            ("reach", header.reach.into()),
            ("sharpness", header.sharpness.into()),
            ("map", map_of([map, shift], metric)),
        ])
    }

    /// The nearest `count` rows for each row of x [rows, inputs]: arrays of all neighbours, query by query, and for each query whether it is within reach,
    /// and the class with the largest weight.
    pub fn find(&self, x: &[f32], count: usize) -> Answer {
        let found = self.memory.find(x, count).map_err(|error| thrown(of_call(error, "memory", "find")))?;
        let all = || found.iter().flat_map(|one| &one.neighbours);
        let weights: Vec<f32> =
            found.iter().flat_map(|one| self.memory.weights(&one.neighbours)).map(|weight| weight as f32).collect();
        let first = |one: &contrast::Found| self.memory.shares(&one.neighbours).first().map_or(0, |share| share.0);
        let whole = |values: Vec<u32>| JsValue::from(Uint32Array::from(&values[..]));
        let real = |values: Vec<f32>| JsValue::from(Float32Array::from(&values[..]));
        Ok(object([
            ("rows", whole(all().map(|one| one.row as u32).collect())),
            ("distances", real(all().map(|one| one.distance).collect())),
            ("weights", real(weights)),
            ("known", whole(found.iter().map(|one| u32::from(one.is_known)).collect())),
            ("classes", whole(found.iter().map(first).collect())),
        ]))
    }

    /// The bytes of its file.
    pub fn save(&self) -> Answer<Vec<u8>> {
        self.memory.save().map_err(thrown)
    }
}

/// A map as an object.
fn map_of([matrix, shift]: [&[f32]; 2], MetricParts { weights, angles, planes }: &MetricParts) -> JsValue {
    let array = |values: &[f32]| JsValue::from(Float32Array::from(values));
    object([
        ("matrix", array(matrix)),
        ("shift", array(shift)),
        ("weights", array(weights)),
        ("angles", array(angles)),
        ("planes", Uint32Array::from(&planes[..]).into()),
    ])
}

/// The options of a run from a JavaScript object.
fn options_of(object: &JsValue) -> Result<ContrastOptions> {
    let mut options = ContrastOptions::default();
    apply(&OPTIONS, &mut options, object, |_| None)
        .and_then(|()| options.check())
        .map_err(|error| error.with_kind(ErrorKind::Usage))?;
    Ok(options)
}

/// An error of the engine's `part` as one of the function that was called.
fn of_call(error: Error, part: &str, call: &str) -> Error {
    let message = error.to_string();
    let inner = message.strip_prefix(part).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&message);
    Error::new(inner.to_owned()).with_kind(error.kind()).within(call)
}
