//! What a run may overwrite without `--force`: a model of the same columns, target and layers, which a new run of the same table replaces. It is
//! decided before training starts.

use std::path::Path;

use super::args::read_model;
use super::{Answer, Failure};
use crate::error::listed;
use crate::host;
use crate::train::{Checkpoint, Model, Run};

/// Errors if the model file `out` exists and is anything else than an earlier result of such a run, or if the
/// `checkpoint` exists: then a run was interrupted.
pub(super) fn check_replaced(run: &Run, out: Option<&Path>, checkpoint: Option<&Path>, is_forced: bool) -> Answer {
    if is_forced {
        return Ok(());
    }
    for (path, option, difference) in
        [(out, "--out", other_model as fn(&Path, &Run) -> Option<String>), (checkpoint, "--checkpoint", any_checkpoint)]
    {
        // An empty file, such as one from `mktemp`, holds nothing to lose; a pipe or a device is not replaced.
        let path = path.filter(|path| host::file_bytes(path).is_some_and(|bytes| bytes > 0));
        if let Some((path, what)) = path.and_then(|path| Some((path, difference(path, run)?))) {
            let name = path.display();
            return Err(Failure::usage(format!("{name}: {what}; choose another {option}, or replace it with --force")));
        }
    }
    Ok(())
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

fn any_checkpoint(path: &Path, _run: &Run) -> Option<String> {
    let bytes = read_model(path).unwrap_or_default();
    let is_one = Checkpoint::load(&bytes, &path.display().to_string()).is_ok();
    Some(if is_one {
        format!("is the checkpoint of a run that was interrupted; --resume {} continues it", path.display())
    } else {
        "exists and is not a checkpoint".to_owned()
    })
}
