//! A column of numbers: (x - mean) / scale, bins between its quantiles, and an input that says where a cell was missing.

use super::kind::{FeatureKind, Inputs, Role, Seen};
use super::{Bins, is_scale};
use crate::error::Result;
use crate::files::text::cell::Odd;
use crate::files::text::comma;
use crate::files::{Cells, Notation};
use crate::math::measure::Measure;
use crate::table::rows::{ColumnRows, MISSING, NoteKind};
use crate::{host, record};

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

    /// The scaled value, which is infinite if it does not fit 32 bits.
    pub(crate) fn scaled(&self, value: f64) -> f32 {
        ((value - self.mean) / self.scale) as f32
    }

    /// Writes the inputs of a number, or of the fill-in value if it is missing (NaN).
    pub(crate) fn write_value(&self, value: f64, inputs: &mut [f32]) {
        let is_missing = value.is_nan();
        let value = if is_missing { self.impute.unwrap_or(self.mean) } else { value };
        let all = std::iter::once(self.scaled(value)).chain(self.bins.inputs(value));
        let all = all.chain(std::iter::once(f32::from(u8::from(is_missing))));
        inputs.iter_mut().zip(all).for_each(|(input, value)| *input = value);
    }
}

impl FeatureKind for NumberFeature {
    fn name(&self) -> &str {
        &self.name
    }

    fn inputs(&self) -> usize {
        1 + self.bins.len() + usize::from(self.has_gaps)
    }

    fn role(&self) -> Role {
        Role::Number
    }

    fn seen(&self) -> Seen<'_> {
        Seen::Numbers(self)
    }

    fn doc(&self) -> &'static str {
        "a number is (x - mean) / scale in float64, then float32, and with has_gaps one more input, 1 for a missing cell and 0 else"
    }

    fn takes_missing(&self) -> bool {
        self.impute.is_some()
    }

    fn is_sound(&self) -> bool {
        is_scale(self.scale) && self.mean.is_finite() && self.bins.is_sound()
    }

    fn number(&self) -> Option<&NumberFeature> {
        Some(self)
    }

    fn write(&self, cells: &mut ColumnRows<'_>, x: Inputs<'_, '_>) -> Result<()> {
        let numbers = cells.numbers(&self.notation);
        for (at, inputs) in x.enumerate() {
            let value = match &numbers {
                Numbers::All(values, texts) => match (values[cells.rows[at] as usize], texts) {
                    (value, Some(texts)) if value.is_nan() => cells.text_number(at, texts, self),
                    (value, _) => Ok(value),
                },
                Numbers::Texts(texts) => cells.text_number(at, texts, self),
                Numbers::OtherUnit(values, unit) => match values[cells.rows[at] as usize] {
                    value if value.is_nan() => Ok(value),
                    _ => Err(format!("has the unit {unit}, expected {}", self.notation.unit)),
                },
            };
            match value.and_then(|value| usable(self, value)) {
                Ok(value) => {
                    self.write_value(value, inputs);
                    if value.is_nan() && !self.has_gaps {
                        cells.note(at, NoteKind::Filled)?;
                    } else if is_outside(self, value) {
                        cells.note(at, NoteKind::Outside)?;
                    }
                }
                Err(why) => cells.unusable(at, why)?,
            }
        }
        Ok(())
    }
}

impl<'a> ColumnRows<'a> {
    /// The numbers of the column, or its texts if most of them are no numbers or if they are not written as those of the training rows.
    fn numbers(&self, expected: &Notation) -> Numbers<'a> {
        let own = self.column.notation();
        match (&self.column.cells, self.column.texts()) {
            (Cells::Numeric(_), Some(texts)) if own != *expected => Numbers::Texts(texts),
            (Cells::Numeric(values), None)
                if own.unit != expected.unit && !own.unit.is_empty() && !expected.unit.is_empty() =>
            {
                Numbers::OtherUnit(values, own.unit)
            }
            (Cells::Numeric(values), texts) => Numbers::All(values, texts.filter(|_| self.has_texts)),
            (texts @ Cells::Categorical { .. }, _) => Numbers::Texts(texts),
        }
    }

    /// Whether a text is no number in the notation of its own column.
    fn is_odd(&self, text: &str) -> bool {
        self.column.number_in(text, &self.column.notation()) == Odd::Text
    }

    /// The number that a text means, NaN if it means a missing one, or the reason why there is none.
    fn text_number(&self, at: usize, texts: &Cells, number: &NumberFeature) -> std::result::Result<f64, String> {
        let Some(text) = texts.text(self.rows[at] as usize) else { return Ok(f64::NAN) };
        match self.column.number_in(&text, &number.notation) {
            Odd::Number(_) if number.is_percent => {
                Err(format!("\"{text}\" has no percent sign, expected one as in the table of training"))
            }
            Odd::Number(value) => Ok(value),
            Odd::Percent(value) if number.is_percent => Ok(value),
            Odd::Missing => Ok(f64::NAN),
            // As reading the table has warned. What is a number there, but in another notation, is an error.
            Odd::Text if !self.has_texts && self.column.is_numeric() && self.is_odd(&text) => Ok(f64::NAN),
            Odd::Percent(_) | Odd::Text => {
                let hint = if comma::is_number(&text) { "; numbers are written with a point" } else { "" };
                let unit = match number.notation.unit.as_str() {
                    "" => String::new(),
                    unit => format!(" in {unit}"),
                };
                Err(format!("\"{text}\" is not a number{unit}{hint}"))
            }
        }
    }
}

/// The number if the feature can use it, a missing one (NaN) if it can be filled in.
fn usable(number: &NumberFeature, value: f64) -> std::result::Result<f64, String> {
    match number.scaled(value) {
        _ if value.is_nan() => number.impute.map(|_| value).ok_or_else(|| MISSING.into()),
        scaled if scaled.is_finite() => Ok(value),
        _ if value.is_infinite() => Err("is infinite".into()),
        _ => {
            let [value, mean] = [value, number.mean].map(host::number);
            Err(format!("{value:?} is too far from the training mean {mean:?} for a 32-bit input"))
        }
    }
}

/// Whether a number, not a missing one, is far from the training rows' range.
pub(super) fn is_outside(number: &NumberFeature, value: f64) -> bool {
    let margin = MARGIN * (number.max - number.min);
    value < number.min - margin || value > number.max + margin
}

/// A column's cells as numbers.
enum Numbers<'a> {
    /// Numbers, NaN where there is none; and what is written there, if some cells are no numbers.
    All(&'a [f64], Option<&'a Cells>),
    Texts(&'a Cells),
    /// Numbers in another unit than those of the training rows.
    OtherUnit(&'a [f64], String),
}

/// Share of a column's training range by which a number may be outside of it before it is noted.
const MARGIN: f64 = 0.1;
