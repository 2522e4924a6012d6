//! Reads and writes delimited text. Two passes: the first reads every column as numbers and finds those that are not, the second collects
//! the texts of these.

#[path = "csv_pieces.rs"]
mod pieces;

use super::chunks;
use super::dictionary::Dictionary;
use super::encoding::decoded;
use super::format::Format;
use super::missing::trimmed;
use super::number_column::NumberColumn;
use super::reading::{Unread, Warning};
use super::records::{AFTER_QUOTE, RawCell};
use super::rows::{Bad, Rows};
use super::start::{NOT_UTF8, Start, start};
use crate::error::{Error, Result};
use crate::files::{Cells, Column, Table, number_text};
use crate::host::{self, number};

pub use super::format::Header;
pub use pieces::Pieces;

/// One column of [`write`]. NaN is written as an empty cell.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Numbers in the fewest digits that give the same `f32`.
    F32(&'a [f32]),
    /// Numbers in the fewest digits that give the same `f64`.
    F64(&'a [f64]),
    /// Texts, quoted where necessary.
    Text(&'a [&'a str]),
    /// The same.
    Texts(&'a [String]),
    /// Every so many numbers, from the first on.
    Strided(&'a [f64], usize),
    /// The cells of a table.
    Cells(&'a Cells),
}

/// Reads delimited text. Without a given delimiter it is a tab for a `source` ending in `.tsv` or `.tab`, else sniffed from the first records.
/// Lines above the table, comments and units below the names are left out where that is clear; see [`Table::notes`].
///
/// Empty cells, `N/A`, `nan`, `null` and `?` (any case) are missing, among numbers and dates also `NA` and other usual words; spaces around a
/// cell are ignored. A column is numeric if nine tenths of its other cells are numbers (an infinite one included), perhaps in a notation of
/// their own such as with a unit; the rest count as missing, with a warning. Otherwise it is categorical. Errors on rows of the wrong length, broken quotes, repeated names, and a file without rows.
pub fn read(bytes: &[u8], source: &str, format: impl Into<Format>) -> Result<Table> {
    let format = format.into();
    let (text, found) = decoded(bytes, source, &format)?;
    let (table, _) = escaped(format, |format| read_text(&text, source, format))?;
    Ok(table.noting(found))
}

/// What `read` gives for a text, or, if that fails at a quote behind a backslash, what it gives with such quotes as MySQL writes them; and the format
/// that was used.
fn escaped<T: Noted>(format: Format, read: impl Fn(&Format) -> Result<T>) -> Result<(T, Format)> {
    let failure = match read(&format) {
        Err(error) if format.layout.escape.is_none() && error.to_string().ends_with(AFTER_QUOTE) => error,
        other => return other.map(|table| (table, format)),
    };
    let mut with_escape = format;
    with_escape.layout.escape = Some("\\".into());
    let table = read(&with_escape).map_err(|_| failure)?;
    let note = "quotes within cells follow a backslash; they are read so, as escape declares";
    Ok((table.noted(Warning::of_table(note)), with_escape))
}

/// What can be given a note.
trait Noted {
    fn noted(self, note: Warning) -> Self;
}

impl Noted for Table {
    fn noted(self, note: Warning) -> Self {
        self.noting([note])
    }
}

impl Noted for Vec<u8> {
    fn noted(self, _note: Warning) -> Self {
        self
    }
}

/// Reads a text that is UTF-8.
fn read_text(text: &[u8], source: &str, format: &Format) -> Result<Table> {
    let Start { names, rows, notes, .. } = start(text, source, format)?;
    let parts = chunks::divided(&rows);
    let (numbers, bad) = numbers_of(&parts, &rows, format)?;
    let columns: Vec<Column> =
        names.into_iter().zip(numbers).map(|(name, numbers)| numbers.into_column(name, format)).collect();
    let too_large = |what| Error::new(format!("{source}: {what}"));
    let texts = host::in_threads(&parts, |part| read_texts(part.clone(), &columns, format, parts.len()));
    let texts: Vec<PartTexts> = texts.into_iter().collect::<Refused<_>>().map_err(too_large)?;
    let columns = if texts.iter().all(|(_, wrong)| wrong.iter().all(Option::is_none)) {
        with_texts(columns, texts.into_iter().map(|(texts, _)| texts), format).map_err(too_large)?
    } else {
        drop(texts);
        let (texts, wrong) = read_texts(rows, &columns, format, 1).map_err(too_large)?;
        with_unread(with_texts(columns, std::iter::once(texts), format).map_err(too_large)?, &wrong)
    };
    Ok(Table::new(source, columns)?.noting(notes).noting(bad.notes()))
}

/// The text of a table with further columns after its own, whose cells are copied byte for byte; a new column whose name is taken gets a
/// number. Errors as [`read`]. There must be a value for every row.
pub fn append(
    bytes: &[u8],
    source: &str,
    format: impl Into<Format>,
    columns: &[(&str, Values<'_>)],
) -> Result<Vec<u8>> {
    let format = format.into();
    let (text, _) = decoded(bytes, source, &format)?;
    escaped(format, |format| append_text(&text, source, format, columns)).map(|(text, _)| text)
}

fn append_text(text: &[u8], source: &str, format: &Format, columns: &[(&str, Values<'_>)]) -> Result<Vec<u8>> {
    let Start { names, mut rows, header, .. } = start(text, source, format)?;
    let delimiter = char::from(rows.delimiter());
    let new: Vec<String> =
        columns.iter().map(|(name, _)| guarded(quoted(&free_name(name, &names)), delimiter)).collect();
    let (mut out, mut cells) = (Vec::with_capacity(text.len()), Vec::new());
    if let Some(mut header) = header {
        header.next(&mut cells)?;
        out.extend(rows.header_written(&header, cells.len()));
        for name in &new {
            out.extend(format!("{delimiter}{name}").bytes());
        }
        out.extend(header.line_end());
    } else {
        let all = names.iter().map(|name| guarded(quoted(name), delimiter)).chain(new);
        out.extend(all.collect::<Vec<_>>().join(&delimiter.to_string()).bytes());
        out.push(b'\n');
    }
    let mut row = 0;
    while rows.next(&mut cells)?.is_some() {
        out.extend(rows.written(&cells));
        for (_, values) in columns {
            out.extend(format!("{delimiter}{}", guarded(values.text(row), delimiter)).bytes());
        }
        out.extend(rows.line_end());
        row += 1;
    }
    Ok(out)
}

/// A cell that is quoted if it holds the file's own delimiter.
fn guarded(cell: String, delimiter: char) -> String {
    if cell.contains(delimiter) && !cell.starts_with('"') { format!("\"{cell}\"") } else { cell }
}

/// The name, or `name_2`, `name_3`, … if it is taken.
fn free_name(name: &str, taken: &[String]) -> String {
    let mut free = name.to_owned();
    let mut number = 1;
    while taken.contains(&free) {
        number += 1;
        free = format!("{name}_{number}");
    }
    free
}

/// A bound on the number of rows, so that a column is allocated once: each has at least `width` bytes including its line end, which the last may lack.
fn most_rows(bytes: &[u8], width: usize) -> usize {
    let lines = bytes.iter().map(|&b| usize::from(b == b'\n')).sum::<usize>();
    lines.min(bytes.len() / width) + 1
}

/// First pass: every column as numbers, from the rows in parts; and what was done with rows of another number of cells.
fn numbers_of<'a>(parts: &[Rows<'a>], rows: &Rows<'a>, format: &Format) -> Result<(Vec<NumberColumn>, Bad)> {
    let read = |part: Rows<'_>| read_numbers(part, format);
    // What parts cannot tell, such as the row of an error or the lines of bad rows, all rows tell.
    let of_part =
        |part: Rows<'_>| Ok(Some(read(part)?).filter(|(_, bad)| *bad == Bad::default()).map(|(columns, _)| columns));
    let of_parts = if parts.len() > 1 { chunks::numbers(parts, of_part) } else { None };
    of_parts.map_or_else(|| read(rows.clone()), |columns| Ok((columns, Bad::default())))
}

/// Every column as numbers. Checks the length of every row.
fn read_numbers(mut rows: Rows<'_>, format: &Format) -> Result<(Vec<NumberColumn>, Bad)> {
    let width = rows.width();
    let most_rows = most_rows(rows.rest(), width);
    let mut columns: Vec<_> = (0..width).map(|_| NumberColumn::with_capacity(most_rows)).collect();
    let mut cells = Vec::with_capacity(width);
    while rows.next(&mut cells)?.is_some() {
        for (column, cell) in columns.iter_mut().zip(&cells) {
            column.push(cell, format);
        }
    }
    Ok((columns, rows.into_bad()))
}

/// A value, or why it does not fit in memory.
type Refused<T> = std::result::Result<T, String>;

/// The texts of each column of texts, and for each column the first row that is not UTF-8.
type PartTexts = (Vec<Dictionary>, Vec<Option<usize>>);

/// Second pass, over the columns of text, and of numbers that are written like codes, of one of so many parts. Errors if the texts do not
/// fit in memory.
fn read_texts(mut rows: Rows<'_>, columns: &[Column], format: &Format, parts: usize) -> Refused<PartTexts> {
    let texts: Vec<usize> = (0..columns.len()).filter(|&j| columns[j].needs_texts()).collect();
    let mut dictionaries: Vec<_> = texts.iter().map(|_| Dictionary::of_part(parts)).collect();
    let mut wrong = vec![None; columns.len()];
    let (mut cells, mut row) = (Vec::new(), 0);
    // The first pass has found every row.
    while !texts.is_empty() && matches!(rows.next(&mut cells), Ok(Some(_))) {
        row += 1;
        for (dictionary, &j) in dictionaries.iter_mut().zip(&texts) {
            let text = text_of(&cells[j]).unwrap_or_else(|| {
                wrong[j].get_or_insert(row);
                ""
            });
            dictionary.add(text, &columns[j], format)?;
        }
    }
    Ok((dictionaries, wrong))
}

/// The columns, where those with a cell that is not UTF-8 are not read. Without another encoding they would be lost, so using them is an error.
fn with_unread(columns: Vec<Column>, wrong: &[Option<usize>]) -> Vec<Column> {
    let column = |(column, row): (Column, &Option<usize>)| match row {
        Some(row) => {
            let unread = Unread { why: format!("row {row} {NOT_UTF8}"), is_error: true };
            Column::unread(&column.name, column.cells.len(), unread)
        }
        None => column,
    };
    columns.into_iter().zip(wrong).map(column).collect()
}

/// Sets the texts of a column, and the word that counts as missing among them.
fn set_texts(column: &mut Column, mut dictionary: Dictionary, format: &Format) {
    let word = dictionary.word.take();
    column.set_texts(dictionary.sorted(), format);
    if !column.is_numeric() {
        column.set_missing_word(word);
    }
}

/// The columns with the texts of all parts, in their order. Errors as [`read_texts`].
fn with_texts(
    mut columns: Vec<Column>,
    parts: impl Iterator<Item = Vec<Dictionary>>,
    format: &Format,
) -> Refused<Vec<Column>> {
    let mut all: Vec<Dictionary> = Vec::new();
    for part in parts {
        if all.is_empty() {
            all = part;
            continue;
        }
        all.iter_mut().zip(part).try_for_each(|(dictionary, more)| dictionary.append(more))?;
    }
    let texts = columns.iter_mut().filter(|column| column.needs_texts());
    texts.zip(all).for_each(|(column, dictionary)| set_texts(column, dictionary, format));
    Ok(columns)
}

/// A column of cells that a reader has as texts, by the rules of delimited text. Errors if one is not UTF-8, with its row and column.
pub fn column_of<'a>(
    name: &str,
    cells: impl Iterator<Item = &'a [u8]> + Clone,
    source: &str,
    format: &Format,
) -> Result<Column> {
    if format.is_copied {
        let texts: Vec<String> = cells.map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        return Ok(Column::categorical(name, &texts));
    }
    let mut numbers = NumberColumn::with_capacity(cells.size_hint().0);
    cells.clone().for_each(|cell| numbers.push(cell, format));
    let mut column = numbers.into_column(name.to_owned(), format);
    if column.needs_texts() {
        let mut dictionary = Dictionary::default();
        for (row, cell) in cells.enumerate() {
            let Some(text) = std::str::from_utf8(trimmed(cell)).ok() else {
                let row = row + 1;
                return Err(Error::new(format!("{source}: row {row}, column \"{name}\": {NOT_UTF8}")));
            };
            dictionary.add(text, &column, format).map_err(|what| Error::new(format!("{source}: {what}")))?;
        }
        set_texts(&mut column, dictionary, format);
    }
    Ok(column)
}

fn text_of<'a>(cell: &'a RawCell<'_>) -> Option<&'a str> {
    std::str::from_utf8(trimmed(cell)).ok()
}

/// Writes named columns of equal length as comma separated text with a header.
pub fn write(columns: &[(&str, Values<'_>)]) -> Vec<u8> {
    let rows = columns.first().map_or(0, |(_, values)| values.len());
    let names: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
    let mut out = names.join(",") + "\n";
    for row in 0..rows {
        for (j, (_, values)) in columns.iter().enumerate() {
            out.push_str(if j == 0 { "" } else { "," });
            out.push_str(&values.text(row));
        }
        out.push('\n');
    }
    out.into_bytes()
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Texts(values) => values.len(),
            Self::Strided(values, stride) => values.len().div_ceil(*stride),
            Self::Cells(cells) => cells.len(),
        }
    }

    fn text(&self, row: usize) -> String {
        match self {
            Self::F32(values) if values[row].is_nan() => String::new(),
            Self::F64(values) if values[row].is_nan() => String::new(),
            Self::F32(values) if values[row] == values[row].trunc() => number_text(f64::from(values[row])),
            Self::F32(values) => format!("{:?}", number(values[row])),
            Self::F64(values) => number_text(values[row]),
            Self::Text(values) => quoted(values[row]),
            Self::Texts(values) => quoted(&values[row]),
            Self::Strided(values, stride) => Values::F64(&[values[row * stride]]).text(0),
            Self::Cells(cells) => cells.text(row).map_or_else(String::new, |text| quoted(&text)),
        }
    }
}

fn quoted(text: &str) -> String {
    let must = text.contains([',', ';', '\t', '"', '\n', '\r']) || text != text.trim();
    if must { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
