//! One named column, with what reading its text found besides its cells.

use super::cells::{Cells, MISSING_CODE, Texts};
use super::text::cell::{Meaning, Odd};
use super::text::judge::judge;
use super::text::reading::{Reading, Unread, Warning};
use super::text::{Format, Notation};

/// One named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name in the header, or `c0`, `c1`, … where there was none.
    pub name: String,
    /// Its cells.
    pub cells: Cells,
    /// What reading its text found besides; absent if nothing.
    pub(crate) reading: Option<Box<Reading>>,
}

impl Column {
    /// A column of cells.
    pub fn new(name: &str, cells: Cells) -> Self {
        Self { name: name.to_string(), cells, reading: None }
    }

    /// A column of numbers; NaN is missing.
    pub fn numeric(name: &str, values: Vec<f64>) -> Self {
        Self::new(name, Cells::Numeric(values))
    }

    /// A column that is there but could not be read: its cells are all missing, and using it is an error that says why.
    pub(crate) fn unread(name: &str, rows: usize, unread: Unread) -> Self {
        let cells = Cells::Categorical { codes: vec![MISSING_CODE; rows], levels: Vec::new() };
        let reading = Reading { unread: Some(unread), ..Reading::default() };
        Self { name: name.to_string(), cells, reading: reading.boxed() }
    }

    /// Why the column could not be read, if so.
    pub(crate) fn why_unread(&self) -> Option<&Unread> {
        self.reading.as_ref()?.unread.as_ref()
    }

    /// What a person should know first about the column, if anything.
    pub fn warning(&self) -> Option<&Warning> {
        self.warnings().first()
    }

    /// All that a person should know about reading the column.
    pub fn warnings(&self) -> &[Warning] {
        self.reading.as_ref().map_or(&[], |reading| &reading.warnings)
    }

    /// The first word of a column of texts that counts as missing, though it may be a text like others.
    pub(crate) fn missing_word(&self) -> Option<&str> {
        self.reading.as_ref()?.missing_word.as_deref()
    }

    pub(crate) fn set_missing_word(&mut self, word: Option<String>) {
        let reading = self.reading.take().map_or_else(Reading::default, |reading| *reading);
        self.reading = Reading { missing_word: word, ..reading }.boxed();
    }

    /// The cells for use as categories: as written, where numbers are written like codes.
    pub fn as_category(&self) -> &Cells {
        let texts = self
            .reading
            .as_ref()
            .filter(|reading| !reading.is_raw || reading.has_words)
            .and_then(|reading| reading.texts.as_ref());
        texts.unwrap_or(&self.cells)
    }

    /// The cells of a column of numbers as they are written, if some are no numbers or are written like codes.
    pub(crate) fn texts(&self) -> Option<&Cells> {
        self.reading.as_ref()?.texts.as_ref()
    }

    /// Whether it is a column of numbers that are all of percent.
    pub(crate) fn is_percent(&self) -> bool {
        self.reading.as_ref().is_some_and(|reading| reading.is_percent)
    }

    /// Whether words for missing cells are declared to be texts like others.
    pub(crate) fn keeps_words(&self) -> bool {
        let format = self.reading.as_ref().and_then(|reading| reading.format.as_ref());
        format.is_some_and(|format| format.keeps_words)
    }

    /// How its numbers are written.
    pub(crate) fn notation(&self) -> Notation {
        self.reading.as_ref().map_or_else(Notation::default, |reading| reading.notation.clone())
    }

    /// What a text of the column means among numbers in some notation.
    pub(crate) fn number_in(&self, text: &str, notation: &Notation) -> Odd {
        let format = self.reading.as_ref().and_then(|reading| reading.format.clone()).unwrap_or_default();
        let meaning = format.meaning(text.as_bytes());
        if meaning == Meaning::Missing {
            return Odd::Missing;
        }
        if !notation.is_plain() {
            let odd = || if format.odd(text) == Odd::Missing { Odd::Missing } else { Odd::Text };
            return match notation.value(text, &format) {
                Some(value) if format.is_sentinel(value) => Odd::Missing,
                Some(value) => Odd::Number(value),
                None => odd(),
            };
        }
        match meaning {
            Meaning::Number(value) => Odd::Number(value),
            _ => format.odd(text),
        }
    }

    /// The first cell as it is written.
    pub(crate) fn first_cell(&self) -> Option<String> {
        if self.cells.is_empty() {
            return None;
        }
        let first_text = || self.reading.as_ref()?.first_text.as_ref().filter(|(row, _)| *row == 0);
        let written = self.as_category().text(0).map(std::borrow::Cow::into_owned);
        written.or_else(|| first_text().map(|(_, text)| text.clone()))
    }

    /// Whether it holds numbers.
    pub fn is_numeric(&self) -> bool {
        matches!(self.cells, Cells::Numeric(_))
    }

    /// Whether the texts of the file are still to be set.
    pub(crate) fn needs_texts(&self) -> bool {
        !self.is_numeric() || self.reading.as_ref().is_some_and(|reading| reading.has_texts)
    }

    /// Whether `texts` is to have the numbers as they are written.
    pub(crate) fn is_raw(&self) -> bool {
        !self.is_numeric() || self.reading.as_ref().is_some_and(|reading| reading.is_raw)
    }

    /// Sets the texts of the file. Texts that turn out to be numbers in a notation of their own become numbers.
    pub(crate) fn set_texts(&mut self, texts: Cells, format: &Format) {
        let has_odd = self.reading.as_ref().is_none_or(|reading| reading.first_text.is_some());
        let judged = if self.is_numeric() && !has_odd { None } else { judge(&texts, format) };
        let mut reading = self.reading.take().unwrap_or_default();
        let numbers = judged.and_then(|judged| {
            if judged.numbers.is_some() || !judged.warnings.is_empty() {
                let named = |(message, cells)| Warning { column: self.name.clone(), message, cells };
                reading.warnings = judged.warnings.into_iter().map(named).collect();
            }
            judged.numbers
        });
        if let (Some((values, notation)), Cells::Categorical { codes, .. }) = (numbers, &texts) {
            let number = |code: &u32| values.get(*code as usize).copied().unwrap_or(f64::NAN);
            match &mut self.cells {
                Cells::Numeric(known) => {
                    let gaps = known.iter_mut().zip(codes).filter(|(known, _)| known.is_nan());
                    gaps.for_each(|(known, code)| *known = number(code));
                }
                Cells::Categorical { .. } => self.cells = Cells::Numeric(codes.iter().map(number).collect()),
            }
            reading.first_text = first_text(&values, &texts, format);
            (reading.notation, reading.has_texts, reading.has_words) = (notation, true, true);
        }
        if self.is_numeric() {
            reading.texts = Some(texts);
        } else {
            self.cells = texts;
        }
        self.reading = reading.boxed();
    }

    /// A column of texts; an empty one is missing.
    pub fn categorical(name: &str, texts: &[String]) -> Self {
        let mut known = Texts::new();
        for text in texts.iter().filter(|text| !text.is_empty()) {
            known.insert(text.clone(), 0);
        }
        let levels: Vec<String> = known.into_keys().collect();
        let code = |text: &String| levels.binary_search(text).map_or(MISSING_CODE, |code| code as u32);
        let codes = texts.iter().map(code).collect();
        Self::new(name, Cells::Categorical { codes, levels })
    }
}

/// Row and text of the first cell that is neither a number nor missing; there is a number, or NaN, for each different text.
fn first_text(values: &[f64], texts: &Cells, format: &Format) -> Option<(usize, String)> {
    let Cells::Categorical { codes, levels } = texts else { return None };
    let is_missing =
        |text: &str| format.meaning(text.as_bytes()) == Meaning::Missing || format.odd(text) == Odd::Missing;
    let is_text = |(value, text): (&f64, &String)| value.is_nan() && !is_missing(text);
    let are_texts: Vec<bool> = values.iter().zip(levels).map(is_text).collect();
    let row = codes.iter().position(|code| are_texts.get(*code as usize) == Some(&true))?;
    Some((row, levels[codes[row] as usize].clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_sorted_levels_and_a_cell_can_be_repeated() {
        let mut column = Column::categorical("a", &["b", "", "a", "b"].map(String::from));
        let levels = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(column.cells, Cells::Categorical { codes: vec![1, MISSING_CODE, 0, 1], levels: levels.clone() });
        column.cells.repeat(2);
        assert_eq!(column.cells, Cells::Categorical { codes: vec![1, 1], levels });
        let mut none = Cells::Numeric(vec![]);
        none.repeat(3);
        assert!(none.is_empty());
    }
}
