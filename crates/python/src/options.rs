//! The options of each task, as a list that programs can read.

use meromorph::options::{Naming, Table, rows};
use meromorph::{contrast, fit, run};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Name, group, type and range, default and document of every option of a task.
#[pyfunction]
pub(crate) fn options(task: &str) -> PyResult<Vec<[String; 5]>> {
    Ok(match task {
        "train" => of(&run::OPTIONS),
        "reading" => of(&run::READING),
        "predict" => of(&run::PREDICTING),
        "fit" => of(&fit::OPTIONS),
        "contrast" => of(&contrast::OPTIONS),
        _ => {
            let what = format!("options: got \"{task}\", expected train, reading, predict, fit or contrast");
            return Err(PyValueError::new_err(what));
        }
    })
}

fn of<T>(table: &Table<T>) -> Vec<[String; 5]> {
    rows(table, Naming::Python)
}
