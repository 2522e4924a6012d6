//! One training run, from prepared rows to the report; shared by `train` and `demo`.

pub(crate) mod checkpoints;
pub(crate) mod folds;
pub(crate) mod replace;
mod report;
mod setup;
pub(crate) mod tensorboard;

use std::path::PathBuf;

use pollster::block_on;
use serde_json::json;

use crate::options::contents::PAGE;
use crate::options::outputs::{keep_elsewhere, keep_out};
use crate::show::folds::FoldSummary;
use crate::show::page::content::PageContent;
use crate::show::page::page;
use crate::show::plot::{PlotData, draw};
use crate::terminal::console::{Console, complain, say, say_json};
use crate::{Answer, Failure};
use checkpoints::{Checkpoints, Driving, place};
use meromorph::files::Warning;
use meromorph::internal::host;
use meromorph::model::Model;
use meromorph::run::{About, Fold, Judged};
use meromorph::train::{Outcome, Stop, Trainer};
use meromorph::{Error, Result};
use replace::check_model;
use report::{Rows, TrainReport, introduction, stored};
pub(crate) use setup::{Held, JudgedRows, Judging, ResumeCommand, RunTime, Session};

/// The most warnings that are printed one by one.
const MOST_WARNINGS: usize = 10;

/// Says the first warnings of a command, and how many more there are.
pub(crate) fn say_warnings(command: &str, warnings: &[Warning]) {
    let (printed, rest) = warnings.split_at(warnings.len().min(MOST_WARNINGS));
    for warning in printed {
        complain(&format!("mero {command}: {warning}"));
    }
    if !rest.is_empty() {
        complain(&format!("mero {command}: {} more warnings; --json lists all", rest.len()));
    }
}

impl Session {
    /// Trains, writes the model, reports.
    pub(super) fn run(&self, trainer: &mut Trainer) -> Answer {
        self.introduce(trainer);
        if let Some(plan) = &self.judging.repeats {
            plan.run(&self.device, self.is_json)?;
        }
        let folds = self.judging.folds.as_ref().map(|plan| plan.run(&self.device, self.is_json)).transpose()?;
        let folds = folds.unwrap_or_default();
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
            Stop::Epochs | Stop::Patience | Stop::Coverage => self.conclude(trainer, (&outcome, &pace), &folds),
        }
    }

    fn introduce(&self, trainer: &Trainer) {
        if !self.is_json {
            say_warnings("train", &self.run.warnings);
            return say(&introduction(self, trainer));
        }
        let data = trainer.data();
        say_json(&json!({
            "event": "start", "source": self.source, "target": self.run.preparation.target.name(),
            "task": self.task(), "reason": self.run.reason, "rows": Rows::of(data),
            "dropped": self.run.gaps.dropped, "inputs": data.inputs, "step": trainer.step_kind().name(), "precision": stored(trainer),
            "device": self.device.info().device, "settings": self.run.settings,
            "warnings": self.run.warnings,
            "files": self.judging.held.iter().map(Held::json).collect::<Vec<_>>(),
        }));
    }

    /// Runs to the end and writes a checkpoint regularly.
    fn drive(&self, trainer: &mut Trainer, console: &Console) -> Result<Outcome> {
        let mut written = Ok(());
        let mut after = |trainer: &Trainer| {
            if let (Some(file), Some(report), Ok(())) = (&self.tensorboard, trainer.history().last(), &written) {
                written = file.borrow_mut().add(report);
                if let Err(error) = &written {
                    complain(&format!("mero train: {error}; the run goes on"));
                }
            }
            Ok(())
        };
        let bytes = |trainer: &Trainer| self.checkpoint_bytes(trainer);
        let driving = Driving { watch: &mut |event| console.follow(event), after: &mut after, bytes: &bytes };
        driving.run(trainer, self.checkpoints.as_ref())
    }

    fn checkpoint_bytes(&self, trainer: &Trainer) -> Result<Vec<u8>> {
        block_on(trainer.checkpoint())?.with_origin(&self.origin).save(Some(self.run.preparation.clone()))
    }

    fn interrupted(&self, trainer: &Trainer, outcome: &Outcome) -> Failure {
        let Some(checkpoints) = &self.checkpoints else {
            return Failure::Interrupted(format!("{}; nothing was written", place(outcome)));
        };
        let without = if self.judging.folds.is_some() { ", without the folds" } else { "" };
        checkpoints.interrupted(outcome, self.checkpoint_bytes(trainer), self.is_json, without)
    }

    /// Writes the best weights, if there are any; the message has the epoch of the divergence and advice.
    fn diverged(&self, trainer: &Trainer, outcome: &Outcome) -> Failure {
        let (epoch, lr) = (outcome.epochs + 1, self.run.settings.lr);
        let advice = format!(
            "the loss diverged in epoch {epoch}; try a smaller learning rate, --lr {:e}",
            (lr / 10.0).min(1e-2)
        );
        let kept = match (&self.out, outcome.best_epoch) {
            (Some(out), Some(best)) => match self.model(trainer).and_then(|model| self.write(&model)) {
                Ok(None) => format!("; the weights of epoch {} are in {}", best + 1, out.display()),
                Ok(Some((kept, why))) => {
                    format!("; the weights of epoch {} are in {}: {why}", best + 1, kept.display())
                }
                Err(error) => format!("; the weights of epoch {} are lost: {error}", best + 1),
            },
            _ => "; nothing was written".to_owned(),
        };
        Error::new(advice + &kept).into()
    }

    fn conclude(&self, trainer: &Trainer, (outcome, pace): (&Outcome, &RunTime), folds: &[Fold]) -> Answer {
        let data = trainer.data();
        let about = About {
            source: &self.source,
            origin: &self.origin,
            preparation: &self.run.preparation,
            dropped: self.run.gaps.dropped,
            folds,
        };
        let judged = block_on(Judged::of(trainer, outcome, about))?;
        let (validation, test) = (&judged.validation_outputs, &judged.test_outputs);
        let metrics = [judged.validation, judged.test, judged.baseline];
        let model = &judged.model;
        let written = self.write(model).map_err(|error| match &self.checkpoints {
            Some(checkpoints) => checkpoints.lost("the model", &error),
            None => Error::new(format!("{error}; the model is lost")),
        });
        let report = TrainReport::new(self, trainer, outcome, pace, metrics).judged(&judged);
        if self.is_json {
            say_json(&report);
        } else {
            let (loss, rows) = (&self.run.settings.loss, (&**test, &*data.test.y));
            let picture = PlotData::of(&model.spec, loss, &self.run.preparation, rows);
            say(&report.text(&self.device.info().name));
            if !data.test.y.is_empty() {
                say(&draw(&picture, "test rows"));
            }
        }
        if !self.is_json {
            judged.warnings.iter().for_each(|warning| complain(&format!("mero train: {warning}")));
        }
        let elsewhere = written?;
        if let Some(page) = &self.judging.report {
            let outputs = if page.is_test { (&**test, &*data.test.y) } else { (&**validation, &*data.validation.y) };
            self.write_page(page, (model, outputs), trainer, (&report, folds))?;
        }
        self.checkpoints.as_ref().map_or(Ok(()), Checkpoints::remove)?;
        match elsewhere {
            None => Ok(()),
            Some((kept, why)) => Err(Error::new(format!("{why}; the model is in {} instead", kept.display())).into()),
        }
    }

    fn write_page(
        &self,
        judged: &JudgedRows,
        (model, outputs): (&Model, (&[f32], &[f32])),
        trainer: &Trainer,
        (report, folds): (&TrainReport, &[Fold]),
    ) -> Answer {
        let part = if judged.is_test { "test rows" } else { "validation rows" };
        let mut warnings: Vec<String> = self.run.warnings.iter().map(ToString::to_string).collect();
        warnings.extend((!self.run.gaps.columns.is_empty()).then(|| self.run.gaps.to_string()));
        warnings.extend(self.judging.held.iter().map(Held::text));
        let content = PageContent {
            kind: "Training",
            source: &self.source,
            model,
            judged: (&judged.table, &judged.table.every_row()),
            part,
            outputs,
            metrics: report.parts(),
            folds: (!folds.is_empty()).then(|| FoldSummary::of("fold", folds)),
            history: trainer.history(),
            best_epoch: report.best_epoch(),
            facts: report.facts(self, trainer),
            warnings,
            config: judged.config.as_deref(),
        };
        keep_out(&judged.path, &PAGE, &page(&self.device, &content)?, self.is_forced)?;
        if !self.is_json {
            say(&format!("\n  report  {}", judged.path.display()));
        }
        Ok(())
    }

    fn model(&self, trainer: &Trainer) -> Result<Model> {
        block_on(trainer.model(Some(self.run.preparation.clone())))
    }

    /// Writes the model; to another place if that fails, with which the error is returned.
    fn write(&self, model: &Model) -> Result<Option<(PathBuf, Error)>> {
        let Some(out) = &self.out else { return Ok(None) };
        let bytes = model.save()?;
        let is_free = check_model(out, Some(&self.run.preparation), self.is_forced);
        let Err(error) = is_free.and_then(|()| host::write_whole(out, &bytes)) else { return Ok(None) };
        keep_elsewhere(out, &bytes).map(|kept| Some((kept, error.clone()))).ok_or(error)
    }
}
