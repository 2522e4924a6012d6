//! One table from several files of the same columns: a folder, or all files that match a pattern.

use std::path::Path;

use super::given::Given;
use super::joined::{JOINED, Joined, check_names, joined as joined_texts, joined_format};
use super::kind_of;
use super::start::check_bytes;
use super::unpack::unpack;
use super::whole::{ReadLike, is_text, read_table, read_table_like};
use crate::error::{Error, Result};
use crate::files::table::file_of;
use crate::files::text::{Format, csv};
use crate::files::{Cells, Column, Table};
use crate::host;

/// The bytes of a table, and how they are read.
pub struct TableBytes {
    /// The bytes, unpacked; several texts in one.
    pub bytes: Vec<u8>,
    /// How they are read.
    pub format: Format,
}

/// What is at a path.
enum Found {
    /// One file, or several texts as one.
    One(Vec<u8>),
    Joined(Joined),
    /// Several files that are not text, with their names.
    Files(Vec<(String, Vec<u8>)>),
}

/// Reads one table from a file, from all files of a folder, or from those that match a pattern with `*` and `?`; and its bytes, unless they are in several
/// files that are not text. The columns of several files are put together by their names, which must be the same. Errors name the file that differs.
pub fn read_files(path: &Path, format: &Format) -> Result<(Table, Option<TableBytes>)> {
    let source = path.display().to_string();
    let (bytes, notes, parts, format) = match find(path, &source, format)? {
        Found::One(bytes) => (bytes, Vec::new(), Vec::new(), format.clone()),
        Found::Joined(Joined { text, notes, parts }) => (text, notes, parts, joined_format(format)),
        Found::Files(files) => {
            let tables = files.into_iter().map(|(name, bytes)| read_table(&bytes, &name, format));
            return Ok((stacked(&source, &tables.collect::<Result<Vec<_>>>()?)?.with_format(format.clone()), None));
        }
    };
    let table = read_table(&bytes, &source, &format).map_err(|error| in_file(&error, &source, &parts))?;
    let table = table.noting(notes).of_files(parts);
    Ok((table, Some(TableBytes { bytes, format })))
}

/// The same of a table that is written like another one, of format `own`, except in what the caller says; see [`read_table_like`].
pub fn read_files_like(path: &Path, given: &Given, own: &Format) -> Result<(ReadLike, Option<TableBytes>)> {
    let source = path.display().to_string();
    let format = given.over(own);
    match find(path, &source, &format)? {
        Found::One(bytes) => {
            let read = read_table_like(&bytes, &source, given, own)?;
            let format = read.format.clone();
            Ok((read, Some(TableBytes { bytes, format })))
        }
        Found::Joined(Joined { text: bytes, notes, parts }) => {
            let joined = joined_format(&format);
            let names = given.names.iter().copied().chain(JOINED);
            let given = Given { format: joined, names: names.collect() };
            let read = read_table_like(&bytes, &source, &given, &joined_format(own));
            let mut read = read.map_err(|error| in_file(&error, &source, &parts))?;
            read.table = read.table.noting(notes).of_files(parts);
            let format = read.format.clone();
            Ok((read, Some(TableBytes { bytes, format })))
        }
        Found::Files(files) => {
            let all = files.into_iter().map(|(name, bytes)| read_table_like(&bytes, &name, given, own));
            let all = all.collect::<Result<Vec<_>>>()?;
            let tables: Vec<Table> = all.iter().map(|read| read.table.clone()).collect();
            let ReadLike { format, notes, taken, .. } = all.into_iter().next().ok_or_else(|| Error::new("no files"))?;
            let table = stacked(&source, &tables)?.with_format(format.clone());
            Ok((ReadLike { table, format, notes, taken }, None))
        }
    }
}

/// The file or files at a path. Errors if several are of other kinds or columns.
fn find(path: &Path, source: &str, format: &Format) -> Result<Found> {
    let Some(paths) = host::files_at(path)? else { return Ok(Found::One(read(path)?)) };
    let files: Vec<(String, Vec<u8>)> =
        paths.iter().map(|path| Ok((path.display().to_string(), read(path)?))).collect::<Result<_>>()?;
    check_kinds(source, &files)?;
    if files.iter().any(|(_, bytes)| !is_text(bytes)) {
        return Ok(Found::Files(files));
    }
    Ok(Found::Joined(joined_texts(&files, format)?))
}

/// The same error, where it is about a row of several files, about the row of its own file.
fn in_file(error: &Error, source: &str, parts: &[(String, usize)]) -> Error {
    let message = error.to_string();
    let place = || {
        let rest = message.strip_prefix(source)?.strip_prefix(": row ")?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (file, row) = file_of(parts, rest[..digits].parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(Error::new(format!("{file}: row {}{}", row + 1, &rest[digits..])))
    };
    place().unwrap_or_else(|| error.clone())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let source = path.display().to_string();
    unpack(host::read_checked(path, check_bytes)?, &source)
}

/// Errors if the files are of several kinds.
fn check_kinds(source: &str, files: &[(String, Vec<u8>)]) -> Result<()> {
    let kind = |bytes: &[u8]| kind_of(bytes, |kind| kind.read).0.name;
    let Some((first, bytes)) = files.first() else { return Ok(()) };
    let expected = kind(bytes);
    match files.iter().find(|(_, bytes)| kind(bytes) != expected) {
        None => Ok(()),
        Some((name, bytes)) => {
            let got = kind(bytes);
            Err(Error::new(format!("{source}: files of several kinds: {first} is {expected}, {name} is {got}")))
        }
    }
}

/// The rows of all tables, with the columns of the first.
fn stacked(source: &str, tables: &[Table]) -> Result<Table> {
    let first = &tables[0];
    let names: Vec<&str> = first.names().collect();
    for table in tables {
        check_names([first.source(), table.source()], &names, &table.names().collect::<Vec<_>>())?;
    }
    let column = |name: &str| {
        let parts =
            tables.iter().map(|table| Ok(&table.columns()[table.position(name)?])).collect::<Result<Vec<_>>>()?;
        joined(name, source, &parts)
    };
    let columns = names.into_iter().map(column).collect::<Result<_>>()?;
    let notes = tables.iter().flat_map(|table| table.notes().iter().cloned());
    let parts = tables.iter().map(|table| (table.source().to_owned(), table.rows()));
    Ok(Table::new(source, columns)?.noting(notes).of_files(parts.collect()))
}

/// A column of all parts. Where some are numbers and some texts, all are read as texts again.
fn joined(name: &str, source: &str, parts: &[&Column]) -> Result<Column> {
    if let Some(unread) = parts.iter().find_map(|part| part.why_unread()) {
        let rows = parts.iter().map(|part| part.cells.len()).sum();
        return Ok(Column::unread(name, rows, unread.clone()));
    }
    let numbers: Option<Vec<&[f64]>> = parts.iter().map(|part| plain_numbers(part)).collect();
    if let Some(numbers) = numbers {
        return Ok(Column::numeric(name, numbers.concat()));
    }
    let texts = parts.iter().flat_map(|part| {
        let cells = part.as_category();
        (0..cells.len()).map(|row| cells.text(row).map_or_else(Vec::new, |text| text.into_owned().into_bytes()))
    });
    let texts: Vec<Vec<u8>> = texts.collect();
    csv::column_of(name, texts.iter().map(Vec::as_slice), source, &Format::default())
}

/// The numbers of a column of numbers of which nothing else is known.
fn plain_numbers(column: &Column) -> Option<&[f64]> {
    match &column.cells {
        Cells::Numeric(values) if column.reading.is_none() => Some(values),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_about_a_row_names_its_file() {
        let parts = [("d/a.csv".to_owned(), 60), ("d/b.csv".to_owned(), 60)];
        let said = |message: &str| in_file(&Error::new(message), "d/*.csv", &parts).to_string();
        assert_eq!(said("d/*.csv: row 61, column \"x\": bad"), "d/b.csv: row 1, column \"x\": bad");
        assert_eq!(said("d/*.csv: row 60 (line 61): bad"), "d/a.csv: row 60 (line 61): bad");
        for other in ["d/*.csv: row 121: bad", "d/*.csv: has no rows", "c.csv: row 1: bad"] {
            assert_eq!(said(other), other);
        }
    }
}
