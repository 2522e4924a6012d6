//! Judges a model on a table with its target.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::metrics::{count, metrics};
use super::options::format_over;
use meromorph::error::Result;
use meromorph::judge::Evaluation;
use meromorph_web_model::Model;
use meromorph_web_values::rows::rows;
use meromorph_web_values::{Answer, set, thrown};

/// The metrics of every row that has a target and the inputs that the model needs, with `dropped`, the number of other rows, and
/// `baseline`, the metrics of a prediction without the inputs, or null.
#[wasm_bindgen]
pub async fn evaluate(model: &Model, data: JsValue, source: String, reading: JsValue) -> Answer {
    judged(model, &data, &source, &reading).await.map_err(thrown)
}

async fn judged(served: &Model, data: &JsValue, source: &str, reading: &JsValue) -> Result<JsValue> {
    let model = served.model();
    let table = rows(data, source, &format_over("evaluate", reading, &served.own_format())?, model.preparation()?)?;
    let Evaluation { gaps, metrics: found, baseline, .. } = model.evaluate(served.device(), &table).await?;
    let answer = metrics(&found.unwrap_or_default());
    set(&answer, "baseline", &baseline.as_ref().map_or(JsValue::NULL, metrics));
    set(&answer, "dropped", &count(gaps.dropped));
    Ok(answer)
}
