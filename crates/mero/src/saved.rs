//! Models and fits that were saved, loaded from their files.

use std::path::Path;

use crate::Answer;
use meromorph::export::validate_bundle;
use meromorph::files::tensors;
use meromorph::fit::SavedFit;
use meromorph::internal::host;
use meromorph::model::Model;
use meromorph::{Error, Result};

/// Loads a model from its file or from a valid bundle.
pub(crate) fn load(path: &Path) -> Result<Model> {
    if host::is_folder(path) {
        return Ok(validate_bundle(path, None)?.model);
    }
    Model::load(&read_model(path)?, &path.display().to_string())
}

/// Reads a model or checkpoint file.
pub(crate) fn read_model(path: &Path) -> Result<Vec<u8>> {
    host::read_checked(path, tensors::check_start)
}

/// The fit in a file, if it begins like JSON, as no model file does.
pub(crate) fn find_fit(path: &Path) -> Result<Option<SavedFit>> {
    let is_json = |start: &[u8]| if start.trim_ascii_start().starts_with(b"{") { Ok(()) } else { Err(String::new()) };
    if host::is_folder(path) {
        return Ok(None);
    }
    let Ok(bytes) = host::read_checked(path, is_json) else { return Ok(None) };
    SavedFit::parse(&String::from_utf8_lossy(&bytes), &path.display().to_string()).map(Some)
}

/// Loads a fit.
pub(crate) fn load_fit(path: &Path) -> Answer<SavedFit> {
    let bytes = host::read(path)?;
    let name = path.display().to_string();
    let fit = SavedFit::parse(&String::from_utf8_lossy(&bytes), &name);
    Ok(fit.map_err(|error| Error::new(format!("{error}: expected a file that mero fit has written")))?)
}
