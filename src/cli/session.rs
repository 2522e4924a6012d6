//! One training run, from prepared rows to the report; shared by `train` and `demo`.

use std::cell::Cell;
use std::path::PathBuf;

use pollster::block_on;
use serde_json::json;

use super::console::{Console, complain, say, say_json};
use super::plot::{PlotData, draw};
use super::report::{Rows, TrainReport, introduction};
use super::{Answer, Failure, interrupt};
use crate::report::counted;
use crate::train::{Checkpoint, Flow, Metrics, Model, Origin, Outcome, Run, Stop, Trainer};
use crate::{Device, Error, Result, host};

/// The most warnings that are printed one by one.
const MOST_WARNINGS: usize = 10;

/// Time between checkpoints.
const AUTOSAVE_MS: f64 = 60e3;

/// The parts of a run other than its trainer.
pub(super) struct Session {
    pub device: Device,
    /// The prepared run; its data is in the trainer.
    pub run: Run,
    pub origin: Origin,
    /// The name of the table.
    pub source: String,
    pub is_json: bool,
    /// Path of the model file, if one is written.
    pub out: Option<PathBuf>,
    /// Path of the checkpoints, if any are written, and the command that resumes from one.
    pub checkpoint: Option<(PathBuf, String)>,
    /// Whether the checkpoint of this run is on disk.
    pub has_checkpoint: Cell<bool>,
}

/// Time and steps of this session, without those before a resume.
pub(super) struct RunTime {
    pub seconds: f64,
    pub steps: u64,
}

impl Session {
    /// Trains, writes the model, reports.
    pub(super) fn run(&self, trainer: &mut Trainer) -> Answer {
        self.introduce(trainer);
        let console = Console::new(self.is_json, trainer, self.run.settings.epochs);
        let steps_before = trainer.steps_done();
        let start = host::now_ms();
        let outcome = self.drive(trainer, &console);
        console.finish();
        let outcome = outcome?;
        let pace = RunTime { seconds: (host::now_ms() - start) / 1e3, steps: outcome.steps - steps_before };
        match outcome.stop {
            Stop::Requested => Err(self.interrupted(trainer, &outcome)),
            Stop::Diverged => Err(self.diverged(trainer, &outcome)),
            Stop::Epochs | Stop::Patience | Stop::Coverage => self.conclude(trainer, &outcome, &pace),
        }
    }

    fn introduce(&self, trainer: &Trainer) {
        if !self.is_json {
            let (printed, rest) = self.run.warnings.split_at(self.run.warnings.len().min(MOST_WARNINGS));
            for warning in printed {
                complain(&format!("mero train: {warning}"));
            }
            if !rest.is_empty() {
                complain(&format!("mero train: {} more warnings; --json lists all", rest.len()));
            }
            return say(&introduction(self, trainer));
        }
        let data = trainer.data();
        say_json(&json!({
            "event": "start", "source": self.source, "target": self.run.preparation.target.name(),
            "task": self.task(), "reason": self.run.reason, "rows": Rows::of(data),
            "dropped": self.run.gaps.dropped, "inputs": data.inputs, "step": trainer.step_kind().name(),
            "device": self.device.info().device, "settings": self.run.settings,
            "warnings": self.run.warnings,
        }));
    }

    /// Runs to the end and writes a checkpoint regularly.
    fn drive(&self, trainer: &mut Trainer, console: &Console) -> Result<Outcome> {
        interrupt::watch();
        loop {
            let start = host::now_ms();
            let is_due = || self.checkpoint.is_some() && host::now_ms() - start > AUTOSAVE_MS;
            let outcome = block_on(trainer.run(&mut |event| {
                console.follow(event);
                if interrupt::is_requested() || is_due() { Flow::Stop } else { Flow::Continue }
            }))?;
            if outcome.stop != Stop::Requested || interrupt::is_requested() {
                return Ok(outcome);
            }
            self.save_checkpoint(trainer)?;
        }
    }

    fn save_checkpoint(&self, trainer: &Trainer) -> Result<()> {
        let Some((path, _)) = &self.checkpoint else { return Ok(()) };
        let checkpoint = Checkpoint { origin: Some(self.origin.clone()), ..block_on(trainer.checkpoint())? };
        host::write_whole(path, &checkpoint.save(Some(self.run.preparation.clone()))?)?;
        self.has_checkpoint.set(true);
        Ok(())
    }

    fn interrupted(&self, trainer: &Trainer, outcome: &Outcome) -> Failure {
        let place = format!("interrupted after {}", counted(outcome.epochs, "epoch"));
        let Some((path, command)) = &self.checkpoint else {
            return Failure::Interrupted(format!("{place}; nothing was written"));
        };
        if let Err(error) = self.save_checkpoint(trainer) {
            return Failure::Interrupted(format!("{place}, and the checkpoint was lost: {error}"));
        }
        if self.is_json {
            say_json(&json!({ "event": "checkpoint", "path": path, "epochs": outcome.epochs, "steps": outcome.steps }));
        }
        Failure::Interrupted(format!("{place}; saved {}; go on with\n  {command}", path.display()))
    }

    /// Writes the best weights, if there are any; the message has the epoch of the divergence and advice.
    fn diverged(&self, trainer: &Trainer, outcome: &Outcome) -> Failure {
        let (epoch, lr) = (outcome.epochs + 1, self.run.settings.lr);
        let advice = format!("the loss diverged in epoch {epoch}; try a smaller learning rate, --lr {:e}", lr / 10.0);
        let kept = match (&self.out, outcome.best_epoch) {
            (Some(out), Some(best)) => match self.write(trainer) {
                Ok(()) => format!("; the weights of epoch {} are in {}", best + 1, out.display()),
                Err(error) => format!("; the weights of epoch {} are lost: {error}", best + 1),
            },
            _ => "; nothing was written".to_owned(),
        };
        Error::new(advice + &kept).into()
    }

    fn conclude(&self, trainer: &Trainer, outcome: &Outcome, pace: &RunTime) -> Answer {
        let written = self.write(trainer);
        let data = trainer.data();
        let outputs = |x: &[f32]| block_on(trainer.predict(x));
        let (validation, test) = (outputs(&data.validation.x)?, outputs(&data.test.x)?);
        let target = &self.run.preparation.target;
        let figures = |z: &[f32], y: &[f32]| Metrics::of(&self.run.spec, &self.run.settings.loss, z, y, target.scale());
        let baseline = Metrics::baseline(target, &self.run.settings.loss, &data.test.y);
        let metrics = [figures(&validation, &data.validation.y), figures(&test, &data.test.y), baseline];
        let report = TrainReport::new(self, trainer, outcome, pace, metrics);
        if self.is_json {
            say_json(&report);
        } else {
            let picture = PlotData::of(&self.run.spec, &self.run.preparation, &test, &data.test.y);
            say(&report.text(&self.device.info().name));
            if !data.test.y.is_empty() {
                say(&draw(&picture, "test rows"));
            }
        }
        written?;
        // The run is over: there is nothing to resume.
        let checkpoint = self.checkpoint.iter().filter(|_| self.has_checkpoint.get());
        for (path, _) in checkpoint {
            host::remove(path)?;
        }
        Ok(())
    }

    fn write(&self, trainer: &Trainer) -> Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        let (parameters, preparation) = (block_on(trainer.parameters())?, self.run.preparation.clone());
        let model = Model::new(self.run.spec.clone(), self.run.settings.loss.clone(), parameters, Some(preparation));
        host::write_whole(out, &model.save()?)
    }

    /// The name of the task.
    pub(super) fn task(&self) -> &'static str {
        self.run.preparation.target.task().name()
    }
}
