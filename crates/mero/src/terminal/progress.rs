//! Progress of long work: one line on standard error that is rewritten, with the estimated remaining time. Nothing in files and pipes, with
//! `--json`, with `--quiet` and on a terminal that cannot move its cursor.

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use super::color;

static IS_WANTED: AtomicBool = AtomicBool::new(true);

/// Time between two drawings.
const TICK: Duration = Duration::from_millis(100);

/// Decides whether progress is reported to people.
pub(crate) fn want(is_wanted: bool) {
    IS_WANTED.store(is_wanted, Ordering::Relaxed);
}

/// Whether it is.
pub(crate) fn is_wanted() -> bool {
    IS_WANTED.load(Ordering::Relaxed)
}

/// A line of progress, removed when dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Progress of `length` equal parts, with the remaining time.
    pub(crate) fn of(length: u64, what: &str) -> Self {
        let bar = if color::is_on(&io::stderr()) { "{wide_bar:.cyan/black.bright}" } else { "{wide_bar}" };
        let style = style(&format!("  {bar}  {{msg}}{{left}}")).progress_chars("━╸─").with_key("left", remaining);
        Self::started(|| ProgressBar::new(length).with_style(style), what)
    }

    /// Progress of work whose length is unknown: the time so far.
    pub(crate) fn open(what: &str) -> Self {
        Self::started(|| ProgressBar::new_spinner().with_style(style("  {spinner} {msg}  {elapsed}")), what).ticking()
    }

    fn started(bar: impl FnOnce() -> ProgressBar, what: &str) -> Self {
        if !is_wanted() || color::is_dumb() || !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        Self(bar().with_message(what.to_owned()))
    }

    /// The same, drawn regularly by a thread: for parts that take seconds.
    pub(crate) fn ticking(self) -> Self {
        if !self.is_hidden() {
            self.0.enable_steady_tick(TICK);
        }
        self
    }

    /// Sets the number of parts that are done.
    pub(crate) fn set(&self, done: u64) {
        self.0.set_position(done);
    }

    /// Starts at a number of parts, which took no time.
    pub(crate) fn starting_at(self, done: u64) -> Self {
        self.0.set_position(done);
        self.0.reset_eta();
        self
    }

    /// Sets the number of parts that are done, and of all.
    pub(crate) fn reach(&self, done: usize, all: usize) {
        self.0.set_length(all as u64);
        self.set(done as u64);
    }

    /// One more part is done.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }

    /// Sets the text.
    pub(crate) fn say(&self, what: String) {
        self.0.set_message(what);
    }

    /// Whether it is not drawn.
    pub(crate) fn is_hidden(&self) -> bool {
        self.0.is_hidden()
    }

    /// Removes the line; the next output replaces it.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The estimated remaining time; nothing before the first part is done.
fn remaining(state: &ProgressState, out: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        // A line that cannot be written is drawn again.
        let _ = write!(out, "  {:#} left", HumanDuration(state.eta()));
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are written above")
}
