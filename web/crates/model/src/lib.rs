//! A trained model for JavaScript: its description, predictions and file.
#![cfg(target_arch = "wasm32")]

use meromorph::model;
use std::cell::OnceCell;
use std::pin::Pin;
use std::rc::Rc;

use js_sys::{Array, Float64Array, Uint8Array, Uint32Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use meromorph::Device;
use meromorph::error::Result;
use meromorph::files::{Format, Header, Table};
use meromorph::model::{Noted, Prediction, Ready};
use meromorph::run::Predicting;
use meromorph::table::{Feature, Note, NoteKind, NumberFeature, Preparation, Seen, Unknown};
use meromorph_web_values::{Answer, get, object, set, strings, thrown};

/// How a part of the browser build reads what is to be predicted.
#[derive(Clone, Copy)]
pub struct Reading {
    /// How the table was written that a model learnt from.
    pub own: fn(&model::Model) -> Format,
    /// How a table is written, from the option `reading` of the named call, over how another table was written.
    pub format: fn(&str, &JsValue, &Format) -> Result<Format>,
    /// The table in a value, named after its source.
    pub rows: fn(&JsValue, &str, &Format, &Preparation) -> Result<Table>,
    /// How rows are predicted, from the option `how`.
    pub predicting: fn(&JsValue) -> Result<Predicting>,
    /// Intervals around predictions, in a part that has them.
    pub intervals: Option<Intervals>,
}

/// The intervals of the rows of a table, by a level and what happens to unknown categories.
pub type Intervals = for<'a> fn(&'a model::Model, &'a Device, &'a Table, (f64, Unknown)) -> PerRow<'a>;
/// An interval for each row, `None` without a prediction.
pub type PerRow<'a> = Pin<Box<dyn Future<Output = Result<Vec<Option<[f64; 2]>>>> + 'a>>;

/// A trained model.
#[wasm_bindgen]
pub struct Model {
    device: Device,
    model: Rc<model::Model>,
    reading: Reading,
    /// Made by the first prediction.
    ready: OnceCell<Ready>,
}

impl Model {
    /// The model on a device.
    pub fn new(device: &Device, model: model::Model, reading: Reading) -> Self {
        Self { device: device.clone(), model: Rc::new(model), reading, ready: OnceCell::new() }
    }

    /// The device that predicts.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The engine's model.
    pub fn model(&self) -> &Rc<model::Model> {
        &self.model
    }

    /// How the table was written that it learnt from: new ones are read in the same way.
    pub fn own_format(&self) -> Format {
        (self.reading.own)(&self.model)
    }

    fn ready(&self) -> Result<&Ready> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let ready = Ready::new(self.model.clone(), &self.device)?;
        Ok(self.ready.get_or_init(|| ready))
    }

    /// Predictions, with what was noticed.
    async fn noted(&self, x: &JsValue, source: &str, options: &JsValue) -> Result<(Noted, Vec<[f64; 2]>)> {
        let preparation = self.model.preparation()?;
        let format = (self.reading.format)("predict", &get(options, "reading"), &self.own_format())?;
        let predicting = (self.reading.predicting)(&get(options, "how")).map_err(|error| error.within("predict"))?;
        let table = (self.reading.rows)(x, source, &format, preparation)?;
        let noted = self.ready()?.predict(&table, predicting.options()).await?;
        let intervals = match self.reading.intervals.zip(predicting.interval) {
            Some((of, level)) => of(&self.model, &self.device, &table, (level, predicting.unknown)).await,
            None => Ok(Vec::new()),
        };
        let intervals = intervals.map_err(|error| error.within("predict"))?;
        Ok((noted, intervals.into_iter().map(|interval| interval.unwrap_or([f64::NAN; 2])).collect()))
    }
}

#[wasm_bindgen]
impl Model {
    /// The description of the model, as an object.
    pub fn info(&self) -> Answer {
        let preparation = self.model.preparation().map_err(thrown)?;
        let target = &preparation.target;
        let info = object([
            ("task", target.task().name().into()),
            ("target", target.name().into()),
            ("columns", strings(preparation.names())),
            ("classes", strings(target.levels().iter().map(String::as_str))),
            ("inputs", preparation.features.iter().map(input).collect::<Array>().into()),
            ("reading", reading_of(&self.own_format())),
            ("members", (self.model.members() as f64).into()),
            ("parameters", (self.model.parameter_count() as f64).into()),
        ]);
        if let Some(labels) = &self.model.labels {
            set(&info, "labels", &labels.as_str().into());
        }
        Ok(info)
    }

    /// Notes in the model, and so in its file, the type that the labels of its classes had where it was trained.
    pub fn set_labels(&mut self, labels: String) {
        Rc::make_mut(&mut self.model).labels = Some(labels);
    }

    /// Predicts every row: `{ value }` of numbers, with `deviation` if the model predicts standard deviations, `{ value, probability, probabilities }` of classes, the last [rows, classes], or for a
    /// model with poles `{ value, bottom, gap, fault }`, with flags 1 where there is no value, where it is near a pole, and at numerical
    /// faults. A row without a prediction has NaN or null. What was noticed about cells is in `noteRows`, `noteColumns` and `noteKinds` (0:
    /// outside the training range, 1: unseen, 2: unusable, 3: filled in), and the reasons for kind 2 in `noteTexts`. `options` may hold
    /// `how`, with the options of a prediction, and `reading`. With `interval` there are `lower` and `upper`.
    pub async fn predict(&self, x: JsValue, source: String, options: JsValue) -> Answer {
        let (noted, intervals) = self.noted(&x, &source, &options).await.map_err(thrown)?;
        let Noted { predictions, notes, probabilities } = noted;
        let (mut names, mut values) = (Array::new(), Vec::with_capacity(predictions.len()));
        let (mut deviations, mut flags) = (Vec::new(), [const { Vec::new() }; 3]);
        let has_poles = self.model.spec.head().is_some();
        for prediction in &predictions {
            match prediction {
                Prediction::Number(value) => values.push(*value),
                Prediction::Normal { mean, deviation } => {
                    values.push(*mean);
                    deviations.push(*deviation);
                }
                Prediction::Decoded { value, is_gap, is_fault } => {
                    values.push(value.unwrap_or(0.0));
                    for (flags, is_set) in flags.iter_mut().zip([value.is_none(), *is_gap, *is_fault]) {
                        flags.push(u8::from(is_set));
                    }
                }
                Prediction::Class { name, probability } => {
                    names.extend([JsValue::from_str(name)]);
                    values.push(*probability);
                }
                Prediction::None => {
                    names.extend([JsValue::NULL]);
                    values.push(f64::NAN);
                    deviations.push(f64::NAN);
                    if has_poles {
                        flags.iter_mut().zip([1, 0, 1]).for_each(|(flags, flag)| flags.push(flag));
                    }
                }
            }
        }
        let values = JsValue::from(Float64Array::from(values.as_slice()));
        let answer = with_notes(&notes);
        if !intervals.is_empty() {
            for (name, end) in [("lower", 0), ("upper", 1)] {
                let ends: Vec<f64> = intervals.iter().map(|interval| interval[end]).collect();
                set(&answer, name, &Float64Array::from(ends.as_slice()));
            }
        }
        if self.model.preparation().map_err(thrown)?.target.levels().is_empty() {
            set(&answer, "value", &values);
        } else {
            set(&answer, "value", &names);
            set(&answer, "probability", &values);
            set(&answer, "probabilities", &Float64Array::from(probabilities.as_slice()));
        }
        if self.model.has_deviation() {
            set(&answer, "deviation", &Float64Array::from(deviations.as_slice()));
        }
        if has_poles {
            for (name, flags) in ["bottom", "gap", "fault"].into_iter().zip(flags) {
                set(&answer, name, &Uint8Array::from(flags.as_slice()));
            }
        }
        Ok(answer)
    }

    /// The bytes of the model file.
    pub fn save(&self) -> Answer<Uint8Array> {
        Ok(Uint8Array::from(self.model.save().map_err(thrown)?.as_slice()))
    }
}

/// An object with what was noticed about cells.
fn with_notes(notes: &[Note]) -> JsValue {
    let rows: Vec<u32> = notes.iter().map(|note| note.row as u32).collect();
    let columns: Vec<u32> = notes.iter().map(|note| note.feature as u32).collect();
    let (mut kinds, mut texts) = (Vec::with_capacity(notes.len()), Vec::new());
    for note in notes {
        kinds.push(match &note.kind {
            NoteKind::Outside => 0,
            NoteKind::Unseen(_) => 1,
            NoteKind::Filled => 3,
            NoteKind::Unusable(why) => {
                texts.push(why.as_str());
                2
            }
        });
    }
    object([
        ("noteRows", Uint32Array::from(rows.as_slice()).into()),
        ("noteColumns", Uint32Array::from(columns.as_slice()).into()),
        ("noteKinds", Uint8Array::from(kinds.as_slice()).into()),
        ("noteTexts", strings(texts)),
    ])
}

/// How a table is written, as the options of reading one.
fn reading_of(format: &Format) -> JsValue {
    let text = |text: &Option<String>| text.as_ref().map_or(JsValue::UNDEFINED, |text| text.as_str().into());
    let header = match format.header {
        Header::Auto => JsValue::UNDEFINED,
        header => (header == Header::Yes).into(),
    };
    object([
        ("header", header),
        ("delimiter", text(&format.delimiter)),
        ("decimal", format.decimal.as_str().into()),
        ("thousands", text(&format.thousands)),
        ("na", strings(format.missing.iter().map(String::as_str))),
    ])
}

/// Statistics of a column over the training rows: `{ name, min, max, mean }` of numbers, `{ name, levels }` of a category, with `isOpen` and one text if any
/// other is as good, `{ name, from, to }` of dates.
fn input(feature: &Feature) -> JsValue {
    let name = ("name", JsValue::from(feature.name()));
    match feature.seen() {
        Seen::Numbers(NumberFeature { min, max, mean, .. }) => {
            object([name, ("min", (*min).into()), ("max", (*max).into()), ("mean", (*mean).into())])
        }
        Seen::Levels { levels, .. } => object([name, ("levels", strings(levels.iter().map(String::as_str)))]),
        Seen::Texts { example, .. } => object([name, ("levels", strings([example])), ("isOpen", true.into())]),
        Seen::Times(date) => {
            let [from, to] = date.range();
            object([name, ("from", from.into()), ("to", to.into())])
        }
    }
}
