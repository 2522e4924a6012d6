//! A training run for JavaScript: `next` runs one epoch and returns its event; the last event has the reason for the end.

use std::cell::{Cell, RefCell};

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::READING;
use super::metrics::{count, metrics, number};
use meromorph::Device;
use meromorph::error::{Error, Result};
use meromorph::files::{Format, Table, Warning};
use meromorph::internal::host::{Share, sharing};
use meromorph::model;
use meromorph::run::{About, Judged, Origin, Run, TrainOptions};
use meromorph::table::Preparation;
use meromorph::train::{Checkpoint, EpochReport, Event, Flow, GradientReport, Outcome, Stop, Trainer};
use meromorph_web_model::Model;
use meromorph_web_values::{Answer, object, thrown};

/// A training run.
#[wasm_bindgen]
pub struct Training {
    device: Device,
    /// `None` while an epoch is running.
    trainer: RefCell<Option<Trainer>>,
    /// Set once the run is over.
    outcome: RefCell<Option<Outcome>>,
    /// The model of a run that is over, with how it was trained and how well it did.
    judged: RefCell<Option<model::Model>>,
    is_stopped: Cell<bool>,
    /// The name of the table.
    source: String,
    preparation: Preparation,
    dropped: usize,
    origin: Origin,
    start: JsValue,
    /// Set if instances in other workers share the training.
    share: RefCell<Option<Share>>,
}

/// A new run on a table, and its trainer, which has the data.
pub(super) fn set_up(device: &Device, table: &Table, options: &TrainOptions) -> Result<(Run, Trainer)> {
    let mut run = options.prepare(table)?;
    let data = std::mem::take(&mut run.data);
    let trainer = Trainer::new(device, run.spec.clone(), run.settings.clone(), data)?;
    Ok((run, trainer))
}

impl Training {
    /// A new run.
    pub(super) fn start(
        device: &Device,
        table: &Table,
        source: &str,
        options: TrainOptions,
        format: Format,
    ) -> Result<Self> {
        let (run, trainer) = set_up(device, table, &options)?;
        let TrainOptions { choice, fractions, .. } = options;
        let origin = Origin { format, choice, fractions, ..Origin::default() };
        Ok(Self::over(device, run, trainer, origin, source))
    }

    /// Resumes the run of a checkpoint on the same table, which is named `source`.
    pub(super) fn resume(device: &Device, table: &Table, source: &str, checkpoint: Checkpoint) -> Result<Self> {
        let mut run = Run::again(table, &checkpoint, "checkpoint")?;
        let origin = checkpoint.origin("checkpoint")?;
        let trainer = Trainer::resume(device, std::mem::take(&mut run.data), checkpoint)?;
        Ok(Self::over(device, run, trainer, origin, source))
    }

    fn over(device: &Device, run: Run, trainer: Trainer, origin: Origin, source: &str) -> Self {
        let data = trainer.data();
        let [rows, validation, test] =
            [&data.train, &data.validation, &data.test].map(|part| count(part.rows(data.targets)));
        let gaps = if run.gaps.columns.is_empty() { String::new() } else { run.gaps.to_string() };
        let start = object([
            ("event", "start".into()),
            ("step", trainer.step_kind().name().into()),
            ("epochs", count(run.settings.epochs)),
            ("epochsDone", count(trainer.history().len())),
            ("stepsPerEpoch", count(trainer.steps_per_epoch())),
            ("trainRows", rows),
            ("valRows", validation),
            ("testRows", test),
            ("task", run.preparation.target.task().name().into()),
            ("reason", run.reason.into()),
            ("gaps", gaps.into()),
            ("warnings", run.warnings.iter().map(warning).collect::<Array>().into()),
        ]);
        Self {
            device: device.clone(),
            trainer: RefCell::new(Some(trainer)),
            outcome: RefCell::default(),
            judged: RefCell::default(),
            is_stopped: Cell::new(false),
            source: source.to_owned(),
            preparation: run.preparation,
            dropped: run.gaps.dropped,
            origin,
            start,
            share: RefCell::default(),
        }
    }

    fn take(&self) -> Result<Trainer> {
        self.trainer.take().ok_or_else(|| Error::usage("train: an epoch is already under way; wait for it first"))
    }

    /// One epoch, or the event that ends the run.
    async fn turn(&self, trainer: &mut Trainer) -> Result<JsValue> {
        let before = trainer.history().len();
        if self.outcome.borrow().is_none() {
            let watch = |_: &Event<'_>| if self.is_stopped.get() { Flow::Stop } else { Flow::Continue };
            sharing(self.share.borrow().clone());
            let outcome = trainer.epoch(&mut { watch }).await;
            sharing(None);
            self.outcome.replace(outcome?);
        }
        if let Some(report) = trainer.history().get(before) {
            return Ok(epoch_event(report));
        }
        match self.outcome.take() {
            Some(outcome) => self.end_event(trainer, &outcome).await,
            None => Ok(JsValue::UNDEFINED),
        }
    }

    /// The event with the result of the run. A stopped run also ends with the weights of its best epoch.
    async fn end_event(&self, trainer: &mut Trainer, outcome: &Outcome) -> Result<JsValue> {
        if outcome.stop == Stop::Requested {
            trainer.conclude().await?;
        }
        let Self { source, preparation, origin, dropped, .. } = self;
        let about = About { source, origin, preparation, dropped: *dropped, folds: &[] };
        let judged = Judged::of(trainer, outcome, about).await?;
        self.judged.replace(Some(judged.model));
        // Kept, so that later calls return the event again.
        self.outcome.replace(Some(outcome.clone()));
        Ok(object([
            ("event", "end".into()),
            ("stop", stop_name(&outcome.stop).into()),
            ("bestEpoch", outcome.best_epoch.map_or(JsValue::NULL, count)),
            ("epochs", count(outcome.epochs)),
            ("steps", (outcome.steps as f64).into()),
            ("validation", metrics(&judged.validation.unwrap_or_default())),
            ("test", metrics(&judged.test.unwrap_or_default())),
            ("warnings", judged.warnings.iter().map(warning).collect::<Array>().into()),
        ]))
    }
}

#[wasm_bindgen]
impl Training {
    /// The plan of the run, as an event.
    pub fn start_event(&self) -> JsValue {
        self.start.clone()
    }

    /// Size in words of the parts of a step that instances in other workers can compute; 0 if they cannot.
    pub fn piece_words(&self) -> u32 {
        let trainer = self.trainer.borrow();
        let on_cpu = trainer.as_ref().filter(|_| self.device.info().runs_cpu_path());
        on_cpu.map_or(0, |trainer| trainer.gradient_words() as u32)
    }

    /// Computes each step together with the other instances of `share`, which must all be at the same step.
    pub fn share(&self, share: Share) {
        self.share.replace(Some(share));
    }

    /// Runs one epoch and resolves with its event; once the run is over, with its result.
    pub async fn next(&self) -> Answer {
        let mut trainer = self.take().map_err(thrown)?;
        let event = self.turn(&mut trainer).await;
        self.trainer.replace(Some(trainer));
        event.map_err(thrown)
    }

    /// Stops the run: the current epoch is cut short.
    pub fn stop(&self) {
        self.is_stopped.set(true);
    }

    /// The model with the current weights; after the last event, those of the best epoch.
    pub async fn model(&self) -> Answer<Model> {
        let judged = self.judged.borrow().clone();
        let model = match judged {
            Some(model) => model,
            None => self.current().await.map_err(thrown)?,
        };
        Ok(Model::new(&self.device, model, READING))
    }

    /// The bytes of a checkpoint, from which the run resumes bit for bit. Errors once the run is over.
    pub async fn checkpoint(&self) -> Answer<Uint8Array> {
        let trainer = self.take().map_err(thrown)?;
        let bytes = self.saved(&trainer).await;
        self.trainer.replace(Some(trainer));
        Ok(Uint8Array::from(bytes.map_err(thrown)?.as_slice()))
    }
}

impl Training {
    /// The model with the current weights.
    async fn current(&self) -> Result<model::Model> {
        let trainer = self.take()?;
        let model = trainer.model(Some(self.preparation.clone())).await;
        self.trainer.replace(Some(trainer));
        model
    }

    async fn saved(&self, trainer: &Trainer) -> Result<Vec<u8>> {
        if self.outcome.borrow().is_some() {
            return Err(Error::usage("checkpoint: the run is over; save its model instead"));
        }
        trainer.checkpoint().await?.with_origin(&self.origin).save(Some(self.preparation.clone()))
    }
}

fn warning(warning: &Warning) -> JsValue {
    let Warning { column, message, cells } = warning;
    let cells = cells.iter().map(|cell| JsValue::from_str(cell)).collect::<Array>();
    object([("column", column.into()), ("message", message.into()), ("cells", cells.into())])
}

fn epoch_event(report: &EpochReport) -> JsValue {
    object([
        ("event", "epoch".into()),
        ("epoch", count(report.epoch)),
        ("trainLoss", report.train_loss.into()),
        ("valLoss", number(report.val_loss)),
        ("lr", report.lr.into()),
        ("isBest", report.is_best.into()),
        ("coverage", number(report.pairs.map(|pairs| pairs.coverage))),
        ("gradients", report.gradients.map_or(JsValue::NULL, |gradients| gradient_figures(&gradients))),
    ])
}

fn gradient_figures(report: &GradientReport) -> JsValue {
    object([
        ("updates", count(report.updates as usize)),
        ("skipped", count(report.skipped as usize)),
        ("limited", count(report.limited as usize)),
        ("largestNorm", report.largest_norm.into()),
        ("lossScale", number(report.loss_scale)),
    ])
}

fn stop_name(stop: &Stop) -> &'static str {
    match stop {
        Stop::Epochs => "epochs",
        Stop::Patience => "patience",
        Stop::Coverage => "coverage",
        Stop::Requested => "stopped",
        Stop::Diverged => "diverged",
    }
}
