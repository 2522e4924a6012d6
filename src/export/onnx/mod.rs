//! A model as an ONNX file: from encoded rows [batch, inputs] to outputs; for a model with poles, the fields of strict decoding.
//! Uses only standard operators of one operator set; the same model gives the same bytes. Formulas are those of `nn::forward`.

mod graph;
mod head;
mod inputs;
mod layers;
mod pass;
mod proto;
mod rational;

use graph::{Element, Graph};
use proto::Message;

use super::tensor_info::{Size, TensorInfo};
use crate::error::{Error, Result};
use crate::model::Model;

/// The operator set.
pub const OPSET: u32 = 18;
/// The file format version of that operator set.
const IR_VERSION: i64 = 8;
/// Maximum length of a protocol-buffer message.
const MAX_BYTES: usize = i32::MAX as usize;

/// The fields of strict decoding, in order: the quotient (NaN at ⊥), four masks, and the cause of a ⊥ (0 not ⊥, 1 fault, 2 pole,
/// 3 both).
pub(super) const FIELDS: [&str; 6] =
    ["decoded", "bottom_mask", "gap_mask", "fault_mask", "semantic_bottom_mask", "bottom_provenance"];

/// The ONNX file of a model. Errors if the spec is inconsistent or the model is too large for the format.
pub fn write_onnx(model: &Model) -> Result<Vec<u8>> {
    let size = 4 * model.parameters.len();
    if size >= MAX_BYTES {
        return Err(Error::new(format!(
            "onnx: the model has {size} bytes of parameters; the format takes {MAX_BYTES}"
        )));
    }
    let inputs = inputs(model);
    let mut graph = Graph::over(&inputs[0].name);
    let outputs = outputs(model)?;
    let values = layers::outputs(&mut graph, model)?;
    for (info, value) in outputs.iter().zip(&values) {
        graph.output(info, value);
    }
    let mut file = Message::default()
        .int(1, IR_VERSION)
        .text(2, "meromorph")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, &graph.finish(&inputs)?)
        .message(8, &Message::default().text(1, "").int(2, i64::from(OPSET)));
    for (key, text) in notes(model)? {
        file = file.message(14, &Message::default().text(1, key).text(2, &text));
    }
    Ok(file.into_bytes())
}

/// The inputs of the graph, in order.
pub(super) fn inputs(model: &Model) -> Vec<TensorInfo> {
    inputs::infos(model)
}

/// The outputs of the graph, in order.
pub(super) fn outputs(model: &Model) -> Result<Vec<TensorInfo>> {
    if let each @ [_, _, ..] = &model.spec.each_output()?[..] {
        let one = |(at, &columns): (usize, &usize)| info(&format!("output_{at}"), &[columns], Element::Float);
        return Ok(each.iter().enumerate().map(one).collect());
    }
    let values = model.spec.values()?;
    if model.spec.head().is_none() {
        let (values, exported) = (model.loss.values(values), model.loss.link().exported.iter());
        return Ok(exported.map(|(name, _)| info(name, &[values], Element::Float)).collect());
    }
    let element = |name: &str| match name {
        "decoded" => Element::Float,
        "bottom_provenance" => Element::Int,
        _ => Element::Bool,
    };
    Ok(FIELDS.iter().map(|name| info(name, &[values], element(name))).collect())
}

fn info(name: &str, of_row: &[usize], element: Element) -> TensorInfo {
    let sizes = of_row.iter().map(|&size| Size::Fixed(size));
    let shape = [Size::Named("batch".into())].into_iter().chain(sizes).collect();
    TensorInfo { name: name.into(), shape, dtype: element.name().into() }
}

/// Metadata entries for a reader who has only the ONNX file.
fn notes(model: &Model) -> Result<Vec<(&'static str, String)>> {
    let failed = |error: serde_json::Error| Error::new(format!("onnx: {error}"));
    let mut notes = Vec::new();
    if let Some(preparation) = &model.preparation {
        notes.push(("meromorph.preparation", serde_json::to_string(preparation).map_err(failed)?));
    }
    if let Some(head) = model.spec.head() {
        notes.push(("meromorph.decoding", serde_json::to_string(&head.decoding).map_err(failed)?));
    }
    Ok(notes)
}
