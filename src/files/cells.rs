//! The cells of a column: numbers, or texts as codes.

use crate::host::number;
use crate::math::order::key;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The code of a missing text cell. A missing number is NaN.
pub const MISSING_CODE: u32 = u32::MAX;

/// The cells of a column; the kind is decided by its contents.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Nearly every cell is a number or missing (NaN). An infinite cell stays infinite and is an error where it is used.
    Numeric(Vec<f64>),
    /// Texts that are not numbers.
    Categorical {
        /// Per row the index of its text in `levels`, or [`MISSING_CODE`].
        codes: Vec<u32>,
        /// The distinct texts, sorted by bytes, so their order does not depend on the order of the rows.
        levels: Vec<String>,
    },
}

/// Sorted texts, each with a number. The only type of map in this module, since each one adds to the size of the browser build.
pub(crate) type Texts = BTreeMap<String, u32>;

impl Cells {
    /// A number that is equal for equal cells; for a column of numbers in their order.
    pub(crate) fn key(&self, row: usize) -> u64 {
        match self {
            // Adding 0 makes -0 equal to 0.
            Self::Numeric(values) => key(values[row] + 0.0),
            Self::Categorical { codes, .. } => u64::from(codes[row]),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numeric(values) => values.len(),
            Self::Categorical { codes, .. } => codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Repeats the first cell in each of `rows` rows; a column without cells stays empty.
    pub fn repeat(&mut self, rows: usize) {
        match self {
            Self::Numeric(values) => *values = values.first().map_or(Vec::new(), |first| vec![*first; rows]),
            Self::Categorical { codes, .. } => *codes = codes.first().map_or(Vec::new(), |first| vec![*first; rows]),
        }
    }

    /// Whether the cell in `row` (from 0) is missing.
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Self::Numeric(values) => values[row].is_nan(),
            Self::Categorical { codes, .. } => codes[row] == MISSING_CODE,
        }
    }

    /// Whether every cell is missing.
    pub(crate) fn are_missing(&self) -> bool {
        match self {
            Self::Numeric(values) => values.iter().all(|value| value.is_nan()),
            Self::Categorical { codes, .. } => codes.iter().all(|code| *code == MISSING_CODE),
        }
    }

    /// Whether the cell in `row` (from 0) is an infinite number.
    pub fn is_infinite(&self, row: usize) -> bool {
        matches!(self, Self::Numeric(values) if values[row].is_infinite())
    }

    /// Number of missing cells.
    pub fn missing(&self) -> usize {
        (0..self.len()).filter(|&row| self.is_missing(row)).count()
    }

    /// The cell in `row` (from 0) as text, or `None` if it is missing.
    pub fn text(&self, row: usize) -> Option<Cow<'_, str>> {
        match self {
            _ if self.is_missing(row) => None,
            Self::Numeric(values) => Some(Cow::Owned(number_text(values[row]))),
            Self::Categorical { codes, levels } => Some(Cow::Borrowed(&levels[codes[row] as usize])),
        }
    }
}

/// A number in the fewest digits that read back as the same one; integers without a point.
pub fn number_text(value: f64) -> String {
    let is_whole = value == value.trunc() && value.abs() < 1e15;
    if is_whole { number(value).to_string() } else { format!("{:?}", number(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_text() {
        for (value, text) in
            [(3.0, "3"), (-0.0, "-0"), (0.1, "0.1"), (1e300, "1e300"), (1e15, "1000000000000000.0"), (2.5e-7, "2.5e-7")]
        {
            assert_eq!(number_text(value), text);
            assert_eq!(text.parse::<f64>().unwrap(), value);
        }
    }
}
