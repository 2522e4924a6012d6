//! Devices by their names.

use meromorph::device::{Request, choices};
use meromorph::{Device, Result};
use pollster::block_on;
use pyo3::prelude::*;

/// The names of the devices that programs can choose.
#[pyfunction]
pub(crate) fn devices() -> Vec<&'static str> {
    choices()
}

/// The device of a call, on the thread that runs it: devices do not move between threads.
pub(crate) fn open(name: &str, threads: usize) -> Result<Device> {
    block_on(Device::open(&Request { device: name.to_owned(), threads, ..Request::default() }))
}
