//! A run that JavaScript pulls on: `next` runs one epoch and gives its event, the last of which tells why the run is over.

use std::cell::{Cell, RefCell};

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::model::Model;
use super::values::{Answer, object, thrown};
use crate::Device;
use crate::error::{Error, Result};
use crate::io::{Preparation, Table};
use crate::loss::Loss;
use crate::nn::Spec;
use crate::train::{self, EpochReport, Event, Flow, Metrics, Outcome, Recipe, Stop, Storage, Trainer};

/// A training run.
#[wasm_bindgen]
pub struct Training {
    device: Device,
    /// Taken while an epoch is under way.
    trainer: RefCell<Option<Trainer>>,
    /// Set once the run is over and its last event not yet told.
    outcome: RefCell<Option<Outcome>>,
    is_stopped: Cell<bool>,
    spec: Spec,
    loss: Loss,
    preparation: Preparation,
    start: JsValue,
}

impl Training {
    pub(super) fn start(device: &Device, table: &Table, recipe: &Recipe) -> Result<Self> {
        let run = recipe.prepare(table)?;
        let (spec, loss, preparation) = (run.spec.clone(), run.settings.loss, run.preparation);
        let [rows, validation, test] =
            [&run.data.train, &run.data.validation, &run.data.test].map(|part| part.rows(run.data.targets));
        let epochs = run.settings.epochs;
        let gaps = if run.gaps.columns.is_empty() { String::new() } else { run.gaps.to_string() };
        let trainer = Trainer::new(device, run.spec, run.settings, run.data)?;
        let start = object([
            ("event", "start".into()),
            ("step", trainer.step_kind().name().into()),
            ("epochs", count(epochs)),
            ("stepsPerEpoch", count(trainer.steps_per_epoch())),
            ("trainRows", count(rows)),
            ("valRows", count(validation)),
            ("testRows", count(test)),
            ("task", preparation.target.task().name().into()),
            ("reason", run.reason.into()),
            ("gaps", gaps.into()),
        ]);
        Ok(Self {
            device: device.clone(),
            trainer: RefCell::new(Some(trainer)),
            outcome: RefCell::default(),
            is_stopped: Cell::new(false),
            spec,
            loss,
            preparation,
            start,
        })
    }

    fn take(&self) -> Result<Trainer> {
        self.trainer.take().ok_or_else(|| Error::new("train: an epoch is already under way; wait for it first"))
    }

    /// One epoch, or the event that ends the run.
    async fn turn(&self, trainer: &mut Trainer) -> Result<JsValue> {
        let before = trainer.history().len();
        if self.outcome.borrow().is_none() {
            let ask = |_: &Event<'_>| if self.is_stopped.get() { Flow::Stop } else { Flow::Continue };
            let outcome = trainer.epoch(&mut { ask }).await?;
            self.outcome.replace(outcome);
        }
        if let Some(report) = trainer.history().get(before) {
            return Ok(epoch_event(report));
        }
        match self.outcome.take() {
            Some(outcome) => self.end_event(trainer, &outcome).await,
            None => Ok(JsValue::UNDEFINED),
        }
    }

    /// What the run amounted to. A run that was stopped also ends with the weights of its best epoch.
    async fn end_event(&self, trainer: &mut Trainer, outcome: &Outcome) -> Result<JsValue> {
        if outcome.stop == Stop::Asked {
            trainer.restore_best()?;
        }
        let (validation, test) = trainer.metrics(self.preparation.target.scale()).await?;
        // Told again should anyone ask again.
        self.outcome.replace(Some(outcome.clone()));
        Ok(object([
            ("event", "end".into()),
            ("stop", stop_name(&outcome.stop).into()),
            ("bestEpoch", outcome.best_epoch.map_or(JsValue::NULL, count)),
            ("epochs", count(outcome.epochs)),
            ("steps", (outcome.steps as f64).into()),
            ("validation", metrics(&validation)),
            ("test", metrics(&test)),
        ]))
    }
}

#[wasm_bindgen]
impl Training {
    /// What will be done, as an event.
    pub fn start_event(&self) -> JsValue {
        self.start.clone()
    }

    /// Runs one epoch and resolves with its event; once the run is over, with what it amounted to.
    pub async fn next(&self) -> Answer {
        let mut trainer = self.take().map_err(thrown)?;
        let event = self.turn(&mut trainer).await;
        self.trainer.replace(Some(trainer));
        event.map_err(thrown)
    }

    /// Asks the run to end: the epoch under way is cut short.
    pub fn stop(&self) {
        self.is_stopped.set(true);
    }

    /// The model with the weights in use: after the last event, those of the best epoch.
    pub async fn model(&self) -> Answer<Model> {
        let trainer = self.take().map_err(thrown)?;
        let parameters = trainer.parameters().await;
        self.trainer.replace(Some(trainer));
        let model = train::Model {
            spec: self.spec.clone(),
            loss: self.loss,
            parameters: parameters.map_err(thrown)?,
            preparation: Some(self.preparation.clone()),
            storage: Storage::F32,
        };
        Ok(Model::new(&self.device, model))
    }
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
    ])
}

fn metrics(metrics: &Metrics) -> JsValue {
    object([
        ("rows", count(metrics.rows)),
        ("loss", metrics.loss.into()),
        ("mse", number(metrics.mse)),
        ("mae", number(metrics.mae)),
        ("r2", number(metrics.r2)),
        ("accuracy", number(metrics.accuracy)),
        ("median", number(metrics.median)),
        ("coverage", number(metrics.coverage)),
        ("gap", number(metrics.gap)),
        ("refused", number(metrics.refused)),
        ("found", number(metrics.found)),
    ])
}

fn count(count: usize) -> JsValue {
    (count as f64).into()
}

fn number(value: Option<f64>) -> JsValue {
    value.map_or(JsValue::NULL, JsValue::from_f64)
}

fn stop_name(stop: &Stop) -> &'static str {
    match stop {
        Stop::Epochs => "epochs",
        Stop::Patience => "patience",
        Stop::Coverage => "coverage",
        Stop::Asked => "asked",
        Stop::Diverged => "diverged",
    }
}
