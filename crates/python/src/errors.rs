//! Errors of the engine as the exceptions that Python programs expect.

use meromorph::{Error, ErrorKind};
use pyo3::PyErr;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

/// Wrong options and data that cannot be used are `ValueError`, what the device or the engine is to blame for is `RuntimeError`.
pub(crate) fn raised(error: Error) -> PyErr {
    let message = error.to_string();
    match error.kind() {
        ErrorKind::Usage | ErrorKind::Input => PyValueError::new_err(message),
        ErrorKind::Device | ErrorKind::Internal => PyRuntimeError::new_err(message),
    }
}
