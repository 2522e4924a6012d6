//! The metadata of a bundle: `metadata.json`, in a canonical form whose SHA-256 is the bundle's digest.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::onnx::{self, FIELDS, OPSET};
use super::tensor_info::TensorInfo;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::nn::{Decoding, Threshold};
use crate::table::Preparation;

/// Identifies metadata of this engine.
pub(super) const FORMAT: &str = "meromorph_bundle";
/// The schema version that this engine writes and reads.
pub(super) const SCHEMA: u32 = 1;
/// The only decoding mode.
pub(super) const STRICT: &str = "strict";

/// The files of a bundle.
pub(super) const MODEL_FILE: &str = "model.safetensors";
pub(super) const ONNX_FILE: &str = "model.onnx";
pub(super) const METADATA_FILE: &str = "metadata.json";
pub(super) const DIGEST_FILE: &str = "metadata.sha256";

/// The contents of `metadata.json`. Unknown keys are errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// `meromorph_bundle`.
    pub format: String,
    /// Version of this list of keys.
    pub schema_version: u32,
    /// The engine that wrote the bundle.
    pub engine: String,
    /// Time of creation, such as `2026-01-31T12:00:00Z`.
    pub created_utc: String,
    /// The model file of this engine.
    pub model: Record,
    /// The ONNX file of the same model.
    pub onnx: Record,
    /// The operator set of the ONNX file.
    pub opset: u32,
    /// The axis of the rows, whose count is free.
    pub batch_axis: usize,
    /// Inputs of the ONNX file.
    pub inputs: Vec<TensorInfo>,
    /// Outputs of the ONNX file, in order.
    pub outputs: Vec<TensorInfo>,
    /// Where a model with poles returns no value; null for a model without.
    pub decoding: Option<Contract>,
    /// Encoding of columns as inputs and of target values; null for a model trained on bare arrays.
    pub preparation: Option<Preparation>,
    /// The encoding in words.
    pub encoding: Encoding,
}

/// A file with its expected size and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Its name in the folder.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256 in lower-case hexadecimal.
    pub sha256: String,
}

/// How pairs are decoded. The numbers are the exact operands of the 32-bit comparisons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// `strict`.
    pub mode: String,
    /// The outputs in order.
    pub fields: Vec<String>,
    /// The compared quantity: `angle` is |Q| / √(P² + Q²), `denominator` is |Q|.
    pub threshold: Threshold,
    /// Below this there is no value.
    pub tau_infer: f32,
    /// Below this a value is marked as near a pole; null if values are never marked.
    pub tau_train: Option<f32>,
    /// Whether values can be marked.
    pub use_gap: bool,
}

/// The encoding of inputs and outputs, for a person who writes code around the ONNX file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// How a row of the table becomes the input.
    pub input: String,
    /// How the output becomes the target.
    pub output: String,
}

impl Contract {
    fn of(decoding: &Decoding) -> Self {
        Self {
            mode: STRICT.into(),
            fields: FIELDS.map(String::from).to_vec(),
            threshold: decoding.threshold,
            tau_infer: decoding.tau_infer,
            tau_train: decoding.tau_train,
            use_gap: decoding.tau_train.is_some_and(|train| train > decoding.tau_infer),
        }
    }

    /// Only the thresholds.
    pub fn decoding(&self) -> Decoding {
        Decoding { threshold: self.threshold, tau_infer: self.tau_infer, tau_train: self.tau_train }
    }
}

impl Record {
    pub(super) fn of(file: &str, bytes: &[u8]) -> Self {
        Self { file: file.into(), bytes: bytes.len() as u64, sha256: digest(bytes) }
    }
}

impl Encoding {
    fn of(model: &Model) -> Self {
        let output = match model.spec.head() {
            Some(_) => "value = mean + scale * decoded, where bottom_mask is false",
            None => model.loss.link().doc,
        };
        let features = model.preparation.iter().flat_map(|preparation| &preparation.features);
        let mut docs: Vec<&str> = Vec::new();
        for doc in features.map(|feature| feature.as_kind().doc()) {
            if !docs.contains(&doc) {
                docs.push(doc);
            }
        }
        let input = match docs[..] {
            [] => "inputs as the training program encoded them".to_owned(),
            _ => format!("by feature in order: {}; the graph itself makes the bins of a number", docs.join("; ")),
        };
        Self { input, output: output.into() }
    }
}

impl Metadata {
    /// The metadata of a bundle of `model` in these files.
    pub(super) fn of(model: &Model, created_utc: String, [safetensors, onnx]: [&[u8]; 2]) -> Result<Self> {
        Ok(Self {
            format: FORMAT.into(),
            schema_version: SCHEMA,
            engine: concat!("meromorph ", env!("CARGO_PKG_VERSION")).into(),
            created_utc,
            model: Record::of(MODEL_FILE, safetensors),
            onnx: Record::of(ONNX_FILE, onnx),
            opset: OPSET,
            batch_axis: 0,
            inputs: onnx::inputs(model),
            outputs: onnx::outputs(model)?,
            decoding: model.spec.head().map(|head| Contract::of(&head.decoding)),
            preparation: model.preparation.clone(),
            encoding: Encoding::of(model),
        })
    }

    /// Errors if decoding, preparation, inputs or outputs are not those of `model`.
    pub(super) fn fits(&self, model: &Model) -> Result<()> {
        let expected = Self::of(model, self.created_utc.clone(), [&[], &[]])?;
        let contradicts =
            |key: &str| Err(Error::new(format!("{key} is not that of {}: one of them was changed", self.model.file)));
        match () {
            () if self.decoding != expected.decoding => contradicts("decoding"),
            () if self.preparation != expected.preparation => contradicts("preparation"),
            () if self.inputs != expected.inputs => contradicts("inputs"),
            () if self.outputs != expected.outputs => contradicts("outputs"),
            () => Ok(()),
        }
    }

    /// The bytes of `metadata.json`.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        let value = serde_json::to_value(self).map_err(|error| Error::new(format!("metadata: {error}")))?;
        Ok(canonical(&value))
    }
}

/// JSON with sorted keys and no whitespace: identical for equal values.
pub fn canonical(value: &Value) -> Vec<u8> {
    // `Map` is sorted by key.
    value.to_string().into_bytes()
}

/// SHA-256 in lower-case hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_standard() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(b"abc"), expected);
    }

    #[test]
    fn the_canonical_form_knows_no_order_and_no_blanks() {
        let parse = |text: &str| canonical(&serde_json::from_str(text).unwrap());
        let one = parse("{ \"b\": [1, 0.1],\n \"a\": {\"y\": null, \"x\": \"ü\"} }");
        assert_eq!(one, "{\"a\":{\"x\":\"ü\",\"y\":null},\"b\":[1,0.1]}".as_bytes());
        assert_eq!(one, parse("{\"a\":{\"x\":\"\\u00fc\",\"y\":null},\"b\":[1,0.1]}"));
        assert_ne!(one, parse("{\"a\":{\"x\":\"ü\",\"y\":null},\"b\":[0.1,1]}"));
    }
}
