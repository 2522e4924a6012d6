//! What reading a column of text found besides its cells, and what a person should know about it.

use super::format::Format;
use super::notation::Notation;
use crate::error::listed;
use crate::files::Cells;
use crate::record;
use std::fmt;

/// What reading a column of text found besides its cells.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about the cells")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// The cells as they are written, if some are no numbers, or are written like codes: with leading zeros, or with too many digits.
    pub texts: Option<Cells>,
    /// Whether `texts` is to be read.
    pub has_texts: bool,
    /// Whether `texts` also has the numbers as they are written, only since another column may show that their points are no decimal marks.
    pub is_raw: bool,
    /// Whether some of `texts` are no numbers or are written like codes.
    pub has_words: bool,
    /// How the numbers are written.
    pub notation: Notation,
    /// Row and text of the first cell that is no number, in a column that was read as numbers or nearly so.
    pub first_text: Option<(usize, String)>,
    /// The first word of a column of texts that counts as missing, though it may be a text like others.
    pub missing_word: Option<String>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
    /// Whether all its numbers are of percent.
    pub is_percent: bool,
    /// How the file writes its numbers, if not in the usual way.
    pub format: Option<Format>,
    /// Why the column could not be read, if so; its cells are all missing then.
    pub unread: Option<Unread>,
}

/// Why a column could not be read. It stops nothing unless the column is used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unread {
    /// What the column holds, and the remedy.
    pub why: String,
    /// Whether leaving the column out unasked would lose what a person surely wants: then only who names the columns can go on without it.
    pub is_error: bool,
}

impl Reading {
    pub(crate) fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

/// Something about a column that a person should know, though it is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The column; empty if it is about the rows.
    pub column: String,
    /// What it is, and the remedy.
    pub message: String,
    /// Some of the cells it is about.
    pub cells: Vec<String>,
}

record! { Warning { column, message, cells } }

impl Warning {
    /// About the whole table.
    pub(crate) fn of_table(message: impl Into<String>) -> Self {
        Self { column: String::new(), message: message.into(), cells: Vec::new() }
    }

    /// About a column that could not be read.
    pub(crate) fn left_unread(column: &str, why: &str) -> Self {
        Self { column: column.into(), message: format!("{why}; it is left out"), cells: Vec::new() }
    }

    /// About a column without any value.
    pub(crate) fn empty(column: &str) -> Self {
        Self { column: column.into(), message: "has no value in any row and is left out".into(), cells: Vec::new() }
    }

    /// About a column of sentences.
    pub(crate) fn prose(column: &str) -> Self {
        let message = "holds free text, which is not learnt from yet, and is left out; write what matters in it into columns of their own, such as the number of words or whether a word occurs";
        Self { column: column.into(), message: message.into(), cells: Vec::new() }
    }

    /// About a column of texts that are all different.
    pub(crate) fn unique(column: &str) -> Self {
        let message = "has another text in every row, from which nothing can be learnt, and is left out; name it under features to keep it";
        Self { column: column.into(), message: message.into(), cells: Vec::new() }
    }

    /// About a column of texts that are all different, and look like numbers or dates.
    pub(crate) fn unread(why: &Self) -> Self {
        let message = format!(
            "{}; its texts are all different, and it is left out; name it under features to keep it as a category",
            why.message
        );
        Self { message, ..why.clone() }
    }
}

impl fmt::Display for Warning {
    /// `column "x": 2 cells are no numbers and count as missing; …: "abc", "-5-"`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.column.is_empty() {
            write!(f, "column \"{}\": ", self.column)?;
        }
        f.write_str(&self.message)?;
        if self.cells.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", listed(&self.cells.iter().map(String::as_str).collect::<Vec<_>>()))
    }
}
