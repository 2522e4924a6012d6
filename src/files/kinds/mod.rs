//! Tables from every kind of file that the native program reads. `READERS` has one record per kind; the first bytes determine the kind,
//! never the name. Text and arrays are read by `io`. Nothing is allocated because a file says so: sizes are checked against its bytes and
//! against the memory before.

mod compressed;
mod excel;
mod grid;
mod iso;
mod json;
mod npz;
mod parquet;
pub mod ranges;
mod start;

use std::borrow::Cow;

pub use compressed::unpack;
pub use ranges::open_rows;
pub use start::check_bytes;

use super::text::{Format, Header};
use super::{Table, npy, read_plain};
use crate::error::{Error, Result};
use crate::host::Archive;

/// One kind of file.
struct Reader {
    /// What it is, with an article.
    kind: &'static str,
    /// Whether bytes are of this kind, if they are of none before.
    is: fn(&[u8]) -> bool,
    /// The options of [`Format`] that apply, by name.
    options: &'static [&'static str],
    read: fn(&[u8], &str, &Format) -> Result<Table>,
}

/// Every kind, the one that takes any bytes last.
static READERS: [Reader; 6] = [
    Reader { kind: "an array of numpy (NPY)", is: |bytes| bytes.starts_with(npy::MAGIC), options: &[], read: read_npy },
    Reader { kind: "an Excel workbook", is: is_workbook, options: &["header", "na", "sheet"], read: excel::read },
    Reader {
        kind: "an archive of arrays (NPZ)",
        is: |bytes| bytes.starts_with(npz::MAGIC),
        options: &[],
        read: npz::read,
    },
    Reader {
        kind: "a Parquet file",
        is: |bytes| bytes.starts_with(parquet::MAGIC),
        options: &["na"],
        read: parquet::read,
    },
    Reader { kind: "JSON", is: json::is_json, options: &["na"], read: json::read },
    Reader {
        kind: "delimited text (CSV)",
        is: |_| true,
        options: &["header", "delimiter", "decimal", "thousands", "na"],
        read: |bytes, source, format| read_plain(bytes, source, format),
    },
];

/// Reads a table from CSV, TSV, JSON lines, a list of JSON objects, NPY, NPZ, Parquet or an Excel workbook; text may be compressed with gzip or
/// Zstandard. `format` is a [`Format`], or only a [`Header`].
///
/// `source` is the user's name for the bytes; one ending in `.tsv` or `.tab` is tab separated. Errors if an option is set that does not apply.
pub fn read_table(bytes: &[u8], source: &str, format: impl Into<Format>) -> Result<Table> {
    let format = format.into();
    let bytes = compressed::unpacked(Cow::Borrowed(bytes), source)?;
    check_bytes(&bytes).map_err(|what| Error::new(format!("{source}: {what}")))?;
    let reader = reader_of(&bytes);
    check_options(reader.kind, reader.options, source, &format)?;
    (reader.read)(&bytes, source, &format)
}

/// Whether the bytes of a table are delimited text, whose cells can be copied.
pub fn is_text(bytes: &[u8]) -> bool {
    (reader_of(bytes).options).contains(&"delimiter")
}

fn reader_of(bytes: &[u8]) -> &'static Reader {
    READERS.iter().find(|reader| (reader.is)(bytes)).unwrap_or(&READERS[READERS.len() - 1])
}

/// Errors if `format` sets an option that is not among those of a kind of file.
fn check_options(kind: &str, options: &[&str], source: &str, format: &Format) -> Result<()> {
    let given = [
        ("header", format.header != Header::Auto),
        ("delimiter", format.delimiter.is_some()),
        ("decimal", format.decimal != "."),
        ("thousands", format.thousands.is_some()),
        ("na", !format.missing.is_empty()),
        ("sheet", format.sheet.is_some()),
    ];
    let unused = given.into_iter().find(|(name, is_given)| *is_given && !options.contains(name));
    let Some((name, _)) = unused else { return Ok(()) };
    let others = READERS.iter().filter(|other| other.options.contains(&name)).map(|other| other.kind);
    let others = others.collect::<Vec<_>>().join(", ");
    Err(Error::usage(format!("{source}: {name} does not apply to {kind}, only to {others}")))
}

fn read_npy(bytes: &[u8], source: &str, _format: &Format) -> Result<Table> {
    let array = npy::Array::parse(bytes, source)?;
    let fits = start::has_memory(array.numbers(), bytes.len() as u64);
    fits.map_err(|what| Error::new(format!("{source}: {what}")))?;
    npy::read(bytes, source)
}

/// Whether an archive has the part that names the sheets of a workbook.
fn is_workbook(bytes: &[u8]) -> bool {
    let names = |bytes| Archive::open(bytes, "")?.names();
    bytes.starts_with(npz::MAGIC) && names(bytes).is_ok_and(|names| names.iter().any(|name| name == excel::WORKBOOK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_determine_the_kind() {
        let cases: &[(&[u8], &str)] = &[
            (b"PAR1....", "a: is not a complete Parquet file: its last bytes are not PAR1"),
            (b"\x80\x04.", "a: is a Python pickle, which could run code when read; save it as NPZ"),
            (b"\x1f\x8b\x08", "a: cannot be unpacked: unexpected end of file"),
            (b"\xff\xfea\0", "a: is UTF-16 text; save it as UTF-8"),
            (b"\x93NUMPY", "a: is cut short in its header (6 bytes)"),
            (b"PK\x03\x04", "a: is not a complete ZIP archive: Could not find EOCD"),
            (b"", "a: is empty"),
        ];
        for (bytes, wanted) in cases {
            assert_eq!(read_table(bytes, "a", Header::Auto).unwrap_err().to_string(), *wanted);
        }
        assert_eq!(read_table(b"a\n1\n", "a", Header::Auto).unwrap().rows(), 1);
        assert_eq!(read_table(b"{\"a\": 1}", "a", Header::Auto).unwrap().rows(), 1);
    }

    #[test]
    fn an_option_that_does_not_apply_is_an_error() {
        let error = |bytes: &[u8], format: Format| read_table(bytes, "a", format).unwrap_err().to_string();
        let tabbed = Format { delimiter: Some("\t".into()), ..Format::default() };
        let wanted = "a: delimiter does not apply to JSON, only to delimited text (CSV)";
        assert_eq!(error(b"{\"a\": 1}", tabbed), wanted);
        let sheet = Format { sheet: Some("x".into()), ..Format::default() };
        assert_eq!(
            error(b"a\n1\n", sheet),
            "a: sheet does not apply to delimited text (CSV), only to an Excel workbook"
        );
        assert_eq!(
            error(npy::MAGIC, Header::Yes.into()),
            "a: header does not apply to an array of numpy (NPY), only to an Excel workbook, delimited text (CSV)"
        );
    }
}
