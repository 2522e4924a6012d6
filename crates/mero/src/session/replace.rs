//! What a run may overwrite without `--force`: a model of the same columns and target, whatever its layers, which a new run of the same table replaces.
//! It is decided before training starts.

use std::path::Path;

use crate::saved::read_model;
use crate::{Answer, Failure};
use meromorph::error::listed;
use meromorph::internal::host;
use meromorph::model::Model;
use meromorph::run::Run;
use meromorph::train::Checkpoint;

/// Errors if the model file `out` exists and is anything else than an earlier result of such a run, or if the
/// `checkpoint` exists: then a run was interrupted.
pub(crate) fn check_replaced(run: &Run, out: Option<&Path>, checkpoint: Option<&Path>, is_forced: bool) -> Answer {
    if is_forced {
        return Ok(());
    }
    if let Some(path) = out.filter(|path| has_content(path))
        && let Some(what) = other_model(path, run)
    {
        return Err(refusal(path, &what, "--out"));
    }
    match checkpoint.filter(|path| has_content(path)) {
        Some(path) => Err(refusal(path, &as_checkpoint(path), "--checkpoint")),
        None => Ok(()),
    }
}

/// An empty file, such as one from `mktemp`, holds nothing to lose; a pipe or a device is not replaced.
fn has_content(path: &Path) -> bool {
    host::file_bytes(path).is_some_and(|bytes| bytes > 0)
}

fn refusal(path: &Path, what: &str, option: &str) -> Failure {
    Failure::usage(format!("{}: {what}; choose another {option}, or replace it with --force", path.display()))
}

fn other_model(path: &Path, run: &Run) -> Option<String> {
    let name = path.display().to_string();
    let bytes = read_model(path).unwrap_or_default();
    let Ok(Model { preparation, .. }) = Model::load(&bytes, &name) else {
        return Some("exists and is not a model".to_owned());
    };
    if Checkpoint::load(&bytes, &name).is_ok() {
        return Some("is a checkpoint".to_owned());
    }
    let Some(old) = preparation else { return Some("is a model of arrays".to_owned()) };
    let new = &run.preparation;
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
