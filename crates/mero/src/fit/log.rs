//! The performance log of a fit: a line of JSON for each evaluation and checkpoint that takes long.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::terminal::console::complain;
use crate::{Answer, Failure};
use meromorph::Error;
use meromorph::fit::Journal;
use meromorph::internal::host;

/// The log, if one is wanted.
pub(crate) struct Log {
    command: &'static str,
    file: Option<(File, String)>,
    threshold: Duration,
    started: Instant,
    /// When the last evaluation ended, and how many there were.
    last: (Instant, usize),
    rows: usize,
}

impl Log {
    /// A log of a command's fit that writes what takes at least `threshold` seconds.
    pub(crate) fn new(command: &'static str, path: Option<&Path>, threshold: f64) -> Answer<Self> {
        let open = |path: &Path| {
            let name = path.display().to_string();
            let file = File::create(path).map_err(|error| Error::new(format!("{name}: cannot be written: {error}")));
            file.map(|file| (file, name))
        };
        let threshold = Duration::try_from_secs_f64(threshold).map_err(|_| {
            Failure::usage(format!("log-threshold: got {threshold}, expected a number of seconds from 0"))
        })?;
        let now = Instant::now();
        Ok(Self { command, file: path.map(open).transpose()?, threshold, started: now, last: (now, 0), rows: 0 })
    }

    /// The command whose fit it is.
    pub(super) fn command(&self) -> &'static str {
        self.command
    }

    /// A search over so many rows begins, with what is computed already.
    pub(super) fn begin(&mut self, rows: usize, journal: &Journal) {
        (self.rows, self.last) = (rows, (Instant::now(), journal.evaluations()));
    }

    /// Writes a line for an evaluation that has ended.
    pub(super) fn evaluated(&mut self, journal: &Journal) {
        let (before, count) = self.last;
        if journal.evaluations() == count {
            return;
        }
        self.last = (Instant::now(), journal.evaluations());
        let took = self.last.0 - before;
        let seconds = took.as_secs_f64();
        let rate = self.rows as f64 / seconds;
        self.write(took, json!({ "event": "evaluation", "number": self.last.1, "rows": self.rows, "seconds": seconds, "rows_per_second": rate }));
    }

    /// Writes a line for a checkpoint.
    pub(super) fn saved(&mut self, took: Duration, bytes: usize) {
        // A checkpoint is no part of the next evaluation.
        self.last.0 += took;
        self.write(took, json!({ "event": "checkpoint", "seconds": took.as_secs_f64(), "bytes": bytes }));
    }

    fn write(&mut self, took: Duration, mut line: Value) {
        let Some((file, name)) = self.file.as_mut().filter(|_| took >= self.threshold) else { return };
        line["at"] = self.started.elapsed().as_secs_f64().into();
        if let Err(error) = writeln!(file, "{line}") {
            let reason = host::reason(&error);
            complain(&format!("{}: {name}: cannot be written: {reason}; the fit goes on without it", self.command));
            self.file = None;
        }
    }
}
