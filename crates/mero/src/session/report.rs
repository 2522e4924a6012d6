//! The introduction before the first step of a run and the report after the last, as text and as JSON.

use meromorph::files::Warning;
use meromorph::table;
use serde::Serialize;

use super::setup::{RunTime, Session};
use crate::show::labels::{blended, limits, models_of, place};
use crate::show::metrics::metrics_table;
use meromorph::internal::host;
use meromorph::judge::Metrics;
use meromorph::nn::Spec;
use meromorph::report::{bytes, count, counted, duration, facts, figure, scaled_count};
use meromorph::run::{Blend, Judged};
use meromorph::train::{Data, Outcome, Stop, Trainer, TrainerConfig};

/// The report of a finished run; as JSON, the last line of its output.
#[derive(Serialize)]
pub(crate) struct TrainReport {
    event: &'static str,
    task: &'static str,
    rows: Rows,
    epochs: usize,
    best_epoch: Option<usize>,
    stop: Stop,
    steps: u64,
    step: &'static str,
    device: &'static str,
    threads: usize,
    seconds: f64,
    samples_per_s: f64,
    steps_per_s: f64,
    train_loss: Option<f64>,
    val_loss: Option<f64>,
    /// Models that were trained at once.
    members: usize,
    val: Option<Metrics>,
    test: Option<Metrics>,
    /// The test rows predicted without the inputs.
    baseline: Option<Metrics>,
    /// How much of the model is linear.
    #[serde(skip_serializing_if = "Option::is_none")]
    blend: Option<Blend>,
    peak_bytes: u64,
    model: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
    /// Where a model with poles has no value, and where values are marked, after the run has measured it.
    #[serde(skip)]
    poles: Option<String>,
}

/// Row counts of the parts of the data.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Rows {
    train: usize,
    validation: usize,
    test: usize,
}

impl Rows {
    pub(crate) fn of(data: &Data) -> Self {
        let [train, validation, test] = [&data.train, &data.validation, &data.test].map(|part| part.rows(data.targets));
        Self { train, validation, test }
    }
}

impl TrainReport {
    pub(crate) fn new(
        session: &Session,
        trainer: &Trainer,
        outcome: &Outcome,
        pace: &RunTime,
        [val, test, baseline]: [Option<Metrics>; 3],
    ) -> Self {
        let rows = Rows::of(trainer.data());
        let best = outcome.best_epoch.and_then(|epoch| trainer.history().get(epoch));
        let members = trainer.settings().members;
        // Several models keep the weights of epochs of their own.
        let [train_loss, val_loss] = if members == 1 {
            [best.map(|report| report.train_loss), best.and_then(|report| report.val_loss)]
        } else {
            let kept = trainer.best_losses().into_iter().sum::<Option<f64>>();
            [None, kept.map(|sum| sum / members as f64).filter(|_| rows.validation > 0)]
        };
        let steps_per_s = pace.steps as f64 / pace.seconds.max(1e-9);
        let info = session.device.info();
        Self {
            event: "report",
            task: session.task(),
            rows,
            epochs: outcome.epochs,
            best_epoch: outcome.best_epoch.map(|epoch| epoch + 1),
            stop: outcome.stop.clone(),
            steps: outcome.steps,
            step: trainer.step_kind().name(),
            device: info.device,
            threads: info.threads,
            seconds: pace.seconds,
            samples_per_s: steps_per_s * rows.train as f64 / trainer.steps_per_epoch() as f64,
            steps_per_s,
            train_loss,
            val_loss,
            members,
            val,
            test,
            baseline,
            peak_bytes: host::peak_bytes(),
            model: session.out.as_ref().map(|path| path.display().to_string()),
            blend: None,
            warnings: Vec::new(),
            poles: trainer
                .spec()
                .ok()
                .and_then(Spec::head)
                .map(|head| limits(&head.decoding, &session.run.preparation.target)),
        }
    }

    /// With what a person should know about the model.
    pub(crate) fn judged(self, judged: &Judged) -> Self {
        Self { warnings: judged.warnings.clone(), blend: judged.blend, ..self }
    }

    /// The metrics of each part, as a page names them.
    pub(crate) fn parts(&self) -> Vec<(&'static str, Option<Metrics>)> {
        vec![("validation rows", self.val), ("test rows", self.test), ("without inputs", self.baseline)]
    }

    /// The epoch whose weights were kept, from 0.
    pub(crate) fn best_epoch(&self) -> Option<usize> {
        self.best_epoch.map(|epoch| epoch - 1)
    }

    /// The settings of the run, for a page.
    pub(crate) fn facts(&self, session: &Session, trainer: &Trainer) -> Vec<(&'static str, String)> {
        let (settings, Rows { train, validation, test }) = (trainer.settings(), self.rows);
        let [train, validation, test] = [train, validation, test].map(|rows| count(rows as u64));
        let kept = self.best_epoch.map_or_else(String::new, |epoch| format!("; kept {}", self.kept(epoch)));
        vec![
            ("data", session.source.clone()),
            ("rows", format!("{train} for training, {validation} for validation, {test} for testing")),
            ("model", layers(session, trainer)),
            ("loss", settings.loss.text().to_owned()),
            ("optimiser", format!("{}, learning rate {}", settings.optimizer.name(), figure(settings.lr))),
            ("batch", counted(settings.batch, "row")),
            ("epochs", format!("{} of at most {}{kept}", self.epochs, settings.epochs)),
            ("seed", settings.seed.to_string()),
            ("took", format!("{} on {}", duration(self.seconds), self.device)),
            ("engine", concat!("meromorph ", env!("CARGO_PKG_VERSION")).to_owned()),
            ("file", self.model.clone().unwrap_or_else(|| "not saved".into())),
        ]
    }

    /// Which weights were kept, of the best epoch or of the last of several models' best epochs.
    fn kept(&self, epoch: usize) -> String {
        if self.members == 1 {
            return format!("the weights of epoch {epoch}");
        }
        format!("the best weights of each of {} models, the last of epoch {epoch}", self.members)
    }

    /// The report as text.
    pub(crate) fn text(&self, processor: &str) -> String {
        let why = match self.stop {
            Stop::Patience => "validation stopped improving",
            Stop::Coverage => "too few validation rows had a value",
            _ => "ran all epochs",
        };
        let mut lines = vec![
            ("trained", format!("{} in {}: {why}", counted(self.epochs, "epoch"), duration(self.seconds))),
            ("kept", self.best_epoch.map_or_else(|| "–".into(), |epoch| self.kept(epoch))),
            ("speed", format!("{} rows/s, {} steps/s", scaled_count(self.samples_per_s), figure(self.steps_per_s))),
            ("step", format!("{} on {}", self.step, place(self.device, processor, self.threads))),
        ];
        lines.extend(self.blend.map(|blend| ("blend", blended(blend))));
        lines.extend(self.poles.clone().map(|poles| ("poles", poles)));
        if self.peak_bytes > 0 {
            lines.push(("memory", format!("{} at the peak", bytes(self.peak_bytes))));
        }
        lines.push(("model", self.model.clone().unwrap_or_else(|| "not saved; use --out FILE".into())));
        let parts = [("validation", self.val), ("test", self.test), ("without inputs", self.baseline)];
        format!("\n{}\n\n{}", metrics_table(&parts), facts(&lines))
    }
}

/// The layers of the model, how many models there are of them, and their parameters.
fn layers(session: &Session, trainer: &Trainer) -> String {
    let members = trainer.settings().members;
    let parameters = counted(trainer.parameter_count(), "parameter");
    format!("{}, {parameters}", models_of(members, &session.run.spec))
}

/// The data, model and plan, before the first step.
pub(crate) fn introduction(session: &Session, trainer: &Trainer) -> String {
    let (data, run) = (trainer.data(), &session.run);
    let Rows { train, validation, test } = Rows::of(data);
    let [train, validation, test] = [train, validation, test].map(|rows| count(rows as u64));
    let target = run.preparation.target.name();
    let columns = counted(run.preparation.features.len(), "column");
    let mut lines = vec![
        ("data", format!("{}, learning \"{target}\" from {columns}", session.source)),
        ("task", format!("{}: {}", session.task(), run.reason)),
        ("rows", format!("{train} for training, {validation} for validation, {test} for testing")),
    ];
    if let Some(gaps) = gaps(&run.gaps, session) {
        lines.push(("gaps", gaps));
    }
    lines.extend(session.judging.held.iter().map(|held| (held.part, held.text())));
    lines.push(("model", layers(session, trainer)));
    if let Some(head) = run.spec.head() {
        lines.push(("poles", limits(&head.decoding, &run.preparation.target)));
    }
    lines.push(("steps", steps(trainer)));
    if let Some(stored) = stored(trainer) {
        lines.push(("precision", stored));
    }
    if !trainer.history().is_empty() {
        lines.push(("resumed", format!("after {}", counted(trainer.history().len(), "epoch"))));
    }
    facts(&lines)
}

/// `18 per epoch, 16 rows each, 2 for an update`
fn steps(trainer: &Trainer) -> String {
    let TrainerConfig { batch, accumulate, .. } = *trainer.settings();
    let rows = batch.min(Rows::of(trainer.data()).train);
    let each = format!("{} per epoch, {} each", count(trainer.steps_per_epoch() as u64), counted(rows, "row"));
    if accumulate > 1 { format!("{each}, {accumulate} for an update") } else { each }
}

/// How the device stores what is stored in 16 bits; absent if nothing is.
pub(crate) fn stored(trainer: &Trainer) -> Option<String> {
    trainer.settings().precision.as_ref()?.storage(trainer.device().info()).ok()
}

/// Rows and cells with missing values, and how they are handled; absent if every cell has a value.
fn gaps(report: &table::MissingReport, session: &Session) -> Option<String> {
    let is_filled = session.origin.choice.fills();
    let note = if is_filled { "; empty cells are filled in" } else { "" };
    (!report.columns.is_empty()).then(|| format!("{report}{note}"))
}
