//! Metrics for JavaScript.

use wasm_bindgen::JsValue;

use meromorph::judge::Metrics;
use meromorph::options::Naming;
use meromorph_web_values::{object, set};

/// The quality of predictions as an object; null where a figure does not apply.
pub(super) fn metrics(metrics: &Metrics) -> JsValue {
    // No loss without rows: 0 would mean a perfect model.
    let value = |name: &str, value: Option<f64>| number(value.filter(|_| metrics.rows > 0 || name != "loss"));
    let answer = object([("rows", count(metrics.rows))]);
    for (name, _, figure) in Metrics::FIGURES {
        set(&answer, &Naming::JavaScript.of(name), &value(name, figure(metrics)));
    }
    answer
}

/// A number of things.
pub(super) fn count(count: usize) -> JsValue {
    (count as f64).into()
}

/// A number, or null.
pub(super) fn number(value: Option<f64>) -> JsValue {
    value.map_or(JsValue::NULL, JsValue::from_f64)
}
