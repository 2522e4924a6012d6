//! Decides whether a column of text holds numbers, by the share of its cells that are numbers, and says which cells are not.

use super::cell::{Meaning, Odd, is_code, unit};
use super::comma;
use super::format::Format;
use super::reading::{Reading, Warning};
use crate::files::{Cells, Column};

/// Largest number of different texts that a warning lists.
const LISTED: usize = 5;
/// A column with more texts than numbers after this many texts holds texts.
const ENOUGH: usize = 64;

/// A column being read as numbers.
pub(crate) struct NumberColumn {
    /// Number of cells.
    rows: usize,
    /// NaN where there is no number; empty once the column is known to hold texts.
    values: Vec<f64>,
    /// Cells that are numbers, or numbers in another notation.
    numbers: usize,
    /// Cells that are texts.
    texts: usize,
    /// Of the texts, numbers with a comma whose meaning is open.
    commas: usize,
    /// Rows of the numbers of percent.
    percents: Vec<u32>,
    /// The first of the texts, with its row.
    first: Option<(usize, String)>,
    /// Some texts, some common signs for a missing cell, some numbers in another notation, some written like codes, and how many there are of each.
    seen: [Seen; 4],
    /// Of the texts, the unit after the first number that has one, and how many numbers have it.
    unit: Option<(String, usize)>,
    is_text: bool,
}

/// What the cells of a part of a column are.
pub(crate) struct Tally {
    /// Number of numbers without a percent sign.
    pub plain: usize,
    /// The first row with a number of percent.
    pub percent: Option<usize>,
    /// The first row with a text, and the text.
    pub text: Option<(usize, String)>,
}

/// Some different cells of one kind, and the number of all.
#[derive(Default)]
struct Seen {
    count: usize,
    some: Vec<String>,
}

impl Seen {
    fn push(&mut self, text: &str) {
        self.count += 1;
        if self.some.len() < LISTED && !self.some.iter().any(|known| known == text) {
            self.some.push(text.to_owned());
        }
    }
}

const TEXTS: usize = 0;
const SIGNS: usize = 1;
const WRITTEN: usize = 2;
const CODES: usize = 3;

impl NumberColumn {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self {
            rows: 0,
            values: Vec::with_capacity(rows),
            numbers: 0,
            texts: 0,
            commas: 0,
            percents: Vec::new(),
            first: None,
            seen: Default::default(),
            unit: None,
            is_text: false,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, cell: &[u8], format: &Format) {
        self.rows += 1;
        if self.is_text {
            return;
        }
        let value = match format.meaning(cell) {
            Meaning::Number(value) => {
                self.numbers += 1;
                if is_code(cell) {
                    self.seen[CODES].push(&String::from_utf8_lossy(cell.trim_ascii()));
                }
                value
            }
            Meaning::Missing => f64::NAN,
            Meaning::Text => self.odd(cell, format),
        };
        self.values.push(value);
    }

    /// Appends the cells of a later part. False if the kind of the column depends on the order of both parts' cells.
    pub(crate) fn append(&mut self, more: Self) -> bool {
        self.rows += more.rows;
        if self.is_text {
            return true;
        }
        let texts = self.texts + more.texts;
        if more.is_text || texts > ENOUGH && texts > self.numbers {
            return false;
        }
        let rows = self.values.len();
        self.percents.extend(more.percents.iter().map(|row| row + rows as u32));
        if let (None, Some((row, text))) = (&self.first, more.first) {
            self.first = Some((rows + row, text));
        }
        for (seen, more) in self.seen.iter_mut().zip(more.seen) {
            let count = seen.count + more.count;
            more.some.iter().for_each(|text| seen.push(text));
            seen.count = count;
        }
        self.values.extend(more.values);
        self.numbers += more.numbers;
        self.commas += more.commas;
        self.unit = match (self.unit.take(), more.unit) {
            (Some((own, count)), Some((other, more))) => {
                let count = count + if own == other { more } else { 0 };
                Some((own, count))
            }
            (own, other) => own.or(other),
        };
        self.texts = texts;
        true
    }

    /// The value of a cell that is no number in the file's format.
    fn odd(&mut self, cell: &[u8], format: &Format) -> f64 {
        let text = String::from_utf8_lossy(cell.trim_ascii());
        match format.odd(&text) {
            Odd::Missing => self.seen[SIGNS].push(&text),
            Odd::Number(value) => {
                self.numbers += 1;
                self.seen[WRITTEN].push(&text);
                return value;
            }
            Odd::Percent(value) => {
                self.numbers += 1;
                self.percents.push(self.values.len() as u32);
                self.seen[WRITTEN].push(&text);
                return value;
            }
            Odd::Text => {
                self.texts += 1;
                self.commas += usize::from(comma::is_number(&text));
                self.seen[TEXTS].push(&text);
                if let Some(unit) = unit(&text) {
                    let (known, count) = self.unit.get_or_insert_with(|| (unit.to_owned(), 0));
                    *count += usize::from(known == unit);
                }
                self.first.get_or_insert_with(|| (self.values.len(), text.into_owned()));
                if self.texts > ENOUGH && self.texts > self.numbers {
                    (self.values, self.is_text) = (Vec::new(), true);
                }
            }
        }
        f64::NAN
    }

    /// The numbers, NaN where there is none, and what the cells are.
    pub(crate) fn into_numbers(mut self) -> (Vec<f64>, Tally) {
        self.values.resize(self.rows, f64::NAN);
        let tally = Tally {
            plain: self.numbers - self.percents.len(),
            percent: self.percents.first().map(|row| *row as usize),
            text: self.first,
        };
        (self.values, tally)
    }

    /// Decides the kind of the column. Texts are still to be set for [`Column::needs_texts`].
    pub(crate) fn into_column(mut self, name: String, format: &Format) -> Column {
        let is_percent = !self.percents.is_empty() && self.percents.len() == self.numbers;
        self.separate_percents();
        let total = self.numbers + self.texts;
        let is_numeric = !self.is_text
            && self.commas == 0
            && (self.numbers > 0 || self.seen[SIGNS].count == 0)
            && 10 * self.texts <= total;
        let warning = self.warning(is_numeric, total).map(|(message, seen)| Warning {
            column: name.clone(),
            message,
            cells: std::mem::take(&mut self.seen[seen].some),
        });
        let cells = if is_numeric {
            Cells::Numeric(self.values)
        } else {
            Cells::Categorical { codes: Vec::new(), levels: Vec::new() }
        };
        let format = Some(format).filter(|format| !is_numeric && **format != Format::default()).cloned();
        let reading = Reading {
            texts: None,
            has_texts: is_numeric && (self.seen[CODES].count > 0 || self.texts > 0 || self.seen[SIGNS].count > 0),
            first_text: self.first,
            warning,
            is_percent: is_percent && is_numeric,
            format,
        };
        Column { name, cells, reading: reading.boxed() }
    }

    /// Numbers of percent among plain numbers could be either, so they count as texts.
    fn separate_percents(&mut self) {
        if self.is_text || self.percents.is_empty() || self.percents.len() == self.numbers {
            return;
        }
        for row in &self.percents {
            self.values[*row as usize] = f64::NAN;
        }
        let (some, rest) =
            std::mem::take(&mut self.seen[WRITTEN].some).into_iter().partition(|text| text.ends_with('%'));
        (self.seen[TEXTS].some, self.seen[WRITTEN].some) = (some, rest);
        self.numbers -= self.percents.len();
        self.texts += self.percents.len();
    }

    /// What a person should know about the kind of the column, and the kind of cells it is about.
    fn warning(&self, is_numeric: bool, total: usize) -> Option<(String, usize)> {
        let [signs, written] = [&self.seen[SIGNS], &self.seen[WRITTEN]].map(|seen| seen.count);
        let texts = self.texts;
        if is_numeric && texts > 0 {
            let what = if texts == 1 { "cell is no number and counts" } else { "cells are no numbers and count" };
            return Some((
                format!("{texts} {what} as missing; name the column under categorical to keep texts"),
                TEXTS,
            ));
        }
        if is_numeric && signs > 0 {
            let what = if signs == 1 { "cell counts" } else { "cells count" };
            return Some((
                format!("{signs} {what} as missing; name the column under categorical if they mean something"),
                SIGNS,
            ));
        }
        if is_numeric && written > 0 {
            return Some(("cells such as these are read as numbers".into(), WRITTEN));
        }
        if is_numeric && self.seen[CODES].count > 0 {
            return Some((
                "cells such as these are read as numbers; name the column under categorical if they are codes".into(),
                CODES,
            ));
        }
        if let Some((unit, _)) = self.unit.as_ref().filter(|(_, count)| !is_numeric && 2 * count > total) {
            return Some((
                format!(
                    "most cells are numbers with the unit {unit}, so the column is a category; without the unit they would be numbers"
                ),
                TEXTS,
            ));
        }
        if !is_numeric && self.commas == 0 && self.numbers > texts {
            let numbers = self.numbers;
            return Some((
                format!(
                    "{numbers} of {total} cells are numbers, the others are not, so the column is a category; the option na declares texts that mean a missing cell"
                ),
                TEXTS,
            ));
        }
        None
    }
}
