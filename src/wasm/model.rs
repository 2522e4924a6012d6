//! A trained model for JavaScript: its description, predictions and file.

use js_sys::{Array, Float64Array, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::rows;
use super::values::{Answer, object, show, strings, thrown};
use crate::Device;
use crate::error::{Error, Result};
use crate::io::{Feature, NumberFeature, Table, Unknown};
use crate::nn::Layout;
use crate::train::{self, Precision, PredictOptions, Prediction};

/// A trained model.
#[wasm_bindgen]
pub struct Model {
    device: Device,
    model: train::Model,
}

impl Model {
    pub(super) fn new(device: &Device, model: train::Model) -> Self {
        Self { device: device.clone(), model }
    }

    fn rows(&self, x: &JsValue, source: &str) -> Result<Table> {
        rows(x, source, self.model.preparation()?)
    }
}

#[wasm_bindgen]
impl Model {
    /// The description of the model, as an object.
    pub fn info(&self) -> Answer {
        let preparation = self.model.preparation().map_err(thrown)?;
        let target = &preparation.target;
        Ok(object([
            ("task", target.task().name().into()),
            ("target", target.name().into()),
            ("columns", strings(preparation.names())),
            ("classes", strings(target.levels().iter().map(String::as_str))),
            ("inputs", preparation.features.iter().map(input).collect::<Array>().into()),
            ("parameters", (Layout::of(&self.model.spec).count() as f64).into()),
        ]))
    }

    /// Predicts every row: `{ value }` of numbers, `{ value, probability }` of classes, or for a model with poles
    /// `{ value, bottom, gap, fault }`, with flags 1 where there is no value, where it is near a pole, and at numerical faults.
    /// Activations have the type `precision`; f32 if unset.
    pub async fn predict(&self, x: JsValue, source: String, precision: JsValue) -> Answer {
        let table = self.rows(&x, &source).map_err(thrown)?;
        let options =
            PredictOptions { precision: precision_of(&precision).map_err(thrown)?, ..PredictOptions::default() };
        let predictions = self.model.predict_as(&self.device, &table, options).await.map_err(thrown)?;
        let (mut names, mut values) = (Array::new(), Vec::with_capacity(predictions.len()));
        let mut flags = [const { Vec::new() }; 3];
        for prediction in &predictions {
            match prediction {
                Prediction::None => {
                    names.extend([JsValue::NULL]);
                    values.push(f64::NAN);
                }
                Prediction::Number(value) => values.push(*value),
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
            }
        }
        let values = JsValue::from(Float64Array::from(values.as_slice()));
        if !flags[0].is_empty() {
            let [bottom, gap, fault] = flags.map(|flags| Uint8Array::from(flags.as_slice()).into());
            return Ok(object([("value", values), ("bottom", bottom), ("gap", gap), ("fault", fault)]));
        }
        let is_class = !self.model.preparation().map_err(thrown)?.target.levels().is_empty();
        Ok(if is_class {
            object([("value", names.into()), ("probability", values)])
        } else {
            object([("value", values)])
        })
    }

    /// The probability of every class for every row, [rows, classes].
    pub async fn probabilities(&self, x: JsValue, source: String) -> Answer<Float64Array> {
        let table = self.rows(&x, &source).map_err(thrown)?;
        let all = self.model.probabilities(&self.device, &table, Unknown::Refuse).await.map_err(thrown)?;
        Ok(Float64Array::from(all.as_slice()))
    }

    /// The bytes of the model file.
    pub fn save(&self) -> Answer<Uint8Array> {
        Ok(Uint8Array::from(self.model.save().map_err(thrown)?.as_slice()))
    }
}

/// The requested precision; f32 if unset.
fn precision_of(precision: &JsValue) -> Result<Precision> {
    if precision.is_undefined() || precision.is_null() {
        return Ok(Precision::default());
    }
    let found = Precision::ALL.into_iter().find(|(name, _)| precision.as_string().as_deref() == Some(name));
    let wrong = || Error::usage(format!("predict: precision is {}, wanted one of \"f32\", \"f16\"", show(precision)));
    found.map(|(_, precision)| precision).ok_or_else(wrong)
}

/// Statistics of a column over the training rows: `{ name, min, max, mean }` of numbers, `{ name, levels }` of a category.
fn input(feature: &Feature) -> JsValue {
    let name = ("name", JsValue::from(feature.name()));
    match feature {
        Feature::Numeric(NumberFeature { min, max, mean, .. }) => {
            object([name, ("min", (*min).into()), ("max", (*max).into()), ("mean", (*mean).into())])
        }
        Feature::Categorical(category) => {
            object([name, ("levels", strings(category.levels.iter().map(String::as_str)))])
        }
    }
}
