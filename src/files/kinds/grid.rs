//! A table being read cell by cell: texts in one place, and per column the text of each row. Cells may be absent.

use super::memory::has_memory;
use crate::error::{Error, Result};
use crate::files::text::reading::Unread;
use crate::files::text::{Format, csv};
use crate::files::{Column, MISSING_CODE, Table};

/// Texts one after another, each with a number.
#[derive(Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    /// Adds a text and returns its number.
    pub(crate) fn add(&mut self, text: &[u8]) -> u32 {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        self.ends.len() as u32 - 1
    }

    /// The text of a number; empty if there is none.
    pub(crate) fn get(&self, code: u32) -> &[u8] {
        let at = code as usize;
        let Some(&end) = self.ends.get(at) else { return &[] };
        &self.bytes[if at == 0 { 0 } else { self.ends[at - 1] }..end]
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.bytes.len() + 8 * self.ends.len()) as u64
    }

    /// A column whose rows have these texts, by the rules of delimited text.
    pub(crate) fn column(&self, name: &str, codes: &[u32], source: &str, format: &Format) -> Result<Column> {
        csv::column_of(name, codes.iter().map(|code| self.get(*code)), source, format)
    }
}

/// Columns of texts that grow row by row.
#[derive(Default)]
pub(crate) struct Grid {
    pub(crate) texts: Texts,
    columns: Vec<GridColumn>,
    rows: usize,
}

/// A column that grows: the numbers of its texts, and why it is not read, if so.
struct GridColumn {
    name: String,
    codes: Vec<u32>,
    unread: Option<String>,
}

impl Grid {
    /// Adds a column and returns its place. Rows so far have no cell there.
    pub(crate) fn add_column(&mut self, name: String) -> usize {
        self.columns.push(GridColumn { name, codes: Vec::new(), unread: None });
        self.columns.len() - 1
    }

    /// Sets the cell of the current row to a text. False if it is set already.
    pub(crate) fn set(&mut self, column: usize, text: u32) -> bool {
        let cells = &mut self.columns[column].codes;
        if cells.len() > self.rows {
            return false;
        }
        cells.resize(self.rows, MISSING_CODE);
        cells.push(text);
        true
    }

    /// Goes to the next row.
    pub(crate) fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Rows that are complete.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn name(&self, column: usize) -> &str {
        &self.columns[column].name
    }

    /// Whether a column has no text in any row.
    pub(crate) fn is_empty(&self, column: usize) -> bool {
        self.columns[column].codes.iter().all(|code| *code == MISSING_CODE)
    }

    /// Says why a column is not read.
    pub(crate) fn set_unread(&mut self, column: usize, why: &str) {
        self.columns[column].unread.get_or_insert_with(|| why.to_owned());
    }

    /// Goes to a row, which may have cells in some columns already.
    pub(crate) fn go_to(&mut self, row: usize) {
        self.rows = row;
    }

    /// Drops the columns without any text for which `is_needless` holds, given the name and all names.
    pub(crate) fn drop_empty(&mut self, is_needless: impl Fn(&str, &[String]) -> bool) {
        let is_empty =
            |column: &GridColumn| column.unread.is_none() && column.codes.iter().all(|code| *code == MISSING_CODE);
        if !self.columns.iter().any(is_empty) {
            return;
        }
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        self.columns.retain(|column| !(is_empty(column) && is_needless(&column.name, &names)));
    }

    /// Replaces the texts of a column that `of` gives another one for.
    pub(crate) fn rewrite(&mut self, column: usize, of: impl Fn(u32, &[u8]) -> Option<String>) {
        for code in &mut self.columns[column].codes {
            if let Some(text) = of(*code, self.texts.get(*code)) {
                *code = self.texts.add(text.as_bytes());
            }
        }
    }

    /// The table. Errors if it does not fit in memory: rows without most cells can be small in a file.
    pub(crate) fn table(self, source: &str, format: &Format) -> Result<Table> {
        let cells = self.rows as u64 * self.columns.len() as u64;
        has_memory(cells, 0).map_err(|what| Error::new(format!("{source}: {what}")))?;
        let column = |GridColumn { name, mut codes, unread }: GridColumn| {
            if let Some(why) = unread {
                return Ok(Column::unread(&name, self.rows, Unread { why, is_error: false }));
            }
            codes.resize(self.rows, MISSING_CODE);
            self.texts.column(&name, &codes, source, format)
        };
        Table::new(source, self.columns.into_iter().map(column).collect::<Result<_>>()?)
    }
}
