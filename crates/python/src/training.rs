//! Training runs.

use meromorph::files::Warning;
use meromorph::run::{About, Fold, Judged, OPTIONS, Origin, TrainOptions};
use meromorph::train::{Outcome, Stop, Trainer};
use meromorph::{Device, Result};
use pollster::block_on;
use pyo3::exceptions::{PyFloatingPointError, PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::device;
use crate::errors::raised;
use crate::model::Model;
use crate::signals::Watch;
use crate::tables::{Table, format};
use crate::values::apply;

/// Trains a model on a table. `watch` is called with the JSON text of each epoch, and with how many folds are done; it stops the run by returning `False`.
/// Returns the model and a JSON text about the run. While it trains, other threads of Python run.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the package is its only caller, which names each of them")]
pub(crate) fn train(
    py: Python<'_>,
    table: &Table,
    options: &Bound<'_, PyDict>,
    reading: &Bound<'_, PyDict>,
    folds: usize,
    device: &str,
    threads: usize,
    watch: Option<Py<PyAny>>,
) -> PyResult<(Model, String)> {
    let mut read = TrainOptions::default();
    apply(&OPTIONS, &mut read, options, "train")?;
    if read.choice.target.is_empty() {
        return Err(PyTypeError::new_err("train: got no target, expected the name of a column"));
    }
    let format = format(reading)?;
    let mut watch = Watch::new(watch);
    let trained = py.detach(|| {
        let origin = Origin { format, choice: read.choice.clone(), fractions: read.fractions, ..Origin::default() };
        device::with(device, threads, |device| block_on(run(device, &table.0, &read, &origin, folds, &mut watch)))
    });
    match (trained, watch.signals.reason()) {
        // The best model so far is worth more than the exception of Ctrl-C.
        (Ok(Some((model, report))), Some(error)) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Ok((Model::new(model), report))
        }
        (Ok(_), Some(error)) => Err(error),
        (Ok(Some((model, report))), None) => Ok((Model::new(model), report)),
        (Ok(None), None) => Err(PyFloatingPointError::new_err(diverged(&read))),
        (Err(error), _) => Err(raised(error)),
    }
}

fn diverged(options: &TrainOptions) -> String {
    let lr = options.lr.map_or_else(String::new, |lr| format!("got lr={lr:e}, "));
    format!("train: the loss diverged before a first epoch was better than none: {lr}expected a smaller learning rate")
}

/// The model and what is known about its run; `None` if no epoch gave one.
async fn run(
    device: &Device,
    table: &meromorph::files::Table,
    options: &TrainOptions,
    origin: &Origin,
    folds: usize,
    watch: &mut Watch,
) -> Result<Option<(meromorph::model::Model, String)>> {
    let mut run = options.prepare(table)?;
    let folds = crossed(table, options, folds, device, watch).await?;
    if watch.signals.is_stopped() {
        return Ok(None);
    }
    let data = std::mem::take(&mut run.data);
    let mut trainer = Trainer::new(device, run.spec.clone(), run.settings.clone(), data)?;
    trainer.choose_geometry().await?;
    let outcome = trainer.run(&mut |event| watch.follow(event)).await?;
    if outcome.stop == Stop::Requested {
        trainer.conclude().await?;
    }
    if outcome.best_epoch.is_none() && matches!(outcome.stop, Stop::Requested | Stop::Diverged) {
        return Ok(None);
    }
    let about = About {
        source: table.source(),
        origin,
        preparation: &run.preparation,
        dropped: run.gaps.dropped,
        folds: &folds,
    };
    let judged = Judged::of(&trainer, &outcome, about).await?;
    let warnings = run.warnings.iter().chain(&judged.warnings).map(Warning::to_string).collect();
    let gaps = (!run.gaps.columns.is_empty()).then(|| run.gaps.to_string());
    let report = report(&trainer, &outcome, (&run.reason, gaps), warnings);
    Ok(Some((judged.model, report)))
}

/// The folds of a cross-validation, if there are to be some.
async fn crossed(
    table: &meromorph::files::Table,
    options: &TrainOptions,
    count: usize,
    device: &Device,
    watch: &mut Watch,
) -> Result<Vec<Fold>> {
    let mut done = Vec::new();
    if count == 0 {
        return Ok(done);
    }
    for split in options.folds(table, count)? {
        let (spec, settings) = options.resolve(&split)?;
        let run = split.run(table, spec, settings)?;
        done.push(Fold::train(device, run, &mut |_| watch.look()).await?);
        if watch.signals.is_stopped() {
            break;
        }
        watch.call(&format!("{{\"fold\": {}, \"folds\": {count}}}", done.len()));
    }
    Ok(done)
}

/// What is known about a run besides its model, as JSON.
fn report(
    trainer: &Trainer,
    outcome: &Outcome,
    (reason, gaps): (&str, Option<String>),
    warnings: Vec<String>,
) -> String {
    let report = json!({
        "stop": outcome.stop, "epochs": outcome.epochs, "best_epoch": outcome.best_epoch.map(|epoch| epoch + 1), "steps": outcome.steps,
        "step": trainer.step_kind().name(), "device": trainer.device().info().device, "reason": reason, "gaps": gaps, "warnings": warnings,
        "history": trainer.history(),
    });
    report.to_string()
}
