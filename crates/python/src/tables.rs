//! Tables from arrays, from text and from files.

use std::path::PathBuf;

use meromorph::files::{self, Cells, Column, Format, Header, MISSING_CODE, read_files, read_plain};
use meromorph::run::READING;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyFileNotFoundError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::raised;
use crate::values::apply;

/// A table that can be learnt from or predicted.
#[pyclass(frozen, module = "meromorph._engine")]
pub(crate) struct Table(pub(crate) files::Table);

#[pymethods]
impl Table {
    /// A table of columns by name, in order. Those that are `None` are the columns of `text` after its first, a table as CSV, whose cells are read as
    /// those of a file are.
    #[staticmethod]
    fn of(
        source: &str,
        columns: Vec<(String, Bound<'_, PyAny>)>,
        text: Option<&[u8]>,
        reading: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let format = format(reading)?;
        let mut own = format.clone();
        (own.header, own.delimiter) = (Header::Yes, Some(",".into()));
        let written = text.map(|text| read_plain(text, source, own)).transpose().map_err(raised)?;
        // Before them are the numbers of the rows. Places are those of the arguments: a name may have been trimmed.
        let mut texts = written.iter().flat_map(files::Table::columns).skip(1).peekable();
        let mut all = Vec::with_capacity(columns.len());
        for (name, cells) in columns {
            all.push(match texts.next_if(|_| cells.is_none()) {
                Some(text) => {
                    let mut column = text.clone();
                    column.name = name;
                    column
                }
                None => column(&name, &cells)?,
            });
        }
        Ok(Self(files::Table::new(source, all).map_err(raised)?.with_format(format)))
    }

    /// The table of a file, of a folder of files, or of those that match a pattern.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, reading: &Bound<'_, PyDict>) -> PyResult<Self> {
        let format = format(reading)?;
        let is_pattern = path.to_string_lossy().contains(['*', '?', '[']);
        if !is_pattern && !path.exists() {
            return Err(PyFileNotFoundError::new_err(format!("{}: there is no such file", path.display())));
        }
        let table = py.detach(|| read_files(&path, &format).map(|(table, _)| table));
        Ok(Self(table.map_err(raised)?))
    }

    /// The names of the columns.
    fn names(&self) -> Vec<&str> {
        self.0.names().collect()
    }

    /// Whether each column holds numbers.
    fn is_numeric(&self) -> Vec<bool> {
        self.0.columns().iter().map(|column| matches!(column.cells, Cells::Numeric(_))).collect()
    }

    /// The number of rows.
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// What a person should know about how a file was read.
    fn notes(&self) -> Vec<String> {
        self.0.notes().iter().map(ToString::to_string).collect()
    }
}

fn column(name: &str, cells: &Bound<'_, PyAny>) -> PyResult<Column> {
    if let Ok(values) = cells.extract::<PyReadonlyArray1<'_, f64>>() {
        return Ok(Column::numeric(name, values.as_array().to_vec()));
    }
    if let Ok(values) = cells.extract::<PyReadonlyArray1<'_, f32>>() {
        return Ok(Column::numeric(name, values.as_array().iter().map(|value| written(*value)).collect()));
    }
    if let Ok((codes, levels)) = cells.extract::<(PyReadonlyArray1<'_, u32>, Vec<String>)>() {
        let codes = codes.as_array().to_vec();
        if let Some(code) = codes.iter().find(|code| **code != MISSING_CODE && **code as usize >= levels.len()) {
            let count = levels.len();
            return Err(PyTypeError::new_err(format!(
                "column \"{name}\": got code {code}, expected less than {count}"
            )));
        }
        return Ok(Column::new(name, Cells::Categorical { codes, levels }));
    }
    Err(PyTypeError::new_err(format!(
        "column \"{name}\": got {}, expected an array of numbers",
        cells.get_type().name()?
    )))
}

/// The number that the shortest text of a number in single precision means: what a file has of it.
fn written(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

/// How a table of text is written.
pub(crate) fn format(reading: &Bound<'_, PyDict>) -> PyResult<Format> {
    let mut format = Format::default();
    apply(&READING, &mut format, reading, "reading")?;
    format.check().map_err(raised)?;
    Ok(format)
}
