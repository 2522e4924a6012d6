//! Reads JSON as a table, in the shapes that programs write: objects one after another, or in a list; lists of cells; a list within an object
//! that describes it; an object of columns. A field of an object within an object becomes a column such as `pos.x`; a field that is absent or
//! null is a missing cell; a column of lists is not read, which matters only if it is used. Numbers keep their digits.

mod cursor;
mod rows;
mod shape;

use super::kind::Kind;
use crate::error::{Error, Result};
use crate::files::Table;
use crate::files::text::encoding::decoded;
use crate::files::text::start::NOT_UTF8;
use crate::files::text::{Format, Header, begins_json};
use cursor::{Cursor, lines};
use rows::Rows;
use shape::{Shape, shape};

pub(crate) static KIND: Kind = Kind {
    name: "JSON",
    magic: b"",
    is: begins_json,
    options: &["na", "keep_na", "header", "encoding"],
    read: Some(read),
    open: Some(|opened, _| opened.refused("is JSON")),
};

fn read(bytes: &[u8], source: &str, format: &Format) -> Result<Table> {
    let (bytes, mut notes) = decoded(bytes, source, format)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = 1 + lines(&bytes[..error.valid_up_to()]);
        Error::new(format!("{source}: line {line}: {NOT_UTF8}"))
    })?;
    let found = shape(Cursor::new(text, source))?;
    let has_cells = matches!(found, Shape::Lists(..) | Shape::LinesOfLists | Shape::Split { .. });
    if format.header != Header::Auto && !has_cells {
        return Err(Error::usage(format!("{source}: header does not apply to JSON objects, which name their fields")));
    }
    let mut rows = Rows::new(Cursor::new(text, source));
    match found {
        Shape::Lines => rows.lines()?,
        Shape::Records(list) => {
            notes.extend(list.note());
            rows.records(list.at)?;
        }
        Shape::Lists(list, columns) => {
            notes.extend(list.note());
            rows.lists(list.at, columns, format.header)?;
        }
        Shape::LinesOfLists => rows.lines_of_lists(format.header)?,
        Shape::Columns(members) => rows.columns(&members)?,
        Shape::Split { names, data } => rows.split(names, data)?,
        Shape::ByRow(members) => rows.by_row(&members)?,
    }
    let (table, renamed) = rows.table(format)?;
    Ok(table.noting(notes).noting(renamed))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
