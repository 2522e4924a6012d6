//! Follows a run that learns from contrasts: progress, or a line of JSON for each epoch, and the log.

use std::cell::RefCell;

use serde_json::json;

use super::log::Log;
use crate::session::checkpoints::{Checkpoints, Driving};
use crate::terminal::console::say_json;
use crate::terminal::interrupt;
use crate::terminal::progress::Progress;
use meromorph::Result;
use meromorph::internal::host;
use meromorph::train::{Event, Outcome, Trainer};

/// What follows a run.
pub(super) struct Watch {
    progress: Progress,
    started_ms: f64,
    all: usize,
    is_json: bool,
    log: RefCell<Option<Log>>,
}

impl Watch {
    /// Of a run of so many epochs.
    pub(super) fn new(all: usize, is_json: bool, log: Option<Log>) -> Self {
        let progress = Progress::of(all as u64, "learning").ticking();
        let log = RefCell::new(log);
        Self { progress, started_ms: host::now_ms(), all, is_json, log }
    }

    /// Runs to the end or until Ctrl-C; the outcome, and the seconds that it took.
    pub(super) fn drive(
        self,
        trainer: &mut Trainer,
        checkpoints: &Checkpoints,
        bytes: &dyn Fn(&Trainer) -> Result<Vec<u8>>,
    ) -> Result<(Outcome, f64)> {
        let driving = Driving {
            watch: &mut |event| self.see(event),
            after: &mut |trainer| Log::follow(&mut self.log.borrow_mut(), trainer),
            bytes,
        };
        let outcome = driving.run(trainer, Some(checkpoints));
        if !interrupt::is_requested() {
            interrupt::work_is_done();
        }
        Ok((outcome?, (host::now_ms() - self.started_ms) / 1e3))
    }

    fn see(&self, event: &Event<'_>) {
        if let Some(log) = &*self.log.borrow() {
            log.see(event);
        }
        let Event::Epoch(report) = event else { return };
        self.progress.set(report.epoch as u64 + 1);
        if self.is_json {
            let (done, all, loss, lr) = (report.epoch + 1, self.all, report.train_loss, report.lr);
            say_json(&json!({ "event": "epoch", "epoch": done, "epochs": all, "loss": loss, "lr": lr }));
        }
    }
}
