//! Checkpoints of a run: written at Ctrl-C and every minute, so that it can be resumed, and removed at its end.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use pollster::block_on;
use serde_json::json;

use super::setup::ResumeCommand;
use crate::Failure;
use crate::options::outputs::keep_elsewhere;
use crate::terminal::console::{complain, say_json};
use crate::terminal::interrupt;
use meromorph::internal::host;
use meromorph::report::counted;
use meromorph::train::{Event, Flow, Outcome, Stop, Trainer};
use meromorph::{Error, Result};

/// Time between checkpoints.
const AUTOSAVE_MS: f64 = 60e3;

/// Where the checkpoints of a run are written.
pub(crate) struct Checkpoints {
    /// The command, for messages.
    pub command: &'static str,
    pub path: PathBuf,
    pub resume: ResumeCommand,
    /// Whether that of this run is on disk.
    pub is_written: Cell<bool>,
}

/// A run that is driven: what follows it, and how its checkpoint is made.
pub(crate) struct Driving<'d> {
    pub watch: &'d mut dyn FnMut(&Event<'_>),
    /// Called after each epoch.
    pub after: &'d mut dyn FnMut(&Trainer) -> Result<()>,
    /// The bytes of a checkpoint.
    pub bytes: &'d dyn Fn(&Trainer) -> Result<Vec<u8>>,
}

impl Driving<'_> {
    /// Runs to the end or until Ctrl-C, and writes a checkpoint every minute if the run has any.
    pub(crate) fn run(self, trainer: &mut Trainer, checkpoints: Option<&Checkpoints>) -> Result<Outcome> {
        let Self { watch, after, bytes } = self;
        interrupt::watch();
        let mut start = host::now_ms();
        loop {
            let is_due = || checkpoints.is_some() && host::now_ms() - start > AUTOSAVE_MS;
            let epochs = trainer.history().len();
            let outcome = block_on(trainer.epoch(&mut |event| {
                watch(event);
                if interrupt::is_requested() || is_due() { Flow::Stop } else { Flow::Continue }
            }))?;
            if trainer.history().len() > epochs {
                after(trainer)?;
            }
            let Some(outcome) = outcome else { continue };
            if outcome.stop != Stop::Requested || interrupt::is_requested() {
                return Ok(outcome);
            }
            if let Some(checkpoints) = checkpoints {
                checkpoints.autosave(&bytes(trainer)?);
            }
            start = host::now_ms();
        }
    }
}

impl Checkpoints {
    fn autosave(&self, bytes: &[u8]) {
        match host::write_whole(&self.path, bytes) {
            Ok(()) => self.is_written.set(true),
            Err(error) => {
                let older = if self.is_written.get() { " with the checkpoint of before" } else { "" };
                complain(&format!("mero {}: {error}; the run goes on{older}", self.command));
            }
        }
    }

    /// Writes the checkpoint of a run that is interrupted, and says how it is resumed. `without` names what is left out of that.
    pub(crate) fn interrupted(
        &self,
        outcome: &Outcome,
        bytes: Result<Vec<u8>>,
        is_json: bool,
        without: &str,
    ) -> Failure {
        let place = place(outcome);
        let (path, why) = match bytes.and_then(|bytes| self.last(&bytes)) {
            Ok(saved) => saved,
            Err(error) if self.is_written.get() => {
                let command = self.resume.from(&self.path);
                return Failure::Interrupted(format!(
                    "{place}, which are not saved: {error}; continue from an earlier epoch with\n  {command}"
                ));
            }
            Err(error) => return Failure::Interrupted(format!("{place}, and the checkpoint was lost: {error}")),
        };
        let command = self.resume.from(&path);
        if is_json {
            say_json(&json!({ "event": "checkpoint", "path": path, "epochs": outcome.epochs, "steps": outcome.steps }));
        }
        Failure::Interrupted(format!("{place}; saved {}{why}{without}; continue with\n  {command}", path.display()))
    }

    /// Writes the last checkpoint, elsewhere if it cannot be written to its place. Returns its path and what is to be said of that.
    fn last(&self, bytes: &[u8]) -> Result<(PathBuf, String)> {
        let Err(error) = host::write_whole(&self.path, bytes) else { return Ok((self.path.clone(), String::new())) };
        let kept = keep_elsewhere(&self.path, bytes).ok_or_else(|| error.clone())?;
        Ok((kept, format!(" ({error})")))
    }

    /// The end of the message of a run whose result, named `what`, could be written nowhere. Its checkpoint stays.
    pub(crate) fn lost(&self, what: &str, error: &Error) -> Error {
        let way = if self.is_written.get() {
            format!("{what} is lost; repeat the last epochs with\n  {}", self.resume.from(&self.path))
        } else {
            format!("{what} is lost")
        };
        Error::new(format!("{error}; {way}")).with_kind(error.kind())
    }

    /// Removes the checkpoint of a run that is over: there is nothing to resume.
    pub(crate) fn remove(&self) -> Result<()> {
        if self.is_written.get() { host::remove(&self.path) } else { Ok(()) }
    }
}

/// `interrupted after 3 epochs`
pub(crate) fn place(outcome: &Outcome) -> String {
    format!("interrupted after {}", counted(outcome.epochs, "epoch"))
}

/// `a.b` with `.ckpt` is `a.b.ckpt`: the checkpoint of a run that writes `out`.
pub(crate) fn default_checkpoint(out: &Path) -> PathBuf {
    with_ending(out, ".ckpt")
}

/// `a.b` with `.c` is `a.b.c`.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
