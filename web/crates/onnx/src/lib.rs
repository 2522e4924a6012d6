//! The JavaScript interface of exports, to ONNX and to pages: a part of its own, fetched when it is needed.
#![cfg(target_arch = "wasm32")]

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use meromorph::export::write_onnx;
use meromorph::model::Model;

/// The ONNX file of the model in the bytes of a model file.
#[wasm_bindgen]
pub fn onnx(model: &[u8]) -> Result<Vec<u8>, JsValue> {
    exported(model, write_onnx)
}

/// The model file that a page carries: without the record of the training, which no prediction needs.
#[wasm_bindgen]
pub fn bare(model: &[u8]) -> Result<Vec<u8>, JsValue> {
    exported(model, |model| model.without_provenance().save())
}

fn exported(model: &[u8], write: impl Fn(&Model) -> meromorph::Result<Vec<u8>>) -> Result<Vec<u8>, JsValue> {
    let written = Model::load(model, "model").and_then(|model| write(&model));
    written.map_err(|error| js_sys::Error::new(&error.to_string()).into())
}
