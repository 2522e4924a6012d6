//! The columns that `mero predict` writes.

use meromorph::Result;
use meromorph::files::csv::{self, Values};
use meromorph::files::{Column, Table, TableBytes, is_text, read_texts};
use meromorph::model::{Model, Prediction};

/// The columns of the output: `prediction`, with loss `gaussian_nll` its `prediction_std`, and for classes its `probability`; for a model with poles `value` (empty at ⊥), `bottom`, `gap`
/// and `fault`, and `range` if requested; `p(class)` for each class and `lower` and `upper` if requested; `note`.
#[derive(Default)]
pub(super) struct Columns<'a> {
    numbers: Vec<f64>,
    deviations: Vec<f64>,
    names: Vec<&'a str>,
    probability: Vec<f32>,
    flags: [Vec<f32>; 3],
    pub(super) ranges: Vec<&'static str>,
    pub(super) classes: Vec<String>,
    /// [rows, classes].
    pub(super) probabilities: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) notes: Vec<String>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(model: &Model, predictions: &'a [Prediction]) -> Self {
        let mut columns = Self::default();
        for prediction in predictions {
            columns.push(prediction);
        }
        // Every row fills every kind of column; those of other models are dropped.
        if model.preparation.as_ref().is_none_or(|preparation| preparation.target.levels().is_empty()) {
            (columns.names, columns.probability) = (Vec::new(), Vec::new());
        }
        if !model.has_deviation() {
            columns.deviations = Vec::new();
        }
        if model.spec.head().is_none() {
            columns.flags = Default::default();
        }
        columns
    }

    fn push(&mut self, prediction: &'a Prediction) {
        let (number, flags, name, probability) = match prediction {
            Prediction::None => (f64::NAN, [f32::NAN; 3], "", f32::NAN),
            Prediction::Number(value) | Prediction::Normal { mean: value, .. } => (*value, [f32::NAN; 3], "", f32::NAN),
            Prediction::Decoded { value, is_gap, is_fault } => {
                let flags = [value.is_none(), *is_gap, *is_fault].map(|flag| f32::from(u8::from(flag)));
                (value.unwrap_or(f64::NAN), flags, "", f32::NAN)
            }
            Prediction::Class { name, probability } => (f64::NAN, [f32::NAN; 3], name.as_str(), *probability as f32),
        };
        self.numbers.push(number);
        self.deviations.push(if let Prediction::Normal { deviation, .. } = prediction { *deviation } else { f64::NAN });
        self.names.push(name);
        self.probability.push(probability);
        self.flags.iter_mut().zip(flags).for_each(|(all, flag)| all.push(flag));
    }

    pub(super) fn values(&self) -> Vec<(&str, Values<'_>)> {
        let mut columns: Vec<(&str, Values<'_>)> = Vec::new();
        if !self.flags[0].is_empty() {
            columns.push(("value", Values::F64(&self.numbers)));
            let named = ["bottom", "gap", "fault"].into_iter().zip(&self.flags);
            columns.extend(named.map(|(name, flags)| (name, Values::F32(flags))));
            if !self.ranges.is_empty() {
                columns.push(("range", Values::Text(&self.ranges)));
            }
        } else if self.names.is_empty() {
            columns.push(("prediction", Values::F64(&self.numbers)));
            if !self.deviations.is_empty() {
                columns.push(("prediction_std", Values::F64(&self.deviations)));
            }
        } else {
            columns.push(("prediction", Values::Text(&self.names)));
            columns.push(("probability", Values::F32(&self.probability)));
        }
        for (class, name) in self.classes.iter().enumerate() {
            columns.push((name, Values::Strided(&self.probabilities[class..], self.classes.len())));
        }
        if !self.lower.is_empty() {
            columns.push(("lower", Values::F64(&self.lower)));
            columns.push(("upper", Values::F64(&self.upper)));
        }
        columns.push(("note", Values::Texts(&self.notes)));
        columns
    }
}

/// Columns after those of the table: as they are written in the file, or for a file that is not CSV, their texts as CSV.
pub(super) fn beside(columns: &[(&str, Values<'_>)], table: &Table, bytes: Option<&TableBytes>) -> Result<Vec<u8>> {
    let after = |own: &[Column]| {
        let own = own.iter().map(|column| (column.name.as_str(), Values::Cells(column.as_category())));
        csv::write(&own.chain(columns.iter().copied()).collect::<Vec<_>>())
    };
    let Some(TableBytes { bytes, format }) = bytes else { return Ok(after(table.columns())) };
    if !is_text(bytes) {
        return Ok(after(read_texts(bytes, table.source(), format)?.columns()));
    }
    csv::append(bytes, table.source(), format, columns)
}
