//! Reads a bundle and checks it against its metadata. Each file is read once, so the checked bytes are the used bytes.

use std::path::Path;

use serde_json::Value;

use super::metadata::{
    Contract, DIGEST_FILE, FORMAT, METADATA_FILE, MODEL_FILE, Metadata, ONNX_FILE, Record, SCHEMA, STRICT, canonical,
    digest,
};
use super::onnx::{FIELDS, OPSET};
use crate::error::{Error, Result};
use crate::host;
use crate::model::Model;

/// A bundle whose files match its metadata.
#[derive(Clone, Debug)]
pub struct ValidatedBundle {
    /// The metadata.
    pub metadata: Metadata,
    /// SHA-256 of the metadata in canonical form; identifies the bundle.
    pub digest: String,
    /// The model.
    pub model: Model,
    /// The bytes of its ONNX file.
    pub onnx: Vec<u8>,
}

/// Every key of the metadata.
const KEYS: [&str; 13] = [
    "format",
    "schema_version",
    "engine",
    "created_utc",
    "model",
    "onnx",
    "opset",
    "batch_axis",
    "inputs",
    "outputs",
    "decoding",
    "preparation",
    "encoding",
];

/// Reads the bundle in `folder`. `expected` is the required digest, in hexadecimal.
///
/// Errors if the metadata are not strict JSON, lack a key or follow another schema; if decoding is not strict or its thresholds are
/// invalid; if outputs are in another order; if a file is a link, leads out of the folder or has another size or hash; or if the model
/// contradicts the metadata.
pub fn validate_bundle(folder: &Path, expected: Option<&str>) -> Result<ValidatedBundle> {
    let named = |name: &str| folder.join(name).display().to_string();
    let text = host::read_unlinked(&folder.join(METADATA_FILE))?;
    let (metadata, digest) = parse(&text).map_err(|error| error.within(&named(METADATA_FILE)))?;
    let written = host::read_unlinked(&folder.join(DIGEST_FILE))?;
    let written = String::from_utf8_lossy(&written);
    let written = written.split_whitespace().next().unwrap_or_default();
    check_digest(written, &digest).map_err(|error| error.within(&named(DIGEST_FILE)))?;
    if let Some(expected) = expected {
        pin(expected, &digest).map_err(|error| error.within(&folder.display().to_string()))?;
    }
    check(&metadata).map_err(|error| error.within(&named(METADATA_FILE)))?;
    let [safetensors, onnx] = [&metadata.model, &metadata.onnx].map(|record| contents(folder, record));
    let (safetensors, onnx) = (safetensors?, onnx?);
    let model = Model::load(&safetensors, &named(MODEL_FILE))?;
    metadata.fits(&model).map_err(|error| error.within(&named(METADATA_FILE)))?;
    Ok(ValidatedBundle { metadata, digest, model, onnx })
}

/// The metadata and their digest.
fn parse(text: &[u8]) -> Result<(Metadata, String)> {
    let refused = |why: serde_json::Error| Error::new(format!("is not valid JSON ({why})"));
    let value: Value = serde_json::from_slice(text).map_err(refused)?;
    let is = |key: &str, expected: &Value| match value.get(key) {
        Some(got) if got == expected => Ok(()),
        Some(got) => Err(Error::new(format!("{key} is {got}, this engine reads {expected}"))),
        None => Err(Error::new(format!("key \"{key}\" is missing"))),
    };
    is("format", &FORMAT.into())?;
    is("schema_version", &SCHEMA.into())?;
    for key in KEYS {
        value.get(key).ok_or_else(|| Error::new(format!("key \"{key}\" is missing")))?;
    }
    // From the text, not from the value: only the text shows duplicate keys.
    let metadata = serde_json::from_slice(text).map_err(|why| Error::new(format!("is damaged: {why}")))?;
    Ok((metadata, digest(&canonical(&value))))
}

fn check_digest(written: &str, digest: &str) -> Result<()> {
    if written == digest {
        return Ok(());
    }
    Err(Error::new(format!("says {written}, {METADATA_FILE} has {digest}: one of them was changed")))
}

fn pin(expected: &str, digest: &str) -> Result<()> {
    if expected.eq_ignore_ascii_case(digest) {
        return Ok(());
    }
    Err(Error::new(format!("its digest is {digest}, expected {expected}")))
}

/// Errors that the metadata alone show.
fn check(metadata: &Metadata) -> Result<()> {
    if metadata.opset != OPSET || metadata.batch_axis != 0 {
        let (opset, axis) = (metadata.opset, metadata.batch_axis);
        return Err(Error::new(format!("opset is {opset} and batch_axis {axis}, expected {OPSET} and 0")));
    }
    for (key, record, expected) in [("model", &metadata.model, MODEL_FILE), ("onnx", &metadata.onnx, ONNX_FILE)] {
        if record.file != expected {
            let what = if is_plain(&record.file) { "expected" } else { "which leads out of the bundle; expected" };
            return Err(Error::new(format!("{key} is in \"{}\", {what} \"{expected}\"", record.file)));
        }
    }
    let names: Vec<&str> = metadata.outputs.iter().map(|output| output.name.as_str()).collect();
    match &metadata.decoding {
        Some(contract) => check_contract(contract, &names),
        None => Ok(()),
    }
}

fn is_plain(file: &str) -> bool {
    !file.contains(['/', '\\', ':']) && ![".", "..", ""].contains(&file)
}

fn check_contract(contract: &Contract, names: &[&str]) -> Result<()> {
    if contract.mode != STRICT {
        return Err(Error::new(format!("decoding is \"{}\", expected \"{STRICT}\"", contract.mode)));
    }
    contract.decoding().check()?;
    for (key, got) in [("decoding.fields", contract.fields.join(", ")), ("outputs", names.join(", "))] {
        let expected = FIELDS.join(", ");
        if got != expected {
            return Err(Error::new(format!("{key} are {got}; expected {expected}, in this order")));
        }
    }
    Ok(())
}

/// The bytes of a file. Errors if they do not match the record.
fn contents(folder: &Path, record: &Record) -> Result<Vec<u8>> {
    let path = folder.join(&record.file);
    let bytes = host::read_unlinked(&path)?;
    let got = Record::of(&record.file, &bytes);
    let refused = |what: String| Err(Error::new(format!("{}: {what}", path.display())));
    if got.bytes != record.bytes {
        return refused(format!("has {} bytes, {METADATA_FILE} says {}", got.bytes, record.bytes));
    }
    if got.sha256 != record.sha256 {
        return refused(format!("has SHA-256 {}, {METADATA_FILE} says {}", got.sha256, record.sha256));
    }
    Ok(bytes)
}
