//! One training run, from prepared rows to the report; shared by `train` and `demo`.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use pollster::block_on;
use serde_json::json;

use super::console::{Console, complain, say, say_json};
use super::folds::{FoldPlan, FoldSummary};
use super::page::{PageContent, page};
use super::plot::{PlotData, draw};
use super::report::{Rows, TrainReport, introduction, stored};
use super::tensorboard::TensorBoard;
use super::{Answer, Failure, interrupt};
use meromorph::files::Table;
use meromorph::internal::host;
use meromorph::judge::{Calibration, Metrics, Residuals};
use meromorph::model::Model;
use meromorph::report::counted;
use meromorph::run::{Fold, HeldRows, Origin, Provenance, Run, residuals};
use meromorph::train::{Data, Event, Flow, Outcome, Stop, Trainer};
use meromorph::{Device, Error, Result};

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
    pub judging: Judging,
    /// Where the figures of epochs are written for TensorBoard.
    pub tensorboard: Option<RefCell<TensorBoard>>,
}

/// What judges the model besides the parts of its table.
#[derive(Default)]
pub(super) struct Judging {
    /// The folds to train before the model.
    pub folds: Option<FoldPlan>,
    /// Runs with other seeds to train before the model; nothing else depends on them.
    pub repeats: Option<FoldPlan>,
    /// Files of validation and test rows.
    pub held: Vec<Held>,
    /// The page to write.
    pub report: Option<JudgedRows>,
}

/// The page of a run, and the rows that it judges the model by.
pub(super) struct JudgedRows {
    pub path: PathBuf,
    pub table: Table,
    /// Whether they are the test rows, not the validation rows.
    pub is_test: bool,
    /// The options of the run as a file for `--config`; absent for a resumed run.
    pub config: Option<String>,
}

/// A file of validation or test rows.
pub(super) struct Held {
    /// `validation` or `test`.
    pub part: &'static str,
    pub table: Table,
    pub rows: HeldRows,
}

impl Held {
    fn json(&self) -> serde_json::Value {
        let HeldRows { rows, gaps, unseen } = &self.rows;
        json!({ "part": self.part, "source": self.table.source(), "rows": rows.len(), "dropped": gaps.dropped, "unseen": unseen })
    }

    /// `v.csv: 2 of 40 rows dropped; x: 2 missing; 3 cells hold a category that training did not see`
    pub(super) fn text(&self) -> String {
        let HeldRows { gaps, unseen, .. } = &self.rows;
        let mut parts = vec![self.table.source().to_owned()];
        if !gaps.columns.is_empty() {
            parts.push(gaps.to_string());
        }
        if *unseen > 0 {
            parts.push(format!("{} with a category that training did not see", counted(*unseen, "cell")));
        }
        parts.join("; ")
    }
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
            "dropped": self.run.gaps.dropped, "inputs": data.inputs, "step": trainer.step_kind().name(), "precision": stored(trainer),
            "device": self.device.info().device, "settings": self.run.settings,
            "warnings": self.run.warnings,
            "files": self.judging.held.iter().map(Held::json).collect::<Vec<_>>(),
        }));
    }

    /// Runs to the end and writes a checkpoint regularly.
    fn drive(&self, trainer: &mut Trainer, console: &Console) -> Result<Outcome> {
        interrupt::watch();
        loop {
            let start = host::now_ms();
            let is_due = || self.checkpoint.is_some() && host::now_ms() - start > AUTOSAVE_MS;
            let mut written = Ok(());
            let outcome = block_on(trainer.run(&mut |event| {
                console.follow(event);
                if let (Event::Epoch(report), Some(file), Ok(())) = (event, &self.tensorboard, &written) {
                    written = file.borrow_mut().add(report);
                }
                if interrupt::is_requested() || is_due() { Flow::Stop } else { Flow::Continue }
            }))?;
            if let Err(error) = written {
                complain(&format!("mero train: {error}; the run goes on"));
            }
            if outcome.stop != Stop::Requested || interrupt::is_requested() {
                return Ok(outcome);
            }
            self.save_checkpoint(trainer)?;
        }
    }

    fn save_checkpoint(&self, trainer: &Trainer) -> Result<()> {
        let Some((path, _)) = &self.checkpoint else { return Ok(()) };
        let checkpoint = block_on(trainer.checkpoint())?.with_origin(&self.origin);
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
        let without = if self.judging.folds.is_some() { ", without the folds" } else { "" };
        Failure::Interrupted(format!("{place}; saved {}{without}; continue with\n  {command}", path.display()))
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
                Ok(()) => format!("; the weights of epoch {} are in {}", best + 1, out.display()),
                Err(error) => format!("; the weights of epoch {} are lost: {error}", best + 1),
            },
            _ => "; nothing was written".to_owned(),
        };
        Error::new(advice + &kept).into()
    }

    fn conclude(&self, trainer: &Trainer, (outcome, pace): (&Outcome, &RunTime), folds: &[Fold]) -> Answer {
        let data = trainer.data();
        let outputs = |x: &[f32]| block_on(trainer.predict(x));
        let (validation, test) = (outputs(&data.validation.x)?, outputs(&data.test.x)?);
        let target = &self.run.preparation.target;
        let model = self.model(trainer)?;
        let figures = |z: &[f32], y: &[f32]| Metrics::of(&model.spec, &model.loss, z, y, target.scale());
        let baseline = Metrics::baseline(target, &self.run.settings.loss, &data.test.y);
        let metrics = [figures(&validation, &data.validation.y), figures(&test, &data.test.y), baseline];
        let residuals = calibration(&model, data, [&validation, &test], folds)?;
        let provenance = self.provenance(trainer, outcome, (metrics, residuals, folds));
        let models: Vec<Model> =
            folds.iter().filter(|fold| fold.residuals.is_some()).map(|fold| fold.model.clone()).collect();
        let model = model.with_provenance(&provenance).with_folds(&models)?;
        let written = self.write(&model);
        let report = TrainReport::new(self, trainer, outcome, pace, metrics);
        if self.is_json {
            say_json(&report);
        } else {
            let (loss, rows) = (&self.run.settings.loss, (&*test, &*data.test.y));
            let picture = PlotData::of(&model.spec, loss, &self.run.preparation, rows);
            say(&report.text(&self.device.info().name));
            if !data.test.y.is_empty() {
                say(&draw(&picture, "test rows"));
            }
        }
        written?;
        if let Some(judged) = &self.judging.report {
            let outputs = if judged.is_test { (&*test, &*data.test.y) } else { (&*validation, &*data.validation.y) };
            self.write_page(judged, (&model, outputs), trainer, (&report, folds))?;
        }
        // The run is over: there is nothing to resume.
        let checkpoint = self.checkpoint.iter().filter(|_| self.has_checkpoint.get());
        for (path, _) in checkpoint {
            host::remove(path)?;
        }
        Ok(())
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
            folds: (!folds.is_empty()).then(|| FoldSummary::of(folds)),
            history: trainer.history(),
            best_epoch: report.best_epoch(),
            facts: report.facts(self, trainer),
            warnings,
            config: judged.config.as_deref(),
        };
        host::write_whole(&judged.path, &page(&self.device, &content)?)?;
        if !self.is_json {
            say(&format!("\n  report  {}", judged.path.display()));
        }
        Ok(())
    }

    fn provenance(
        &self,
        trainer: &Trainer,
        outcome: &Outcome,
        ([validation, test, baseline], residuals, folds): ([Option<Metrics>; 3], Option<Residuals>, &[Fold]),
    ) -> Provenance {
        let data = trainer.data();
        let mut origin = self.origin.clone();
        for file in [&mut origin.validation_file, &mut origin.test_file] {
            *file = file.as_deref().map(file_name);
        }
        Provenance {
            source: file_name(&self.source),
            origin,
            settings: self.run.settings.clone(),
            rows: [&data.train, &data.validation, &data.test].map(|part| part.rows(data.targets)),
            dropped: self.run.gaps.dropped,
            epochs: outcome.epochs,
            best_epoch: outcome.best_epoch.map(|epoch| epoch + 1),
            validation,
            test,
            baseline,
            folds: folds.iter().filter_map(|fold| fold.metrics).collect(),
            residuals,
        }
    }

    fn model(&self, trainer: &Trainer) -> Result<Model> {
        block_on(trainer.model(Some(self.run.preparation.clone())))
    }

    fn write(&self, model: &Model) -> Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        host::write_whole(out, &model.save()?)
    }

    /// The name of the task.
    pub(super) fn task(&self) -> &'static str {
        self.run.preparation.target.task().name()
    }
}

/// The errors that prediction intervals come from: those of the folds, else of the test rows, else of the validation rows.
fn calibration(
    model: &Model,
    data: &Data,
    [validation, test]: [&[f32]; 2],
    folds: &[Fold],
) -> Result<Option<Residuals>> {
    let of_folds: Option<Vec<_>> = folds.iter().map(|fold| fold.residuals.clone()).collect();
    if let Some(groups) = of_folds.filter(|groups| !groups.is_empty()) {
        return Ok(Some(Residuals { calibration: Calibration::Folds, groups }));
    }
    let parts = [(Calibration::Test, test, &data.test), (Calibration::Validation, validation, &data.validation)];
    for (calibration, z, part) in parts {
        if let Some(group) = residuals(model, z, part)? {
            return Ok(Some(Residuals { calibration, groups: vec![group] }));
        }
    }
    Ok(None)
}

/// The last part of a path.
fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
