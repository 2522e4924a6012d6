//! What a run may overwrite without `--force`: a model of the same columns and target, whatever its layers, which a new run of the same table replaces.
//! It is decided before training starts.

use std::path::Path;

use crate::Answer;
use crate::options::outputs::has_content;
use crate::saved::read_model;
use meromorph::error::listed;
use meromorph::model::Model;
use meromorph::run::Run;
use meromorph::table::Preparation;
use meromorph::train::Checkpoint;
use meromorph::{Error, Result};

/// Errors if the model file `out` exists and is anything else than an earlier result of such a run, or if the
/// `checkpoint` exists: then a run was interrupted.
pub(crate) fn check_replaced(run: &Run, out: Option<&Path>, checkpoint: Option<&Path>, is_forced: bool) -> Answer {
    if let Some(path) = out {
        check_model(path, Some(&run.preparation), is_forced)?;
    }
    checkpoint.map_or(Ok(()), |path| check_checkpoint(path, is_forced))
}

/// Errors if the checkpoint of a run would replace that of another one, or another file.
pub(crate) fn check_checkpoint(path: &Path, is_forced: bool) -> Answer {
    if is_forced || !has_content(path) {
        return Ok(());
    }
    Err(refusal(path, &as_checkpoint(path), "--checkpoint").into())
}

/// Errors if the file `out` exists and is anything else than a model of the same columns and target.
pub(crate) fn check_model(out: &Path, new: Option<&Preparation>, is_forced: bool) -> Result<()> {
    if is_forced || !has_content(out) {
        return Ok(());
    }
    other_model(out, new).map_or(Ok(()), |what| Err(refusal(out, &what, "--out")))
}

fn refusal(path: &Path, what: &str, option: &str) -> Error {
    Error::usage(format!("{}: {what}; choose another {option}, or replace it with --force", path.display()))
}

fn other_model(path: &Path, new: Option<&Preparation>) -> Option<String> {
    let name = path.display().to_string();
    let bytes = read_model(path).unwrap_or_default();
    let Ok(Model { preparation, .. }) = Model::load(&bytes, &name) else {
        return Some("exists and is not a model".to_owned());
    };
    if Checkpoint::load(&bytes, &name).is_ok() {
        return Some("is a checkpoint".to_owned());
    }
    let Some(old) = preparation else { return new.map(|_| "is a model of arrays".to_owned()) };
    let Some(new) = new else { return Some(format!("is another model, which learns \"{}\"", old.target.name())) };
    if old.target.name() != new.target.name() || !old.names().eq(new.names()) {
        let names = listed(&old.names().collect::<Vec<_>>());
        return Some(format!("is another model, which learns \"{}\" from {names}", old.target.name()));
    }
    None
}

/// What is in the place of a checkpoint.
fn as_checkpoint(path: &Path) -> String {
    let bytes = read_model(path).unwrap_or_default();
    if Checkpoint::load(&bytes, &path.display().to_string()).is_ok() {
        format!("is the checkpoint of a run that was interrupted; --resume {} continues it", path.display())
    } else {
        "exists and is not a checkpoint".to_owned()
    }
}
