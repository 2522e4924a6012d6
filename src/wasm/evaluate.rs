//! Judges a model on a table with its target.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::metrics::{count, metrics};
use super::model::Model;
use super::options::format_of;
use super::rows::rows;
use super::values::{Answer, set, thrown};
use crate::error::Result;
use crate::train::Evaluation;

#[wasm_bindgen]
impl Model {
    /// The metrics of every row that has a target and the inputs that the model needs, with `dropped`, the number of other rows, and
    /// `baseline`, the metrics of a prediction without the inputs, or null.
    pub async fn evaluate(&self, data: JsValue, source: String, reading: JsValue) -> Answer {
        self.judged(&data, &source, &reading).await.map_err(thrown)
    }
}

impl Model {
    async fn judged(&self, data: &JsValue, source: &str, reading: &JsValue) -> Result<JsValue> {
        let model = &self.model;
        let table = rows(data, source, &format_of("evaluate", reading)?, model.preparation()?)?;
        let Evaluation { gaps, metrics: found, baseline, .. } = model.evaluate(&self.device, &table).await?;
        let answer = metrics(&found.unwrap_or_default());
        set(&answer, "baseline", &baseline.as_ref().map_or(JsValue::NULL, metrics));
        set(&answer, "dropped", &count(gaps.dropped));
        Ok(answer)
    }
}
