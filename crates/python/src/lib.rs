//! The engine of the Python package: functions over arrays and JSON texts, which `python/meromorph` gives names, defaults and documents. The browser's
//! counterpart of this module is `python/meromorph/_browser.py`; both have the same functions.

mod device;
mod errors;
mod model;
mod options;
mod tables;
mod training;
mod values;

use pyo3::prelude::*;

/// The native engine. Its functions are private to the package.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<tables::Table>()?;
    module.add_class::<model::Model>()?;
    module.add_function(wrap_pyfunction!(device::devices, module)?)?;
    module.add_function(wrap_pyfunction!(options::options, module)?)?;
    module.add_function(wrap_pyfunction!(training::train, module)?)?;
    Ok(())
}
