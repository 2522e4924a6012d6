//! Reads and writes delimited text. Two passes: the first reads every column as numbers and finds those that are not, the second collects
//! the texts of these.

#[path = "csv_pieces.rs"]
mod pieces;

use super::cell::Meaning;
use super::chunks;
use super::dictionary::Dictionary;
use super::format::Format;
use super::missing::trimmed;
use super::number_column::NumberColumn;
use super::records::{RawCell, Records, sniff_delimiter};
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

/// Reads delimited text. Without a given delimiter it is a tab for a `source` ending in `.tsv` or `.tab`, else sniffed from the first record.
///
/// Empty cells, `N/A`, `nan`, `null` and `?` (any case) are missing, among numbers and dates also `NA` and other usual words; spaces around a
/// cell are ignored. A column is numeric if nine tenths of its other cells are numbers (an infinite one included), perhaps in a notation of
/// their own such as with a unit; the rest count as missing, with a warning. Otherwise it is categorical. Errors on rows of the wrong length, broken quotes, text that is not UTF-8, repeated names, and a file without rows.
pub fn read(bytes: &[u8], source: &str, format: impl Into<Format>) -> Result<Table> {
    let format = format.into();
    let mut records = records(bytes, source, &format)?;
    let (names, width) = read_names(&mut records, source, &format)?;
    let parts = chunks::divided(&records);
    let numbers = numbers_of(&parts, &records, width, 0, source, &format)?;
    let columns: Vec<Column> =
        names.into_iter().zip(numbers).map(|(name, numbers)| numbers.into_column(name, &format)).collect();
    let columns = match host::in_threads(&parts, |part| read_texts(part.clone(), &columns, source, &format)) {
        all if all.iter().all(Result::is_ok) => with_texts(columns, all.into_iter().flatten(), &format),
        _ => {
            let all = read_texts(records, &columns, source, &format)?;
            with_texts(columns, std::iter::once(all), &format)
        }
    };
    Table::new(source, columns)
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
    let mut records = records(bytes, source, &format)?;
    let mut first = records.clone();
    let (names, _) = read_names(&mut first, source, &format)?;
    let delimiter = char::from(records.delimiter());
    let new: Vec<String> =
        columns.iter().map(|(name, _)| guarded(quoted(&free_name(name, &names)), delimiter)).collect();
    let (mut out, mut cells) = (Vec::with_capacity(bytes.len()), Vec::new());
    if first.start() == records.start() {
        let all = names.iter().map(|name| quoted(name)).chain(new);
        out.extend(all.collect::<Vec<_>>().join(&delimiter.to_string()).bytes());
        out.push(b'\n');
    } else {
        records.next(&mut cells)?;
        out.extend(records.span());
        for name in &new {
            out.extend(format!("{delimiter}{name}").bytes());
        }
        out.extend(records.line_end());
    }
    let mut row = 0;
    while records.next(&mut cells)?.is_some() {
        out.extend(records.span());
        for (_, values) in columns {
            out.extend(format!("{delimiter}{}", guarded(values.text(row), delimiter)).bytes());
        }
        out.extend(records.line_end());
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

fn records<'a>(bytes: &'a [u8], source: &'a str, format: &Format) -> Result<Records<'a>> {
    format.check()?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let name = source.to_ascii_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let is_tabbed = [".tsv", ".tab"].iter().any(|end| name.ends_with(end));
    let delimiter = match &format.delimiter {
        Some(given) => given.as_bytes()[0],
        None if is_tabbed => b'\t',
        None => sniff_delimiter(bytes),
    };
    Ok(Records::new(bytes, delimiter, source))
}

/// Names and number of the columns. Leaves `records` at the first row of data.
fn read_names(records: &mut Records<'_>, source: &str, format: &Format) -> Result<(Vec<String>, usize)> {
    let mut after = records.clone();
    let mut cells = Vec::new();
    if after.next(&mut cells)?.is_none() {
        return Err(Error::new(format!("{source}: is empty")));
    }
    let has_names = match format.header {
        Header::Auto => !cells.iter().any(|cell| matches!(format.meaning(cell), Meaning::Number(_))),
        Header::Yes => true,
        Header::No => false,
    };
    if !has_names {
        return Ok(((0..cells.len()).map(|j| format!("c{j}")).collect(), cells.len()));
    }
    *records = after;
    let name = |(j, cell): (usize, &RawCell<'_>)| {
        let text = text_of(cell).ok_or_else(|| Error::new(format!("{source}: the header {NOT_UTF8}")))?;
        Ok(if text.is_empty() { format!("c{j}") } else { text.to_string() })
    };
    let names = cells.iter().enumerate().map(name).collect::<Result<Vec<_>>>()?;
    Ok((names, cells.len()))
}

const NOT_UTF8: &str = "is not UTF-8 text; save the file as UTF-8";

/// A bound on the number of rows, so that a column is allocated once: each has at least `width` bytes including its line end, which the last may lack.
fn most_rows(bytes: &[u8], width: usize) -> usize {
    let lines = bytes.iter().map(|&b| usize::from(b == b'\n')).sum::<usize>();
    lines.min(bytes.len() / width) + 1
}

/// First pass: every column as numbers, from the records in parts. There are `first` rows before.
fn numbers_of<'a>(
    parts: &[Records<'a>],
    records: &Records<'a>,
    width: usize,
    first: usize,
    source: &str,
    format: &Format,
) -> Result<Vec<NumberColumn>> {
    let read = |part: Records<'_>| read_numbers(part, width, first, source, format);
    // What parts cannot tell, such as the row of an error, all records tell.
    chunks::numbers(parts, read).map_or_else(|| read(records.clone()), Ok)
}

/// Every column as numbers. Checks the length of every row; there are `first` rows before.
fn read_numbers(
    mut records: Records<'_>,
    width: usize,
    first: usize,
    source: &str,
    format: &Format,
) -> Result<Vec<NumberColumn>> {
    let most_rows = most_rows(records.rest(), width);
    let mut columns: Vec<_> = (0..width).map(|_| NumberColumn::with_capacity(most_rows)).collect();
    let (mut cells, mut row) = (Vec::with_capacity(width), first);
    while let Some(line) = records.next(&mut cells)? {
        row += 1;
        if cells.len() != width {
            let got = cells.len();
            return Err(Error::new(format!("{source}: row {row} (line {line}): got {got} cells, expected {width}")));
        }
        for (column, cell) in columns.iter_mut().zip(&cells) {
            column.push(cell, format);
        }
    }
    Ok(columns)
}

/// Second pass, over the columns of text, and of numbers that are written like codes: their texts.
fn read_texts(mut records: Records<'_>, columns: &[Column], source: &str, format: &Format) -> Result<Vec<Dictionary>> {
    let texts: Vec<usize> = (0..columns.len()).filter(|&j| columns[j].needs_texts()).collect();
    let mut dictionaries: Vec<_> = texts.iter().map(|_| Dictionary::default()).collect();
    let (mut cells, mut row) = (Vec::new(), 0);
    while !texts.is_empty() && records.next(&mut cells)?.is_some() {
        row += 1;
        for (dictionary, &j) in dictionaries.iter_mut().zip(&texts) {
            let Some(text) = text_of(&cells[j]) else {
                let name = &columns[j].name;
                return Err(Error::new(format!("{source}: row {row}, column \"{name}\": {NOT_UTF8}")));
            };
            dictionary.add(text, &columns[j], format);
        }
    }
    Ok(dictionaries)
}

/// The columns with the texts of all parts, in their order.
fn with_texts(mut columns: Vec<Column>, parts: impl Iterator<Item = Vec<Dictionary>>, format: &Format) -> Vec<Column> {
    let mut all: Vec<Dictionary> = Vec::new();
    for part in parts {
        if all.is_empty() {
            all = part;
            continue;
        }
        all.iter_mut().zip(part).for_each(|(dictionary, more)| dictionary.append(more));
    }
    let texts = columns.iter_mut().filter(|column| column.needs_texts());
    texts.zip(all).for_each(|(column, dictionary)| column.set_texts(dictionary.sorted(), format));
    columns
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
            dictionary.add(text, &column, format);
        }
        column.set_texts(dictionary.sorted(), format);
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
