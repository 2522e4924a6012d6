//! Tables from all bytes of a file, whatever its kind.

use std::borrow::Cow;

use super::blocks;
use super::given::{FormatOption, Given, OPTIONS};
use super::start::check_bytes;
use super::unpack::unpacked;
use super::{check_options, kind_of};
use crate::error::{Error, Result};
use crate::files::Table;
use crate::files::text::Format;

/// Reads a table from CSV, TSV, JSON lines, a list of JSON objects, NPY, NPZ, Parquet or an Excel workbook; text may be compressed with gzip or
/// Zstandard. `format` is a [`Format`], or only a [`Header`](crate::files::Header).
///
/// `source` is the user's name for the bytes; one ending in `.tsv` or `.tab` is tab separated. Errors if an option is set that does not apply.
pub fn read_table(bytes: &[u8], source: &str, format: impl Into<Format>) -> Result<Table> {
    let format = format.into();
    let bytes = unpacked(Cow::Borrowed(bytes), source)?;
    check_bytes(&bytes).map_err(|what| Error::new(format!("{source}: {what}")))?;
    let (kind, read) = kind_of(&bytes, |kind| kind.read);
    check_options(kind, source, &format)?;
    let table = read(&bytes, source, &format)?.with_format(format);
    let notes = blocks::notes(&table);
    Ok(table.noting(notes))
}

/// The cells of a table as the texts that its file holds, to be copied: nothing is missing but what the file leaves empty, and numbers keep
/// their digits. Errors as [`read_table`].
pub fn read_texts(bytes: &[u8], source: &str, format: &Format) -> Result<Table> {
    let (_, read) = kind_of(bytes, |kind| kind.read);
    read(bytes, source, &Format { is_copied: true, ..format.clone() })
}

/// A table that was read like another one.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadLike {
    /// The table.
    pub table: Table,
    /// How it was read.
    pub format: Format,
    /// How it is written otherwise than the other table, in words for a person.
    pub notes: Vec<String>,
    /// What was taken over from there, such as `decimal ","`.
    pub taken: Vec<String>,
}

/// Reads a table that is written like another one, of format `own`, except in what the caller says. What the other one's format says and does
/// not apply to this kind of file is left out. Errors as [`read_table`].
pub fn read_table_like(bytes: &[u8], source: &str, given: &Given, own: &Format) -> Result<ReadLike> {
    let bytes = unpacked(Cow::Borrowed(bytes), source)?;
    check_bytes(&bytes).map_err(|what| Error::new(format!("{source}: {what}")))?;
    let (kind, read) = kind_of(&bytes, |kind| kind.read);
    check_options(kind, source, &given.format)?;
    let mut format = given.over(own);
    let mut notes = given.differences(own, kind.options);
    let learnt = OPTIONS.iter().filter(|option| !given.names.contains(&option.name));
    let (taken, unused): (Vec<&FormatOption>, _) = learnt.partition(|option| kind.options.contains(&option.name));
    for option in &unused {
        option.clear(&mut format);
    }
    if !given.names.contains(&"delimiter") && is_split_otherwise(&bytes, &format) {
        notes.push(format!("has no {} in its first line; its own delimiter is used", delimiter_text(&format)));
        format.delimiter = None;
    }
    let mut table = read(&bytes, source, &format);
    // A workbook of another month has its sheet under another name.
    if let (Err(_), Some(sheet), false) = (&table, &format.sheet, given.names.contains(&"sheet")) {
        let first = Format { sheet: None, ..format.clone() };
        if let Ok(read) = read(&bytes, source, &first) {
            notes.push(format!("has no sheet \"{sheet}\", from which the model learnt; its first sheet is read"));
            (table, format) = (Ok(read), first);
        }
    }
    let mut table = table?;
    if unused.iter().any(|option| option.name == "na") {
        table = table.with_missing(&own.missing);
    }
    let taken = taken.iter().filter(|option| option.is_set(&format)).map(|option| option.text(&format)).collect();
    let blocks = blocks::notes(&table);
    Ok(ReadLike { table: table.with_format(format.clone()).noting(blocks), format, notes, taken })
}

/// Whether the first line of a text lacks the delimiter of another one.
fn is_split_otherwise(bytes: &[u8], format: &Format) -> bool {
    let Some(delimiter) = &format.delimiter else { return false };
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has = |mark: u8| line.contains(&mark);
    !has(delimiter.as_bytes()[0]) && b",;\t|".iter().any(|mark| has(*mark))
}

/// The delimiter of a format for a message.
fn delimiter_text(format: &Format) -> String {
    match format.delimiter.as_deref() {
        Some("\t") => "tab".into(),
        mark => format!("\"{}\"", mark.unwrap_or_default()),
    }
}

/// Whether the bytes of a table are delimited text, whose cells can be copied.
pub fn is_text(bytes: &[u8]) -> bool {
    kind_of(bytes, |kind| kind.read).0.options.contains(&"delimiter")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::npy;
    use crate::files::text::Header;

    #[test]
    fn the_first_bytes_determine_the_kind() {
        let cases: &[(&[u8], &str)] = &[
            (b"PAR1....", "a: is not a complete Parquet file: its last bytes are not PAR1"),
            (b"\x80\x04.", "a: is a Python pickle, which could run code when read; save it as NPZ"),
            (b"\x1f\x8b\x08", "a: cannot be unpacked: unexpected end of file"),
            (b"\xff\xfea\0", "a: has no rows"),
            (b"\x93NUMPY", "a: is cut short in its header (6 bytes)"),
            (b"PK\x03\x04", "a: is not a complete ZIP archive: Could not find EOCD"),
            (b"", "a: is empty"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(read_table(bytes, "a", Header::Auto).unwrap_err().to_string(), *expected);
        }
        assert_eq!(read_table(b"a\n1\n", "a", Header::Auto).unwrap().rows(), 1);
        assert_eq!(read_table(b"{\"a\": 1}", "a", Header::Auto).unwrap().rows(), 1);
    }

    #[test]
    fn an_option_that_does_not_apply_is_an_error() {
        let error = |bytes: &[u8], format: Format| read_table(bytes, "a", format).unwrap_err().to_string();
        let tabbed = Format { delimiter: Some("\t".into()), ..Format::default() };
        let expected = "a: delimiter does not apply to JSON, only to delimited text (CSV)";
        assert_eq!(error(b"{\"a\": 1}", tabbed), expected);
        let sheet = Format { sheet: Some("x".into()), ..Format::default() };
        assert_eq!(
            error(b"a\n1\n", sheet),
            "a: sheet does not apply to delimited text (CSV), only to an Excel workbook"
        );
        assert_eq!(
            error(npy::MAGIC, Header::Yes.into()),
            "a: header does not apply to an array of numpy (NPY), only to an Excel workbook, JSON, delimited text (CSV)"
        );
    }
}
