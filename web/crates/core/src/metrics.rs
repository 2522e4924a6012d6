//! Metrics for JavaScript.

use wasm_bindgen::JsValue;

use meromorph::judge::Metrics;
use meromorph_web_values::object;

/// The quality of predictions as an object; null where a figure does not apply.
pub(super) fn metrics(metrics: &Metrics) -> JsValue {
    object([
        ("rows", count(metrics.rows)),
        // No loss without rows: 0 would mean a perfect model.
        ("loss", number((metrics.rows > 0).then_some(metrics.loss))),
        ("mse", number(metrics.mse)),
        ("mae", number(metrics.mae)),
        ("r2", number(metrics.r2)),
        ("rmse", number(metrics.rmse.or(metrics.mse.map(f64::sqrt)))),
        ("nll", number(metrics.nll)),
        ("accuracy", number(metrics.accuracy)),
        ("balancedAccuracy", number(metrics.balanced_accuracy)),
        ("f1", number(metrics.f1)),
        ("auc", number(metrics.auc)),
        ("logLoss", number(metrics.log_loss)),
        ("calibration", number(metrics.calibration)),
        ("median", number(metrics.median)),
        ("coverage", number(metrics.coverage)),
        ("gap", number(metrics.gap)),
        ("refused", number(metrics.refused)),
        ("found", number(metrics.found)),
    ])
}

/// A number of things.
pub(super) fn count(count: usize) -> JsValue {
    (count as f64).into()
}

/// A number, or null.
pub(super) fn number(value: Option<f64>) -> JsValue {
    value.map_or(JsValue::NULL, JsValue::from_f64)
}
