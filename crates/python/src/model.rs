//! Trained models.

use meromorph::Device;
use meromorph::model::{self, Noted, Prediction};
use meromorph::run::{PREDICTING, Predicting, described};
use meromorph::table::NoteKind;
use numpy::IntoPyArray;
use pollster::block_on;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::device;
use crate::errors::raised;
use crate::tables::Table;
use crate::values::apply;

/// A trained model.
#[pyclass(frozen, module = "meromorph._engine")]
pub(crate) struct Model(model::Model);

impl Model {
    pub(crate) fn new(model: model::Model) -> Self {
        Self(model)
    }
}

#[pymethods]
impl Model {
    /// The model in the bytes of a file, which is called `source` in messages.
    #[staticmethod]
    fn load(bytes: &[u8], source: &str) -> PyResult<Self> {
        Ok(Self(model::Model::load(bytes, source).map_err(raised)?))
    }

    /// The bytes of its file.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.save().map_err(raised)?))
    }

    /// The same model with a note on the type that the labels of its classes had.
    fn labelled(&self, labels: String) -> Self {
        let mut model = self.0.clone();
        model.labels = Some(labels);
        Self(model)
    }

    /// What the model is and how it was trained, as JSON.
    fn info(&self) -> PyResult<String> {
        Ok(described(&self.0).map_err(raised)?.to_string())
    }

    /// Predictions of every row of a table: arrays by name. Of numbers `value`, with `deviation` if the model has it; of classes `code`, the number of the
    /// class or -1, and `probabilities` [rows · classes]; of a model with poles also `bottom`, `gap` and `fault`. With the option `interval` also
    /// `lower` and `upper`. `notes` is a list of (row, column, what was noticed). A row without a prediction has NaN.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        options: &Bound<'py, PyDict>,
        device: &str,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut how = Predicting::default();
        apply(&PREDICTING, &mut how, options, "predict")?;
        let work = |device: &Device| {
            let noted = block_on(self.0.predict_fully(device, &table.0, how.options()))?;
            let level = how.interval.map(|level| (level, how.unknown));
            let intervals = level.map(|level| block_on(self.0.intervals(device, &table.0, level)));
            Ok((noted, intervals.transpose()?))
        };
        let (noted, intervals) = py.detach(|| device::with(device, threads, work)).map_err(raised)?;
        self.arrays(py, noted, intervals)
    }
}

/// What is known of a row besides its number.
#[derive(Default)]
struct Parts {
    values: Vec<f64>,
    deviations: Vec<f64>,
    codes: Vec<i64>,
    flags: [Vec<bool>; 3],
}

impl Parts {
    fn push(&mut self, prediction: &Prediction, levels: &[String]) {
        let (value, deviation, code, flags) = match prediction {
            Prediction::None => (f64::NAN, f64::NAN, -1, [true, false, true]),
            Prediction::Number(value) => (*value, f64::NAN, -1, [false; 3]),
            Prediction::Normal { mean, deviation } => (*mean, *deviation, -1, [false; 3]),
            Prediction::Decoded { value, is_gap, is_fault } => {
                (value.unwrap_or(f64::NAN), f64::NAN, -1, [value.is_none(), *is_gap, *is_fault])
            }
            Prediction::Class { name, probability } => {
                let code = levels.iter().position(|level| level == name).map_or(-1, |code| code as i64);
                (*probability, f64::NAN, code, [false; 3])
            }
        };
        self.values.push(value);
        self.deviations.push(deviation);
        self.codes.push(code);
        self.flags.iter_mut().zip(flags).for_each(|(all, flag)| all.push(flag));
    }
}

impl Model {
    fn arrays<'py>(
        &self,
        py: Python<'py>,
        noted: Noted,
        intervals: Option<Vec<Option<[f64; 2]>>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let preparation = self.0.preparation().map_err(raised)?;
        let levels = preparation.target.levels();
        let mut parts = Parts::default();
        noted.predictions.iter().for_each(|prediction| parts.push(prediction, levels));
        let answer = PyDict::new(py);
        if levels.is_empty() {
            answer.set_item("value", parts.values.into_pyarray(py))?;
        } else {
            answer.set_item("code", parts.codes.into_pyarray(py))?;
            answer.set_item("probabilities", noted.probabilities.into_pyarray(py))?;
        }
        if self.0.has_deviation() {
            answer.set_item("deviation", parts.deviations.into_pyarray(py))?;
        }
        if self.0.spec.head().is_some() {
            for (name, flags) in ["bottom", "gap", "fault"].into_iter().zip(parts.flags) {
                answer.set_item(name, flags.into_pyarray(py))?;
            }
        }
        if let Some(intervals) = intervals {
            for (name, end) in [("lower", 0), ("upper", 1)] {
                let ends: Vec<f64> = intervals.iter().map(|ends| ends.map_or(f64::NAN, |ends| ends[end])).collect();
                answer.set_item(name, ends.into_pyarray(py))?;
            }
        }
        let names: Vec<&str> = preparation.names().collect();
        let notes: Vec<(usize, &str, String)> =
            noted.notes.iter().map(|note| (note.row, names[note.feature], noticed(&note.kind))).collect();
        answer.set_item("notes", notes)?;
        Ok(answer)
    }
}

fn noticed(kind: &NoteKind) -> String {
    match kind {
        NoteKind::Outside => "outside of the range of training".into(),
        NoteKind::Unseen(text) => format!("\"{text}\" was not seen by training"),
        NoteKind::Filled => "missing, filled in".into(),
        NoteKind::Unusable(why) => why.clone(),
    }
}
