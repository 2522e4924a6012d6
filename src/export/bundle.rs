//! Writes a bundle: the model in two formats, its metadata, and their digest. The files are written to a folder next to the target,
//! read back and checked there, and only then moved into place.

use std::path::Path;

use super::metadata::{DIGEST_FILE, METADATA_FILE, MODEL_FILE, Metadata, ONNX_FILE, digest};
use super::onnx::write_onnx;
use super::validate::validate_bundle;
use crate::error::Result;
use crate::host;
use crate::model::Model;

/// Every file of a bundle.
const FILES: [&str; 4] = [MODEL_FILE, ONNX_FILE, METADATA_FILE, DIGEST_FILE];

/// Writes a bundle to `folder`, completely or not at all, and returns its digest. Errors if the folder is not empty, unless
/// `is_replacing` and it holds only a bundle.
pub fn write_bundle(model: &Model, folder: &Path, is_replacing: bool) -> Result<String> {
    let (safetensors, onnx) = (model.save()?, write_onnx(model)?);
    let metadata = Metadata::of(model, host::utc(host::unix_seconds()), [&safetensors, &onnx])?.to_bytes()?;
    let digest = digest(&metadata);
    // In the format of `sha256sum --check`.
    let line = format!("{digest}  {METADATA_FILE}\n").into_bytes();
    let files = FILES.into_iter().zip([&safetensors[..], &onnx, &metadata, &line]).collect::<Vec<_>>();
    let check = |staged: &Path| validate_bundle(staged, Some(&digest)).map(drop);
    host::write_folder(folder, &files, is_replacing, &check)?;
    Ok(digest)
}
