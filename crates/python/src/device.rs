//! Devices by their names.

use std::cell::RefCell;

use meromorph::device::{Request, choices};
use meromorph::{Device, ErrorKind, Result};
use pollster::block_on;
use pyo3::prelude::*;

/// The names of the devices that programs can choose.
#[pyfunction]
pub(crate) fn devices() -> Vec<&'static str> {
    choices()
}

thread_local! {
    /// The GPU that this thread used last: opening one takes much longer than a small prediction. Devices do not move between threads.
    static GPU: RefCell<Option<(String, Device)>> = const { RefCell::new(None) };
}

/// A device for one call.
pub(crate) fn open(name: &str, threads: usize) -> Result<Device> {
    block_on(Device::open(&Request { device: name.to_owned(), threads, ..Request::default() }))
}

/// Runs `work` on the device of a call.
pub(crate) fn with<T>(name: &str, threads: usize, work: impl FnOnce(&Device) -> Result<T>) -> Result<T> {
    let known = GPU.take().filter(|(known, _)| known == name);
    let device = match known {
        Some((_, device)) => device,
        None => open(name, threads)?,
    };
    let answer = work(&device);
    // The threads of a CPU end with the call; a GPU that failed is opened again.
    let is_kept =
        !device.info().runs_cpu_path() && answer.as_ref().err().is_none_or(|error| error.kind() != ErrorKind::Device);
    GPU.set(is_kept.then(|| (name.to_owned(), device)));
    answer
}
