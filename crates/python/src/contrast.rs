//! Learned memories.

use meromorph::contrast::{self as memories, ContrastOptions, Labelled, Learning, MemoryHeader, OPTIONS};
use meromorph::internal::json::Record;
use meromorph::train::Event;
use meromorph::{Device, Result};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pollster::block_on;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::device;
use crate::errors::raised;
use crate::signals::Watch;
use crate::values::apply;

/// Most held rows that judge a memory, as in the command.
const MOST_JUDGED: usize = 10_000;

/// What is known of the rows besides their numbers.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct About {
    columns: Vec<String>,
    target: String,
    names: Vec<String>,
    is_numeric: bool,
}

/// Learns a memory of rows x [rows, inputs] with their classes. `watch` is called with the JSON text of each epoch and stops the run by returning `False`.
/// Returns the memory and a JSON text about the run.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the package is its only caller, which names each of them")]
pub(crate) fn contrast(
    py: Python<'_>,
    x: PyReadonlyArray1<'_, f32>,
    classes: PyReadonlyArray1<'_, u32>,
    about: About,
    options: &Bound<'_, PyDict>,
    device: &str,
    threads: usize,
    watch: Option<Py<PyAny>>,
) -> PyResult<(Memory, String)> {
    let mut read = ContrastOptions::default();
    apply(&OPTIONS, &mut read, options, "contrast")?;
    if !read.hidden.is_empty() {
        return Err(PyValueError::new_err(
            "contrast: hidden: a network of settling layers is no memory: expected no hidden, or the command mero contrast",
        ));
    }
    let About { columns, target, names, is_numeric } = about;
    let inputs = columns.len();
    let rows = Labelled { inputs, x: x.as_array().to_vec(), classes: classes.as_array().to_vec(), names };
    let header = MemoryHeader { columns, target, is_numeric, ..MemoryHeader::default() };
    let mut watch = Watch::new(watch);
    let learned = py
        .detach(|| device::with(device, threads, |device| block_on(learned(rows, header, &read, device, &mut watch))));
    let (memory, report) = watch.signals.ended(learned)?;
    Ok((Memory(memory), report))
}

async fn learned(
    rows: Labelled,
    header: MemoryHeader,
    options: &ContrastOptions,
    device: &Device,
    watch: &mut Watch,
) -> Result<(memories::Memory, String)> {
    let [kept, held] = rows.split(options.test, options.seed);
    let mut learning = Learning::of_part(device, &rows, &kept, options)?;
    let mut history: Vec<f64> = Vec::new();
    let mut follow = |event: &Event<'_>| {
        if let Event::Epoch(report) = event {
            history.push(report.train_loss);
        }
        watch.follow(event)
    };
    learning.run(&mut follow).await?;
    watch.signals.look()?;
    let memory = learning.memory(&rows, header).await?;
    let some: Vec<usize> = held.iter().copied().step_by(held.len().div_ceil(MOST_JUDGED).max(1)).collect();
    let judged = if some.is_empty() {
        Value::Null
    } else {
        let queries = rows.subset(&some);
        let plain = memories::Memory::plain(&rows.subset(&kept), options.sharpness)?;
        json!({
            "learned": figures(&memory.part(&kept).judge(&queries.x, &queries.classes)?),
            "plain": figures(&plain.judge(&queries.x, &queries.classes)?),
        })
    };
    let report = json!({"history": history, "rows": kept.len(), "held": held.len(), "judged": judged});
    Ok((memory, report.to_string()))
}

fn figures(judged: &memories::Judged) -> Value {
    let recall: serde_json::Map<String, Value> =
        judged.recall.iter().map(|(k, share)| (k.to_string(), json!(share))).collect();
    json!({
        "rows": judged.rows, "recall": recall, "map_at_r": judged.map_at_r, "accuracy": judged.accuracy, "known": judged.known,
    })
}

/// A learned memory.
#[pyclass(frozen, module = "meromorph._engine")]
pub(crate) struct Memory(memories::Memory);

/// Rows, distances and weights of all neighbours, query by query; whether each query is within reach; its class and the share of that.
type Found<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
);

/// The class of each row, the map, and what is subtracted first.
type Parts<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<f32>>);

#[pymethods]
impl Memory {
    /// The memory in the bytes of a file; `source` names it in errors.
    #[staticmethod]
    fn load(bytes: &[u8], source: &str) -> PyResult<Self> {
        memories::Memory::load(bytes, source).map(Self).map_err(raised)
    }

    /// The bytes of its file.
    fn save(&self) -> PyResult<Vec<u8>> {
        self.0.save().map_err(raised)
    }

    /// What its file says of it, with the number of rows, inputs and outputs, as JSON.
    fn info(&self) -> String {
        let header: Value = serde_json::from_str(&self.0.header.to_json().to_string()).unwrap_or_default();
        let sizes = [self.0.rows(), self.0.inputs(), self.0.outputs()];
        json!({"header": header, "rows": sizes[0], "inputs": sizes[1], "outputs": sizes[2]}).to_string()
    }

    /// The class of each row, the map [outputs, inputs], and what is subtracted first.
    fn parts<'py>(&self, py: Python<'py>) -> Parts<'py> {
        let [map, shift] = [&self.0.map, &self.0.shift].map(|values| PyArray1::from_slice(py, values));
        (PyArray1::from_slice(py, &self.0.classes), map, shift)
    }

    /// The nearest `count` rows for each of x.
    fn find<'py>(&self, py: Python<'py>, x: PyReadonlyArray1<'py, f32>, count: usize) -> PyResult<Found<'py>> {
        let x = x.as_slice().map_err(|_| PyValueError::new_err("find: expected a contiguous array"))?;
        let found = py.detach(|| self.0.find(x, count)).map_err(raised)?;
        let all = || found.iter().flat_map(|one| &one.neighbours);
        let rows: Vec<i64> = all().map(|one| one.row as i64).collect();
        let distances: Vec<f32> = all().map(|one| one.distance).collect();
        let weights: Vec<f64> = found.iter().flat_map(|one| self.0.weights(&one.neighbours)).collect();
        let known: Vec<bool> = found.iter().map(|one| one.is_known).collect();
        let first = found.iter().map(|one| self.0.shares(&one.neighbours).first().copied().unwrap_or((0, 0.0)));
        let (classes, shares): (Vec<i64>, Vec<f64>) = first.map(|(class, share)| (i64::from(class), share)).unzip();
        Ok((
            rows.into_pyarray(py),
            distances.into_pyarray(py),
            weights.into_pyarray(py),
            known.into_pyarray(py),
            classes.into_pyarray(py),
            shares.into_pyarray(py),
        ))
    }

    /// The coordinates of rows under the map.
    fn mapped<'py>(&self, py: Python<'py>, x: PyReadonlyArray1<'py, f32>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let x = x.as_slice().map_err(|_| PyValueError::new_err("mapped: expected a contiguous array"))?;
        Ok(py.detach(|| self.0.mapped(x)).map_err(raised)?.into_pyarray(py))
    }

    /// How well it knows rows that it does not hold, as JSON.
    fn judge(&self, py: Python<'_>, x: PyReadonlyArray1<'_, f32>, classes: Vec<u32>) -> PyResult<String> {
        let x = x.as_slice().map_err(|_| PyValueError::new_err("judge: expected a contiguous array"))?;
        let judged = py.detach(|| self.0.judge(x, &classes)).map_err(raised)?;
        Ok(figures(&judged).to_string())
    }
}
