//! The cells of one column while they are encoded, and what is to be said of them.

use super::levels::unknown;
use crate::error::{Error, Result};
use crate::files::{Column, Table};
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

/// One column of a table being encoded.
pub struct ColumnRows<'a> {
    pub(crate) table: &'a Table,
    pub(crate) column: &'a Column,
    /// The rows that are encoded.
    pub(crate) rows: &'a [u32],
    pub(crate) unknown: Unknown,
    /// Whether a text among numbers is one, not a missing cell.
    pub(crate) has_texts: bool,
    pub(crate) feature: usize,
    pub(crate) notes: &'a mut Vec<Note>,
}

impl ColumnRows<'_> {
    /// Notes that the model did not see a level, or that its cell cannot be used.
    pub(crate) fn unseen(&mut self, at: usize, levels: &[String]) -> Result<()> {
        let row = self.rows[at] as usize;
        if self.unknown == Unknown::Other {
            let text = self.column.as_category().text(row).unwrap_or_default().into_owned();
            return self.note(at, NoteKind::Unseen(text));
        }
        self.unusable(at, unknown(self.column, row, levels))
    }

    /// Notes that a cell cannot be used, or refuses the row.
    pub(crate) fn unusable(&mut self, at: usize, why: String) -> Result<()> {
        if self.unknown == Unknown::Refuse {
            return Err(self.table.at(self.rows[at] as usize, &self.column.name, &why));
        }
        self.note(at, NoteKind::Unusable(why))
    }

    pub(crate) fn note(&mut self, row: usize, kind: NoteKind) -> Result<()> {
        if self.notes.len() == self.notes.capacity() {
            let more = self.notes.len().max(64);
            let reserved = host::reserve(self.notes, more, || format!("notes on {more} more cells"));
            reserved.map_err(|what| too_large(self.table, &what))?;
        }
        self.notes.push(Note { row, feature: self.feature, kind });
        Ok(())
    }
}

/// The error of a table whose rows do not fit in memory.
pub(crate) fn too_large(table: &Table, what: &str) -> Error {
    Error::new(format!("{}: {what}; use fewer rows or columns", table.source()))
}

/// Message for a missing cell without a fill-in value.
pub(crate) const MISSING: &str = "is missing, and the model was prepared without a value to fill in";
