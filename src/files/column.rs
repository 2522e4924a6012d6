//! One named column, with what reading its text found besides its cells.

use super::cells::{Cells, MISSING_CODE, Texts};
use super::text::cell::{Meaning, Odd};
use super::text::reading::{Reading, Warning};

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

    /// What a person should know about the column, if anything.
    pub fn warning(&self) -> Option<&Warning> {
        self.reading.as_ref()?.warning.as_ref()
    }

    /// The cells for use as categories: as written, where numbers are written like codes.
    pub fn as_category(&self) -> &Cells {
        self.texts().unwrap_or(&self.cells)
    }

    /// The cells of a column of numbers as they are written, if some are no numbers or are written like codes.
    pub(crate) fn texts(&self) -> Option<&Cells> {
        self.reading.as_ref()?.texts.as_ref()
    }

    /// Whether it is a column of numbers that are all of percent.
    pub(crate) fn is_percent(&self) -> bool {
        self.reading.as_ref().is_some_and(|reading| reading.is_percent)
    }

    /// What a text of the column means among numbers.
    pub(crate) fn number_in(&self, text: &str) -> Odd {
        let format = self.reading.as_ref().and_then(|reading| reading.format.clone()).unwrap_or_default();
        match format.meaning(text.as_bytes()) {
            Meaning::Number(value) => Odd::Number(value),
            Meaning::Missing => Odd::Missing,
            Meaning::Text => format.odd(text),
        }
    }

    /// Whether it holds numbers.
    pub fn is_numeric(&self) -> bool {
        matches!(self.cells, Cells::Numeric(_))
    }

    /// Whether the texts of the file are still to be set.
    pub(crate) fn needs_texts(&self) -> bool {
        !self.is_numeric() || self.reading.as_ref().is_some_and(|reading| reading.has_texts)
    }

    /// Sets the texts of the file.
    pub(crate) fn set_texts(&mut self, texts: Cells) {
        match (&mut self.cells, &mut self.reading) {
            (Cells::Numeric(_), Some(reading)) => reading.texts = Some(texts),
            (cells, _) => *cells = texts,
        }
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
