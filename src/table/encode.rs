//! Encodes rows as model inputs and targets. A cell that the model cannot use is an error, or leaves its row without a prediction.

use super::feature::{CategoryFeature, DateFeature, Feature, Moments, NumberFeature};
use super::levels::{Match, codes, matches};
use super::prepare::{Preparation, Target, find};
use crate::error::{Error, Result};
use crate::files::text::cell::Odd;
use crate::files::text::comma;
use crate::files::{Cells, Column, Notation, Table};
use crate::{host, record};

/// What happens to a row with a cell that the model cannot use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// It is an error, which names the cell.
    #[default]
    Refuse,
    /// A category that training never saw counts as none of those it saw, which training prepares for; a row with another cell of that
    /// kind (a missing one, a text for a number, an infinite number) has no prediction.
    Other,
    /// The row has no prediction.
    Skip,
}

record! { enum Unknown { Refuse, Other, Skip } }

impl Unknown {
    /// Every policy with its name.
    pub const ALL: [(&'static str, Self); 3] = [("other", Self::Other), ("skip", Self::Skip), ("refuse", Self::Refuse)];
}

/// Encoded rows, and what was noticed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoded {
    /// Inputs [rows, inputs], row-major; 0 for a cell that cannot be used.
    pub x: Vec<f32>,
    /// In order of the columns, then of the rows.
    pub notes: Vec<Note>,
}

/// Something about one cell of an encoded row.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The row, counted among the encoded rows from 0.
    pub row: usize,
    /// The feature, counted in the preparation from 0.
    pub feature: usize,
    /// What it is.
    pub kind: NoteKind,
}

/// What is to be said of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum NoteKind {
    /// The number is beyond the training rows' range by more than a tenth of it.
    Outside,
    /// The category was not in the training rows; here it is.
    Unseen(String),
    /// The cell is missing, which no training row was; the column's mean or most frequent level is filled in.
    Filled,
    /// The cell cannot be used, for this reason: its row has no prediction.
    Unusable(String),
}

/// Share of a column's training range by which a number may be outside of it before it is noted.
const MARGIN: f64 = 0.1;
impl Preparation {
    /// The inputs of some rows, row-major `[rows.len(), inputs]`. Columns are found by name; others are ignored.
    ///
    /// Errors on an absent column, on text in a numeric column, on a missing cell without a fill-in value, on an unknown level,
    /// and on a number that is infinite or overflows.
    pub fn encode(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        Ok(self.encode_noting(table, rows, Unknown::Refuse)?.x)
    }

    /// The inputs of some rows; a category that training did not see counts as none of those it saw. Errors on a cell that cannot be used.
    /// A text among numbers counts as missing, as reading the table has warned.
    pub fn encode_known(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        let Encoded { x, notes } = self.encode_cells(table, rows, Unknown::Other, false)?;
        let unusable = notes.iter().find_map(|note| match &note.kind {
            NoteKind::Unusable(why) => Some((note, why)),
            _ => None,
        });
        match unusable {
            Some((note, why)) => Err(table.at(rows[note.row] as usize, self.features[note.feature].name(), why)),
            None => Ok(x),
        }
    }

    /// The inputs of some rows and what was noticed. Errors on an absent column, and with [`Unknown::Refuse`] as [`Self::encode`].
    pub fn encode_noting(&self, table: &Table, rows: &[u32], unknown: Unknown) -> Result<Encoded> {
        self.encode_cells(table, rows, unknown, true)
    }

    /// The same; a text among numbers cannot be used, or counts as missing.
    fn encode_cells(&self, table: &Table, rows: &[u32], unknown: Unknown, has_texts: bool) -> Result<Encoded> {
        let inputs = self.inputs();
        let what = || format!("{} rows of {inputs} inputs", rows.len());
        let x = host::filled(0.0, rows.len() * inputs, what).map_err(|what| too_large(table, &what))?;
        let mut encoded = Encoded { x, notes: Vec::new() };
        let mut at = 0;
        for (j, feature) in self.features.iter().enumerate() {
            let column = find(table, feature.name())?;
            let notes = &mut encoded.notes;
            let mut noticed = Noticed { table, column, rows, unknown, has_texts, feature: j, notes };
            let x = encoded.x.chunks_exact_mut(inputs).map(|row| &mut row[at..at + feature.inputs()]);
            match feature {
                Feature::Numeric(number) => noticed.write_numbers(number, x)?,
                Feature::Categorical(category) => noticed.write_levels(category, x)?,
                Feature::Date(date) => noticed.write_dates(date, x)?,
            }
            at += feature.inputs();
        }
        Ok(encoded)
    }

    /// Target pairs of some rows, [rows, 2]: (y, 1) for a scaled number, (1, 0) and (-1, 0) for the poles +∞ and -∞. Errors as
    /// in [`Self::encode`], and on a target of classes.
    pub fn encode_pairs(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        let Target::Regression { name, mean, scale, .. } = &self.target else {
            let kind = if self.target.levels().is_empty() { "count" } else { "class" };
            return Err(Error::new(format!("column \"{}\" is a {kind}; only numbers have poles", self.target.name())));
        };
        find(table, name)?;
        let values = table.numbers(name)?;
        let is_pole = |row: u32| values[row as usize].is_infinite();
        let numbers: Vec<u32> = rows.iter().copied().filter(|&row| !is_pole(row)).collect();
        let mut numbers = self.strict(table, name, &numbers, [*mean, *scale])?.into_iter();
        let mut pairs = Vec::with_capacity(2 * rows.len());
        for &row in rows {
            pairs.extend(if is_pole(row) {
                [values[row as usize].signum() as f32, 0.0]
            } else {
                [numbers.next().expect("a number for each row that is not a pole"), 1.0]
            });
        }
        Ok(pairs)
    }

    /// Targets of some rows: scaled numbers, counts, shares [rows, columns], or indices of classes. Errors as in [`Self::encode`].
    pub fn encode_target(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        match &self.target {
            Target::Regression { name, mean, scale, .. } => self.strict(table, name, rows, [*mean, *scale]),
            Target::Counts { name, .. } => self.strict(table, name, rows, [0.0, 1.0]),
            Target::Shares { columns, .. } => {
                let share = |name: &String| self.strict(table, name, rows, [0.0, 1.0]);
                let columns: Vec<Vec<f32>> = columns.iter().map(share).collect::<Result<_>>()?;
                Ok((0..rows.len()).flat_map(|at| columns.iter().map(move |column| column[at])).collect())
            }
            Target::Classification { name, levels, .. } => {
                let codes = codes(table, find(table, name)?, rows, levels)?;
                Ok(codes.iter().map(|&code| code as f32).collect())
            }
        }
    }

    /// (x - mean) / scale for some rows of a column; an error for a cell without a value.
    fn strict(&self, table: &Table, name: &str, rows: &[u32], [mean, scale]: [f64; 2]) -> Result<Vec<f32>> {
        let (column, unknown) = (find(table, name)?, Unknown::Refuse);
        let (mut notes, [min, max]) = (Vec::new(), [f64::NEG_INFINITY, f64::INFINITY]);
        let mut noticed = Noticed { table, column, rows, unknown, has_texts: false, feature: 0, notes: &mut notes };
        let number =
            NumberFeature { mean, scale, min, max, notation: self.target_notation.clone(), ..NumberFeature::default() };
        let mut scaled = vec![0.0; rows.len()];
        noticed.write_numbers(&number, scaled.chunks_exact_mut(1))?;
        Ok(scaled)
    }
}

/// One column of a table being encoded.
struct Noticed<'a> {
    table: &'a Table,
    column: &'a Column,
    rows: &'a [u32],
    unknown: Unknown,
    /// Whether a text among numbers is one, not a missing cell.
    has_texts: bool,
    feature: usize,
    notes: &'a mut Vec<Note>,
}

impl<'a> Noticed<'a> {
    /// Writes the inputs of each row's number, all finite; leaves them 0 where there is no number.
    fn write_numbers<'x>(&mut self, number: &NumberFeature, x: impl Iterator<Item = &'x mut [f32]>) -> Result<()> {
        let cells = self.numbers(&number.notation);
        for (at, inputs) in x.enumerate() {
            let value = match &cells {
                Numbers::All(values, texts) => match (values[self.rows[at] as usize], texts) {
                    (value, Some(texts)) if value.is_nan() => self.text_number(at, texts, number),
                    (value, _) => Ok(value),
                },
                Numbers::Texts(texts) => self.text_number(at, texts, number),
                Numbers::OtherUnit(values, unit) => match values[self.rows[at] as usize] {
                    value if value.is_nan() => Ok(value),
                    _ => Err(format!("has the unit {unit}, expected {}", number.notation.unit)),
                },
            };
            match value.and_then(|value| usable(number, value)) {
                Ok(value) => {
                    number.write(value, inputs);
                    if value.is_nan() && !number.has_gaps {
                        self.note(at, NoteKind::Filled)?;
                    } else if is_outside(number, value) {
                        self.note(at, NoteKind::Outside)?;
                    }
                }
                Err(why) => self.unusable(at, why)?,
            }
        }
        Ok(())
    }

    /// Writes 1 for each row's level; leaves all 0 for one that the model did not see.
    fn write_levels<'x>(&mut self, category: &CategoryFeature, x: impl Iterator<Item = &'x mut [f32]>) -> Result<()> {
        let CategoryFeature { levels, impute, .. } = category;
        let found = matches(self.column, self.rows, levels);
        for (at, (inputs, found)) in x.zip(found).enumerate() {
            match (found, impute) {
                (Match::Level(level), _) => category.write(level, inputs),
                (Match::Missing, Some(level)) => {
                    category.write(*level, inputs);
                    if !category.has_gaps() {
                        self.note(at, NoteKind::Filled)?;
                    }
                }
                (Match::Missing, None) => self.unusable(at, MISSING.into())?,
                (Match::Unknown, _) => self.unseen(at, levels)?,
            }
        }
        Ok(())
    }

    /// Writes the inputs of each row's point in time; leaves them 0 where a text is none.
    fn write_dates<'x>(&mut self, date: &DateFeature, x: impl Iterator<Item = &'x mut [f32]>) -> Result<()> {
        let (moments, elapsed) = (Moments::of(self.column, date.order), &date.elapsed);
        for (at, inputs) in x.enumerate() {
            let row = self.rows[at] as usize;
            let moment = moments.get(row);
            if let Some(text) = moments.unusable(row) {
                self.unusable(at, format!("\"{text}\" is not a date like {}", date.range()[1]))?;
            } else if moment.is_none() && elapsed.impute.is_none() {
                self.unusable(at, MISSING.into())?;
            } else {
                date.write(moment, inputs);
                match moment {
                    Some(moment) if is_outside(elapsed, moment.universal) => self.note(at, NoteKind::Outside)?,
                    None if !elapsed.has_gaps => self.note(at, NoteKind::Filled)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn unseen(&mut self, at: usize, levels: &[String]) -> Result<()> {
        let row = self.rows[at] as usize;
        if self.unknown == Unknown::Other {
            let text = self.column.as_category().text(row).unwrap_or_default().into_owned();
            return self.note(at, NoteKind::Unseen(text));
        }
        self.unusable(at, super::levels::unknown(self.column, row, levels))
    }

    /// Notes that a cell cannot be used, or refuses the row.
    fn unusable(&mut self, at: usize, why: String) -> Result<()> {
        if self.unknown == Unknown::Refuse {
            return Err(self.table.at(self.rows[at] as usize, &self.column.name, &why));
        }
        self.note(at, NoteKind::Unusable(why))
    }

    fn note(&mut self, row: usize, kind: NoteKind) -> Result<()> {
        if self.notes.len() == self.notes.capacity() {
            let more = self.notes.len().max(64);
            let reserved = host::reserve(self.notes, more, || format!("notes on {more} more cells"));
            reserved.map_err(|what| too_large(self.table, &what))?;
        }
        self.notes.push(Note { row, feature: self.feature, kind });
        Ok(())
    }

    /// The numbers of the column, or its texts if most of them are no numbers or if they are not written as those of the training rows.
    fn numbers(&self, wanted: &Notation) -> Numbers<'a> {
        let own = self.column.notation();
        match (&self.column.cells, self.column.texts()) {
            (Cells::Numeric(_), Some(texts)) if own != *wanted => Numbers::Texts(texts),
            (Cells::Numeric(values), None)
                if own.unit != wanted.unit && !own.unit.is_empty() && !wanted.unit.is_empty() =>
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

/// The error of a table whose rows do not fit in memory.
fn too_large(table: &Table, what: &str) -> Error {
    Error::new(format!("{}: {what}; use fewer rows or columns", table.source()))
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
fn is_outside(number: &NumberFeature, value: f64) -> bool {
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

/// Message for a missing cell without a fill-in value.
const MISSING: &str = "is missing, and the model was prepared without a value to fill in";

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
