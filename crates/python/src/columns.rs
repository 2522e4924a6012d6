//! Columns that fits read where they are: numbers in the memory of NumPy, and tables.

use meromorph::error::{Error, Result, hint, listed};
use meromorph::files;
use meromorph::fit::{FitTable, LevelCells};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::tables::Table;

/// Columns by name.
#[pyclass(frozen, module = "meromorph._engine")]
pub(crate) struct Columns {
    source: String,
    rows: usize,
    columns: Vec<(String, Option<Py<PyArray1<f64>>>)>,
    /// Has the columns without an array.
    written: Option<Py<Table>>,
}

#[pymethods]
impl Columns {
    /// Arrays of numbers by name, contiguous; a column that is `None` is the one of this name in `written`. Arrays are not copied.
    #[staticmethod]
    fn of(
        py: Python<'_>,
        source: String,
        columns: Vec<(String, Option<Py<PyArray1<f64>>>)>,
        written: Option<Py<Table>>,
    ) -> PyResult<Self> {
        let length = |array: &Option<Py<PyArray1<f64>>>| match (array, &written) {
            (Some(array), _) => array.bind(py).len().unwrap_or(0),
            (None, Some(table)) => table.get().0.rows(),
            (None, None) => 0,
        };
        let rows = columns.first().map_or(0, |(_, array)| length(array));
        if let Some((name, array)) = columns.iter().find(|(_, array)| length(array) != rows) {
            let (got, first) = (length(array), &columns[0].0);
            return Err(PyValueError::new_err(format!(
                "{source}: column \"{name}\" has {got} rows, column \"{first}\" has {rows}"
            )));
        }
        if let Some(twice) = (1..columns.len()).find(|&at| columns[..at].iter().any(|one| one.0 == columns[at].0)) {
            let name = &columns[twice].0;
            return Err(PyValueError::new_err(format!(
                "{source}: got two columns \"{name}\", expected different names"
            )));
        }
        Ok(Self { source, rows, columns, written })
    }

    /// All columns of a table.
    #[staticmethod]
    fn of_table(table: Py<Table>) -> Self {
        let inner = &table.get().0;
        let columns = inner.names().map(|name| (name.to_owned(), None)).collect();
        Self { source: inner.source().to_owned(), rows: inner.rows(), columns, written: Some(table) }
    }

    /// The names of the columns.
    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The number of rows.
    fn rows(&self) -> usize {
        self.rows
    }

    /// A column as numbers.
    fn numbers<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        match self.columns.iter().find(|(known, _)| known == name) {
            Some((_, Some(array))) => Ok(array.bind(py).clone()),
            _ => self.with(py, |view| Ok(PyArray1::from_slice(py, view.numbers(name).map_err(crate::errors::raised)?))),
        }
    }
}

impl Columns {
    /// Borrows the columns for a while.
    pub(crate) fn with<T>(&self, py: Python<'_>, take: impl FnOnce(&View<'_>) -> PyResult<T>) -> PyResult<T> {
        let borrowed = self.columns.iter().map(|(_, array)| Some(array.as_ref()?.bind(py).readonly()));
        let borrowed: Vec<Option<PyReadonlyArray1<'_, f64>>> = borrowed.collect();
        let mut arrays = Vec::with_capacity(borrowed.len());
        for ((name, _), array) in self.columns.iter().zip(&borrowed) {
            let slice = array.as_ref().map(PyReadonlyArray1::as_slice).transpose();
            arrays.push(slice.map_err(|_| {
                PyValueError::new_err(format!("{}: column \"{name}\": expected a contiguous array", self.source))
            })?);
        }
        take(&View { columns: self, arrays, table: self.written.as_ref().map(|table| &table.get().0) })
    }
}

/// Columns while they are borrowed; threads may share it.
pub(crate) struct View<'a> {
    columns: &'a Columns,
    arrays: Vec<Option<&'a [f64]>>,
    table: Option<&'a files::Table>,
}

impl View<'_> {
    /// The numbers of a column, unless they are in the table.
    fn array(&self, name: &str) -> Result<Option<&[f64]>> {
        let all = &self.columns.columns;
        let place = all.iter().position(|(known, _)| known == name).ok_or_else(|| {
            let names = self.names();
            let near = hint(name, names.iter().copied());
            Error::new(format!(
                "{}: the column \"{name}\" is missing: got {}{near}",
                self.columns.source,
                listed(&names)
            ))
        })?;
        Ok(self.arrays[place])
    }

    fn table(&self) -> Result<&files::Table> {
        self.table.ok_or_else(|| Error::internal("a column is neither an array nor in a table"))
    }
}

impl FitTable for View<'_> {
    fn source(&self) -> &str {
        &self.columns.source
    }

    fn names(&self) -> Vec<&str> {
        self.columns.names()
    }

    fn rows(&self) -> usize {
        self.columns.rows
    }

    fn numbers(&self, name: &str) -> Result<&[f64]> {
        match self.array(name)? {
            Some(numbers) => Ok(numbers),
            None => self.table()?.numbers(name),
        }
    }

    fn cells(&self, name: &str) -> Result<LevelCells<'_>> {
        match self.array(name)? {
            Some(numbers) => Ok(LevelCells::Numbers(numbers)),
            None => self.table()?.cells(name),
        }
    }
}
