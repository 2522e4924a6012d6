//! The JavaScript interface of the export to ONNX: a part of its own, fetched when it is needed.
#![cfg(target_arch = "wasm32")]

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use meromorph::export::write_onnx;
use meromorph::model::Model;

/// The ONNX file of the model in the bytes of a model file.
#[wasm_bindgen]
pub fn onnx(model: &[u8]) -> Result<Vec<u8>, JsValue> {
    let written = Model::load(model, "model").and_then(|model| write_onnx(&model));
    written.map_err(|error| js_sys::Error::new(&error.to_string()).into())
}
