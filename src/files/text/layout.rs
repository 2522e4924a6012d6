//! How the lines of a file are laid out: what is before the table, which lines belong to it, and how its bytes are text.

use crate::error::{Error, Result, unknown_name};
use crate::record;

/// Encodings by name, each with what it is.
pub const ENCODINGS: [(&str, &str); 5] = [
    ("utf-8", "Unicode in single bytes"),
    ("utf-16le", "Unicode in pairs of bytes, the low one first, as Excel writes \"Unicode text\""),
    ("utf-16be", "Unicode in pairs of bytes, the high one first"),
    ("latin1", "Western European, also with the signs that Windows adds"),
    ("windows-1252", "The same"),
];

/// How the lines of a file are laid out. By default it is found out, and what is not clear is an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The encoding of the text, by a name of [`ENCODINGS`]; UTF-8, or the one of the mark at its start, if unset.
    pub encoding: Option<String>,
    /// Lines that begin with this text are left out.
    pub comment: Option<String>,
    /// Lines before the table.
    pub skip: usize,
    /// The line of the names, from 1. Lines before it are left out.
    pub header_row: Option<usize>,
    /// What is done with a row that has too few or too many cells.
    pub bad_rows: BadRows,
    /// The character before a quote within a quoted cell, if that is not another quote.
    pub escape: Option<String>,
}

record! { Layout { encoding = None, comment = None, skip = 0, header_row = None, bad_rows = BadRows::Refuse, escape = None } }

/// What is done with a row that has too few or too many cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRows {
    /// It is an error.
    #[default]
    Refuse,
    /// It is left out.
    Skip,
    /// Cells that lack at its end are missing; a row with too many cells is left out.
    Fill,
}

record! { enum BadRows { Refuse, Skip, Fill } }

impl BadRows {
    /// Every choice: its name, what it does, and itself.
    pub const ALL: [(&'static str, &'static str, Self); 3] = [
        ("refuse", "An error names the first", Self::Refuse),
        ("skip", "They are left out, with a warning", Self::Skip),
        ("fill", "Cells that lack at the end are missing; rows with too many cells are left out", Self::Fill),
    ];

    /// The choice of a name.
    pub fn by_name(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(known, _, _)| *known == name);
        found.map(|(_, _, choice)| *choice).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _, _)| name);
            unknown_name("bad_rows", name, &names, "")
        })
    }
}

impl Layout {
    /// Errors on an unknown encoding and on marks that are none.
    pub(super) fn check(&self) -> Result<()> {
        let refused = |name: &str, got: &str, expected: &str| {
            Err(Error::usage(format!("{name}: got \"{got}\", expected {expected}")))
        };
        if let Some(name) = self.encoding.as_deref().filter(|name| !ENCODINGS.iter().any(|(known, _)| known == name)) {
            return Err(unknown_name("encoding", name, &ENCODINGS.map(|(known, _)| known), ""));
        }
        if let Some(comment) =
            self.comment.as_deref().filter(|text| text.trim().is_empty() || text.contains(['\n', '\r', '"']))
        {
            return refused("comment", comment, "the text at the start of a comment, such as #");
        }
        if let Some(escape) = self
            .escape
            .as_deref()
            .filter(|text| !matches!(text.as_bytes(), [b] if b.is_ascii_punctuation() && *b != b'"'))
        {
            return refused("escape", escape, "one character, such as \\");
        }
        match self.header_row {
            Some(0) => refused("header_row", "0", "the number of a line, from 1"),
            Some(row) if row <= self.skip => {
                let skip = self.skip;
                refused("header_row", &row.to_string(), &format!("a line behind the {skip} that are skipped"))
            }
            _ => Ok(()),
        }
    }

    /// Lines before the table or its names.
    pub(crate) fn lines_before(&self) -> usize {
        self.header_row.map_or(self.skip, |row| row - 1)
    }
}
