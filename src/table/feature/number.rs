//! A column of numbers: (x - mean) / scale, bins between its quantiles, and an input that says where a cell was missing.

use super::{Bins, is_scale};
use crate::files::Notation;
use crate::math::measure::Measure;
use crate::record;

/// Encoding of a column of numbers, as inputs in this order: the scaled number, its bins, 1 for a missing cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberFeature {
    /// The column.
    pub name: String,
    /// Mean of the training rows, in the column's unit.
    pub mean: f64,
    /// The training rows' population standard deviation, or 1 for a constant column.
    pub scale: f64,
    /// The smallest training value.
    pub min: f64,
    /// The largest training value.
    pub max: f64,
    /// Fill-in value of a missing cell; if absent, a missing cell is an error.
    pub impute: Option<f64>,
    /// Whether training rows had missing cells; the last input is 1 for them and 0 for others.
    pub has_gaps: bool,
    /// Bins between quantiles of the training rows; empty if there are none.
    pub bins: Bins,
    /// Whether the cells were written as percentages, of which 50 % is 50.
    pub is_percent: bool,
    /// How the numbers of the training rows are written, so that a new table is read alike.
    pub notation: Notation,
}

record! {
    NumberFeature {
        name, mean, scale, min, max, impute, has_gaps = false, bins = Bins::default(), is_percent = false, notation = Notation::default(),
    }
}

impl NumberFeature {
    /// Fits it to the numbers of the training rows, NaN where a cell is missing, and their statistics, with up to `bins` bins.
    pub(crate) fn fit(name: &str, measure: Measure, training: &[f64], fills: bool, bins: usize) -> Self {
        let present: Vec<f64> = training.iter().copied().filter(|value| !value.is_nan()).collect();
        let has_gaps = fills && present.len() < training.len();
        let Measure { mean, min, max, .. } = measure;
        Self {
            name: name.into(),
            mean,
            scale: measure.scale(),
            min,
            max,
            impute: fills.then_some(mean),
            has_gaps,
            bins: Bins::fit(&present, bins),
            is_percent: false,
            notation: Notation::default(),
        }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        1 + self.bins.len() + usize::from(self.has_gaps)
    }

    /// The scaled value, which is infinite if it does not fit 32 bits.
    pub(crate) fn scaled(&self, value: f64) -> f32 {
        ((value - self.mean) / self.scale) as f32
    }

    /// Writes the inputs of a number, or of the fill-in value if it is missing (NaN).
    pub(crate) fn write(&self, value: f64, inputs: &mut [f32]) {
        let is_missing = value.is_nan();
        let value = if is_missing { self.impute.unwrap_or(self.mean) } else { value };
        let all = std::iter::once(self.scaled(value)).chain(self.bins.inputs(value));
        let all = all.chain(std::iter::once(f32::from(u8::from(is_missing))));
        inputs.iter_mut().zip(all).for_each(|(input, value)| *input = value);
    }

    pub(crate) fn is_sound(&self) -> bool {
        is_scale(self.scale) && self.mean.is_finite() && self.bins.is_sound()
    }
}
