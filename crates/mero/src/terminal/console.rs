//! Standard output and standard error; the progress of a run: JSON lines for programs, a bar for people at a terminal, plain lines for files and
//! pipes.

use std::cell::Cell;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::color;
use super::printable::{json_printable, printable};
use super::progress::{Progress, is_wanted};
use super::spelled::spelled;
use meromorph::internal::host;
use meromorph::report::{figure, scaled_count};
use meromorph::train::{EpochReport, Event, Trainer};
use meromorph::{Error, Result};

/// The first failed write to standard output. Work such as training goes on, so that its files are written; the command then ends with this error.
static FAILED: Mutex<Option<io::Error>> = Mutex::new(None);

/// Writes a line to standard output.
pub(crate) fn say(line: &str) {
    put(format!("{}\n", printable(line)).as_bytes());
}

/// Writes one JSON object to standard output.
pub(crate) fn say_json(value: &impl serde::Serialize) {
    let line = serde_json::to_string(value).expect("words and figures can be written as JSON");
    put(format!("{}\n", json_printable(&line)).as_bytes());
}

/// Writes a text to standard output: to a file or a pipe as it is, to a terminal without control characters.
pub(crate) fn say_data(text: &[u8]) {
    if io::stdout().is_terminal() {
        put(printable(&String::from_utf8_lossy(text)).as_bytes());
    } else {
        put(text);
    }
}

/// Writes a line to standard error. If that fails there is nowhere to report it.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(&spelled(line)));
}

/// Writes the error that ends a command to standard error.
pub(crate) fn complain_of(message: &str) {
    let [start, end] = if color::is_on(&io::stderr()) { ["\x1b[1;31m", "\x1b[0m"] } else { [""; 2] };
    let _ = writeln!(io::stderr().lock(), "{start}mero:{end} {}", printable(message));
}

/// Writes a help text of the parser, whose only control characters are those of its colours.
pub(crate) fn say_help(text: &str) {
    put(format!("{}\n", text.trim_end()).as_bytes());
}

fn put(bytes: &[u8]) {
    let mut failed = FAILED.lock().expect("nothing panics while it is locked");
    if failed.is_none() {
        *failed = io::stdout().lock().write_all(bytes).err();
    }
}

/// Flushes standard output. Errors if it did not take everything, unless its reader closed it: `| head` wants no more.
pub(crate) fn finish_output() -> Result<()> {
    let mut failed = FAILED.lock().expect("nothing panics while it is locked");
    let error = failed.take().or_else(|| io::stdout().lock().flush().err());
    match error.filter(|error| error.kind() != ErrorKind::BrokenPipe) {
        Some(error) => Err(Error::new(format!("standard output: cannot be written: {}", host::reason(&error)))),
        None => Ok(()),
    }
}

/// Shows the progress of a run.
pub(crate) struct Console {
    is_json: bool,
    bar: Progress,
    /// Total epochs, steps per epoch, rows per epoch.
    shape: [usize; 3],
    started_ms: f64,
    steps_before: usize,
    /// Time of the last plain line, initially the start: a run shorter than a second prints none.
    last_line_ms: Cell<f64>,
}

/// Time between plain lines.
const LINE_MS: f64 = 1000.0;

impl Console {
    pub(crate) fn new(is_json: bool, trainer: &Trainer, epochs: usize) -> Self {
        let (steps, rows) = (trainer.steps_per_epoch(), trainer.data().train.rows(trainer.data().targets));
        let steps_before = trainer.steps_done() as usize;
        let bar = Progress::of((epochs * steps) as u64, "starting").starting_at(steps_before as u64).ticking();
        let started_ms = host::now_ms();
        let last_line_ms = Cell::new(started_ms);
        Self { is_json, bar, shape: [epochs, steps, rows], started_ms, steps_before, last_line_ms }
    }

    pub(crate) fn follow(&self, event: &Event<'_>) {
        match event {
            Event::Steps { epoch, done, .. } => self.bar.set((epoch * self.shape[1] + done) as u64),
            // Only a program has a source of its own.
            Event::Source(_) => {}
            Event::Epoch(report) if self.is_json => say_json(&self.epoch(report)),
            Event::Epoch(report) => {
                if !self.bar.is_hidden() {
                    self.bar.say(self.line(report));
                }
                // On a terminal the bar is enough.
                if is_wanted() && (self.bar.is_hidden() || !io::stdout().is_terminal()) {
                    self.plain(report);
                }
            }
        }
    }

    /// Removes the bar; the next line of output replaces it.
    pub(crate) fn finish(&self) {
        self.bar.finish();
    }

    fn epoch(&self, report: &EpochReport) -> Value {
        let EpochReport { epoch, train_loss, val_loss, lr, is_best, pairs, gradients, .. } = report;
        let [epochs, steps, _] = self.shape;
        json!({
            "event": "epoch", "epoch": epoch + 1, "epochs": epochs, "steps": (epoch + 1) * steps, "train_loss": train_loss,
            "val_loss": val_loss, "lr": lr, "is_best": is_best, "pairs": pairs, "gradients": gradients,
            "seconds": (host::now_ms() - self.started_ms) / 1e3,
        })
    }

    fn plain(&self, report: &EpochReport) {
        let last = self.last_line_ms.get();
        if host::now_ms() - last > LINE_MS {
            self.last_line_ms.set(host::now_ms());
            if last == self.started_ms {
                say("");
            }
            say(&format!("  {}", self.line(report)));
        }
    }

    fn line(&self, report: &EpochReport) -> String {
        let [epochs, steps, rows] = self.shape;
        let epoch = report.epoch + 1;
        let seconds = ((host::now_ms() - self.started_ms) / 1e3).max(1e-9);
        let done = (epoch * steps - self.steps_before) as f64 / steps as f64;
        let rate = scaled_count(done * rows as f64 / seconds);
        let validation = report.val_loss.map_or_else(String::new, |loss| format!("  val {}", figure(loss)));
        let coverage = report.pairs.map_or_else(String::new, |pairs| format!("  coverage {}", figure(pairs.coverage)));
        let width = epochs.to_string().len();
        let train = figure(report.train_loss);
        format!("epoch {epoch:>width$}/{epochs}  train {train}{validation}{coverage}  {rate} rows/s")
    }
}
