//! Models and fits that were saved, loaded from their files. A file is read once, so that it may be a pipe; its first bytes decide what it holds.

use std::path::Path;

use crate::Answer;
use crate::options::contents::MEMORY;
use crate::options::outputs::begins_as;
use meromorph::contrast::Memory;
use meromorph::export::validate_bundle;
use meromorph::files::tensors;
use meromorph::fit::SavedFit;
use meromorph::internal::host;
use meromorph::model::Model;
use meromorph::{Error, Result};

/// What predicts.
pub(crate) enum Saved {
    Model(Box<Model>),
    Fit(Box<SavedFit>),
}

/// More bytes than the JSON of any fit has: the covariance of 4,000 free parameters has 400 MB.
const MOST_FIT_BYTES: usize = 512 << 20;

/// Loads a model from its file or from a valid bundle, or a fit.
pub(crate) fn load_any(path: &Path) -> Result<Saved> {
    if host::is_folder(path) {
        return load(path).map(|model| Saved::Model(Box::new(model)));
    }
    let check = |start: &[u8]| if is_json(start) { check_fit(start) } else { tensors::check_start(start) };
    let (bytes, name) = (host::read_checked(path, check)?, path.display().to_string());
    if is_json(&bytes) {
        return SavedFit::parse(&String::from_utf8_lossy(&bytes), &name).map(|fit| Saved::Fit(Box::new(fit)));
    }
    Model::load(&bytes, &name).map(|model| Saved::Model(Box::new(model)))
}

/// Loads a model from its file or from a valid bundle.
pub(crate) fn load(path: &Path) -> Result<Model> {
    if host::is_folder(path) {
        return Ok(validate_bundle(path, None)?.model);
    }
    Model::load(&read_model(path)?, &path.display().to_string())
}

/// Loads a memory, if the file holds one.
pub(crate) fn load_memory(path: &Path) -> Result<Option<Memory>> {
    if !host::is_folder(path) && begins_as(path, &MEMORY) {
        return Memory::load(&read_model(path)?, &path.display().to_string()).map(Some);
    }
    Ok(None)
}

/// Reads a model or checkpoint file.
pub(crate) fn read_model(path: &Path) -> Result<Vec<u8>> {
    host::read_checked(path, tensors::check_start)
}

/// Loads a fit.
pub(crate) fn load_fit(path: &Path) -> Answer<SavedFit> {
    let expected = "expected a file that mero fit has written";
    let check = |start: &[u8]| {
        if start.trim_ascii().is_empty() || is_json(start) {
            check_fit(start)
        } else {
            Err(format!("is not a fit: {expected}"))
        }
    };
    let (bytes, name) = (host::read_checked(path, check)?, path.display().to_string());
    let fit = SavedFit::parse(&String::from_utf8_lossy(&bytes), &name);
    Ok(fit.map_err(|error| Error::new(format!("{error}: {expected}")))?)
}

/// Whether bytes begin like a JSON object, as no model file does; a byte-order mark may come first.
fn is_json(start: &[u8]) -> bool {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start().starts_with(b"{")
}

/// Errors if what begins so is longer than any fit.
fn check_fit(start: &[u8]) -> std::result::Result<(), String> {
    if start.len() <= MOST_FIT_BYTES {
        return Ok(());
    }
    Err(format!("got at least {} bytes, expected at most {MOST_FIT_BYTES}, as a fit has", start.len()))
}
