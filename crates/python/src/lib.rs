//! The engine of the Python package: functions over arrays and JSON texts, which `python/meromorph` gives names, defaults and documents. The browser's
//! counterpart of this module is `python/meromorph/_browser`; both have the same functions.

mod columns;
mod contrast;
mod device;
mod errors;
mod fit;
mod model;
mod options;
mod scm;
mod signals;
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
    module.add_class::<columns::Columns>()?;
    module.add_class::<fit::SavedFit>()?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit_many, module)?)?;
    module.add_function(wrap_pyfunction!(fit::residuals, module)?)?;
    module.add_function(wrap_pyfunction!(fit::fit_models, module)?)?;
    module.add_function(wrap_pyfunction!(fit::formula_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(scm::scm_evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(scm::scm_reduce, module)?)?;
    module.add_class::<contrast::Memory>()?;
    module.add_function(wrap_pyfunction!(contrast::contrast, module)?)?;
    Ok(())
}
