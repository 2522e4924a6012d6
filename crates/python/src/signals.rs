//! Python's signals, such as Ctrl-C, during long work without Python's lock.

use std::time::{Duration, Instant};

use meromorph::{Error, Result};
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
    pub(crate) fn look(&mut self) -> Result<()> {
        if self.stopped.is_none() && self.looked.elapsed() >= PAUSE {
            self.looked = Instant::now();
            self.stopped = Python::attach(Python::check_signals).err();
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

    /// The result of the work, or the exception that ended it.
    pub(crate) fn ended<T>(self, result: Result<T>) -> PyResult<T> {
        match self.stopped {
            Some(error) => Err(error),
            None => result.map_err(raised),
        }
    }
}
