//! A model as an ONNX file: encoded rows [batch, inputs] in, its outputs out; of a model with poles, what strict decoding says.
//! Only standard operators of one operator set; the same model gives the same bytes. Formulas are those of `nn::forward`.

mod graph;
mod head;
mod layers;
mod proto;
mod rational;

use graph::{Element, Graph, INPUT};
use proto::Message;

use super::metadata::{Size, TensorInfo};
use crate::error::{Error, Result};
use crate::train::Model;

/// The operator set.
pub const OPSET: u32 = 18;
/// The file format's version that belongs to it.
const IR_VERSION: i64 = 8;
/// A protocol-buffer message is at most this long.
const MAX_BYTES: usize = i32::MAX as usize;

/// What strict decoding gives, in this order: the quotient (NaN under ⊥), four masks, and why a value is ⊥ (0 it is none, 1 a fault,
/// 2 a pole, 3 both).
pub(super) const FIELDS: [&str; 6] =
    ["decoded", "bottom_mask", "gap_mask", "fault_mask", "semantic_bottom_mask", "bottom_provenance"];

/// The ONNX file of a model. Refuses a spec that does not fit together, and a model too large for the format.
pub fn write_onnx(model: &Model) -> Result<Vec<u8>> {
    let size = 4 * model.parameters.len();
    if size >= MAX_BYTES {
        return Err(Error::new(format!(
            "onnx: the model has {size} bytes of parameters; the format takes {MAX_BYTES}"
        )));
    }
    let mut graph = Graph::default();
    let outputs = outputs(model)?;
    let values = layers::outputs(&mut graph, model)?;
    for (info, value) in outputs.iter().zip(&values) {
        graph.output(info, value);
    }
    let mut file = Message::default()
        .int(1, IR_VERSION)
        .text(2, "meromorph")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, &graph.finish(&input(model)))
        .message(8, &Message::default().text(1, "").int(2, i64::from(OPSET)));
    for (key, text) in notes(model)? {
        file = file.message(14, &Message::default().text(1, key).text(2, &text));
    }
    Ok(file.into_bytes())
}

/// What the graph takes.
pub(super) fn input(model: &Model) -> TensorInfo {
    info(INPUT, model.spec.inputs, Element::Float)
}

/// What the graph gives, in order.
pub(super) fn outputs(model: &Model) -> Result<Vec<TensorInfo>> {
    let values = model.spec.values()?;
    let element = |name: &str| match name {
        "decoded" | "output" => Element::Float,
        "bottom_provenance" => Element::Int,
        _ => Element::Bool,
    };
    let names: &[&str] = if model.spec.head().is_some() { &FIELDS } else { &["output"] };
    Ok(names.iter().map(|name| info(name, values, element(name))).collect())
}

fn info(name: &str, columns: usize, element: Element) -> TensorInfo {
    let shape = vec![Size::Named("batch".into()), Size::Fixed(columns)];
    TensorInfo { name: name.into(), shape, dtype: element.name().into() }
}

/// What a reader of the bare file must know, as texts in its own metadata.
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
