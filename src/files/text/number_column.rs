//! Decides whether a column of text holds numbers, by the share of its cells that are numbers, and says which cells are not.

use super::cell::{Meaning, Odd, is_code, without_cents};
use super::comma;
use super::format::Format;
use super::judge::{currency_of, missing_cells};
use super::missing::trimmed;
use super::notation::{Digits, Notation, Written};
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
    /// The currency of the first number that has one.
    currency: Option<char>,
    /// Whether the decision is left to [`super::judge`]: there are several currencies, or points between groups of digits.
    is_open: bool,
    /// Whether every point so far may be a mark between groups of digits, and whether there is one.
    points: Points,
    is_text: bool,
}

/// What the points of the numbers may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Points {
    /// There are none so far.
    #[default]
    None,
    /// Each may be a mark between groups of digits.
    Groups,
    /// One is a decimal mark.
    Decimal,
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
            currency: None,
            is_open: false,
            points: Points::None,
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
                    self.seen[CODES].push(&String::from_utf8_lossy(trimmed(cell)));
                }
                if self.points != Points::Decimal {
                    self.points = self.points.after(cell, format);
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
        self.is_open |= more.is_open || self.currency.zip(more.currency).is_some_and(|(own, other)| own != other);
        self.currency = self.currency.or(more.currency);
        self.points = match (self.points, more.points) {
            (Points::None, points) | (points, Points::None) => points,
            (Points::Groups, Points::Groups) => Points::Groups,
            _ => Points::Decimal,
        };
        self.texts = texts;
        true
    }

    /// The value of a cell that is no number in the file's format.
    fn odd(&mut self, cell: &[u8], format: &Format) -> f64 {
        let text = String::from_utf8_lossy(trimmed(cell));
        match format.odd(&text) {
            Odd::Missing => self.seen[SIGNS].push(&text),
            Odd::Number(value) => {
                self.numbers += 1;
                self.seen[WRITTEN].push(&text);
                if let Some(sign) = currency_of(&text) {
                    self.is_open |= *self.currency.get_or_insert(sign) != sign;
                }
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
                let digits = Written::parse(&text, format).map(|written| written.digits);
                self.is_open |= matches!(digits, Some(Digits::Groups(mark, _)) if format.decimal.starts_with(mark));
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
            && !self.is_open
            && (self.numbers > 0 || self.seen[SIGNS].count == 0)
            && 10 * self.texts <= total;
        let warnings = self.warnings(is_numeric, total).into_iter();
        let named = |(message, cells)| Warning { column: name.clone(), message, cells };
        let warnings = warnings.map(named).collect();
        let is_raw = is_numeric && self.points == Points::Groups;
        let cells = if is_numeric {
            Cells::Numeric(self.values)
        } else {
            Cells::Categorical { codes: Vec::new(), levels: Vec::new() }
        };
        let has_words = self.seen[CODES].count > 0 || self.texts > 0 || self.seen[SIGNS].count > 0;
        let has_texts = is_numeric && (has_words || is_raw);
        let unit = self.currency.filter(|_| is_numeric).map_or_else(String::new, String::from);
        let reading = Reading {
            unread: None,
            texts: None,
            has_texts,
            is_raw,
            has_words,
            notation: Notation { unit, ..Notation::default() },
            first_text: self.first,
            missing_word: None,
            warnings,
            is_percent: is_percent && is_numeric,
            format: Some(format).filter(|format| (!is_numeric || has_texts) && **format != Format::default()).cloned(),
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

    /// What a person should know about the kind of the column, with some of the cells it is about.
    fn warnings(&mut self, is_numeric: bool, total: usize) -> Vec<(String, Vec<String>)> {
        let texts = self.texts;
        let mut some = |kind: usize| (self.seen[kind].count, std::mem::take(&mut self.seen[kind].some));
        let [(_, some_texts), signs, (written, some_written), (codes, some_codes)] =
            [TEXTS, SIGNS, WRITTEN, CODES].map(&mut some);
        if is_numeric {
            let missing = missing_cells((texts, some_texts), signs);
            return match () {
                () if !missing.is_empty() => missing,
                () if written > 0 => {
                    let is_below = |text: &String| text.starts_with('(') || text.ends_with(['-', '−', '–']);
                    let is_below = some_written.iter().any(|text| is_below(text) && without_cents(text) == text);
                    let sign = if is_below { ", negative in parentheses or with a minus behind" } else { "" };
                    vec![(format!("cells such as these are read as numbers{sign}"), some_written)]
                }
                () if codes > 0 => {
                    let message =
                        "cells such as these are read as numbers; name the column under categorical if they are codes";
                    vec![(message.into(), some_codes)]
                }
                () => Vec::new(),
            };
        }
        if self.commas > 0 || self.numbers <= texts {
            return Vec::new();
        }
        let numbers = self.numbers;
        let message = format!(
            "{numbers} of {total} cells are numbers, the others are not, so the column is a category; the option na declares texts that mean a missing cell"
        );
        vec![(message, some_texts)]
    }
}

impl Points {
    /// With one more number.
    #[inline]
    fn after(self, cell: &[u8], format: &Format) -> Self {
        let point = format.decimal.as_bytes()[0];
        if !cell.contains(&point) {
            return self;
        }
        let written = std::str::from_utf8(cell).ok().and_then(|text| Written::parse(text, format));
        match written.map(|written| written.digits) {
            Some(Digits::Plain { grouped: Some(_), .. }) => Self::Groups,
            _ => Self::Decimal,
        }
    }
}
