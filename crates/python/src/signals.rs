//! Python's signals, such as Ctrl-C, during long work without Python's lock.

use std::time::{Duration, Instant};

use meromorph::internal::json::Record;
use meromorph::train::{Event, Flow};
use meromorph::{Error, Result};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::raised;

/// They are looked for this often.
const PAUSE: Duration = Duration::from_millis(50);

/// What came during the work.
pub(crate) struct Signals {
    looked: Instant,
    stopped: Option<PyErr>,
}

impl Signals {
    pub(crate) fn new() -> Self {
        Self { looked: Instant::now(), stopped: None }
    }

    /// Errors once a signal came whose handler raised an exception.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime, the closure of all")]
    pub(crate) fn look(&mut self) -> Result<()> {
        if self.stopped.is_none() && self.looked.elapsed() >= PAUSE {
            self.looked = Instant::now();
            self.stopped = Python::attach(|py| py.check_signals()).err();
        }
        match self.stopped {
            Some(_) => Err(Error::new("stopped by a signal")),
            None => Ok(()),
        }
    }

    /// Remembers an exception of the program's own function.
    pub(crate) fn stop(&mut self, error: PyErr) {
        self.stopped.get_or_insert(error);
    }

    /// Whether a signal or the program's own function ended the work.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// What ended the work.
    pub(crate) fn reason(self) -> Option<PyErr> {
        self.stopped
    }

    /// The result of the work, or the exception that ended it.
    pub(crate) fn ended<T>(self, result: Result<T>) -> PyResult<T> {
        match self.stopped {
            Some(error) => Err(error),
            None => result.map_err(raised),
        }
    }
}

/// The program's own part in a run: a function that is called with JSON texts and ends the run by returning `False`, and signals.
pub(crate) struct Watch {
    function: Option<Py<PyAny>>,
    pub(crate) signals: Signals,
}

impl Watch {
    pub(crate) fn new(function: Option<Py<PyAny>>) -> Self {
        Self { function, signals: Signals::new() }
    }

    /// Follows a run: each epoch is shown to the function.
    pub(crate) fn follow(&mut self, event: &Event<'_>) -> Flow {
        if let Event::Epoch(report) = event {
            self.call(&report.to_json().to_string());
        }
        self.look()
    }

    /// Only looks for signals.
    pub(crate) fn look(&mut self) -> Flow {
        if self.signals.look().is_ok() { Flow::Continue } else { Flow::Stop }
    }

    /// Calls the function.
    pub(crate) fn call(&mut self, text: &str) {
        let Some(function) = self.function.as_ref().filter(|_| !self.signals.is_stopped()) else { return };
        match Python::attach(|py| function.call1(py, (text,)).map(|answer| answer.extract::<bool>(py).ok())) {
            Ok(Some(false)) => self.signals.stop(PyKeyboardInterrupt::new_err("the program stopped the run")),
            Ok(_) => {}
            Err(error) => self.signals.stop(error),
        }
    }
}
