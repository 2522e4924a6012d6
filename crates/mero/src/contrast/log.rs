//! The log of a run that learns from contrasts: a line of JSON for the run, then one for each epoch.

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use pollster::block_on;
use serde_json::{Value, json};

use crate::options::contents::CONTRAST_LOG;
use crate::options::outputs::write_out;
use crate::terminal::console::complain;
use crate::{Answer, Failure};
use meromorph::contrast::{ContrastOrigin, RowOrigin, metric_weights};
use meromorph::export::digest;
use meromorph::internal::host;
use meromorph::internal::json::Record;
use meromorph::train::{Event, Trainer};
use meromorph::{Device, Error, Result};

/// A log that a run writes.
pub(super) struct Log {
    file: std::fs::File,
    name: String,
    /// What the source of gradients last reported.
    figures: RefCell<Vec<(String, f64)>>,
    /// When the last epoch ended.
    since_ms: f64,
}

/// What the first line says of a run.
pub(super) struct Run<'r> {
    pub(super) origin: &'r ContrastOrigin,
    pub(super) device: &'r Device,
    /// Rows to learn from, and those that judge.
    pub(super) rows: [usize; 2],
    /// Coordinates of a row.
    pub(super) columns: usize,
    pub(super) classes: usize,
}

impl Run<'_> {
    fn line(&self) -> Value {
        let [learned, held] = self.rows;
        json!({
            "event": "run", "kind": KIND, "options": self.origin.options, "config_sha256": self.hash(), "seed": self.origin.options.seed,
            "rows": { "learned": learned, "held": held }, "columns": self.columns, "classes": self.classes,
            "device": self.device.info().device,
        })
    }

    /// Identifies options and rows, wherever the files of labels and of a model lie.
    fn hash(&self) -> String {
        let rows = RowOrigin { labels: None, through: None, ..self.origin.rows.clone() };
        let origin = ContrastOrigin { rows, ..self.origin.clone() };
        digest(origin.to_json().to_string().as_bytes())
    }
}

/// What the first line of every log says.
const KIND: &str = "meromorph contrast";

impl Log {
    /// Begins the log of a new run, or goes on with that of a run that is resumed after so many epochs: later ones, which are run again, are taken out of
    /// it.
    ///
    /// Errors if the file is the log of another run, or cannot be written.
    pub(super) fn open(path: &Path, run: &Run<'_>, epochs: Option<usize>, is_forced: bool) -> Answer<Self> {
        let first = format!("{}\n", run.line());
        let old = epochs.filter(|_| host::file_bytes(path).is_some_and(|bytes| bytes > 0));
        let text = match old {
            Some(epochs) => kept(&String::from_utf8_lossy(&host::read(path)?), run, epochs)
                .map_err(|what| Failure::usage(format!("{}: {what}; name another --log", path.display())))?,
            None => first,
        };
        write_out(path, &CONTRAST_LOG, text.as_bytes(), is_forced)?;
        let name = path.display().to_string();
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|error| Error::new(format!("{name}: cannot be written: {}", host::reason(&error))))?;
        Ok(Self { file, name, figures: RefCell::default(), since_ms: host::now_ms() })
    }

    /// Keeps what the source of gradients reports.
    pub(super) fn see(&self, event: &Event<'_>) {
        if let Event::Source(report) = event {
            self.figures.replace(report.to_vec());
        }
    }

    /// Writes the line of the last epoch. Errors if the parameters cannot be read.
    fn epoch(&mut self, trainer: &Trainer) -> Result<std::io::Result<()>> {
        let Some(report) = trainer.history().last() else { return Ok(Ok(())) };
        let now = host::now_ms();
        let mut line = json!({
            "event": "epoch", "epoch": report.epoch + 1, "windows": trainer.steps_per_epoch(), "loss": report.train_loss, "lr": report.lr,
            "seconds": (now - self.since_ms) / 1e3,
        });
        self.since_ms = now;
        // The loss of the epoch is the mean over its windows; the other figures are those of its last window.
        for (name, figure) in self.figures.borrow().iter().filter(|(name, _)| name != "loss") {
            line[name] = json!(figure);
        }
        if let Some([smallest, largest]) = block_on(metric_weights(trainer))? {
            line["smallest_weight"] = json!(smallest);
            line["largest_weight"] = json!(largest);
        }
        // One write, so that nobody reads half a line.
        Ok(self.file.write_all(format!("{line}\n").as_bytes()))
    }

    /// Writes the line of the last epoch into a log, if there is one; a log that cannot be written any more is given up.
    pub(super) fn follow(log: &mut Option<Self>, trainer: &Trainer) -> Result<()> {
        let Some(open) = log else { return Ok(()) };
        if let Err(error) = open.epoch(trainer)? {
            let (name, reason) = (&open.name, host::reason(&error));
            complain(&format!("mero contrast: {name}: cannot be written: {reason}; the run goes on without it"));
            *log = None;
        }
        Ok(())
    }
}

/// The lines of a log that a resumed run goes on with: those of the epochs before the checkpoint. The last line may be torn. Errors with what is wrong.
fn kept(text: &str, run: &Run<'_>, epochs: usize) -> std::result::Result<String, String> {
    let mut kept = String::new();
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    for (at, line) in lines.enumerate() {
        let value: Value = serde_json::from_str(line).map_err(|_| format!("line {}: it is not JSON", at + 1))?;
        if at == 0 {
            let (got, expected) = (&value["config_sha256"], run.hash());
            if value["kind"] != KIND || *got != expected {
                return Err(format!("it is the log of another run: got config_sha256 {got}, expected \"{expected}\""));
            }
        }
        if value["event"] == "run" || value["epoch"].as_u64().is_some_and(|epoch| epoch <= epochs as u64) {
            kept += line;
        }
    }
    if kept.is_empty() { Ok(format!("{}\n", run.line())) } else { Ok(kept) }
}
