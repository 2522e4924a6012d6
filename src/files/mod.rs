//! Reads and writes tables and named tensors; anything that cannot be read is an error.
//!
//! [`read_plain`] reads a [`Table`] from CSV, TSV or NPY bytes, `read_table` natively from every kind of file; [`tensors`] is the format of model
//! files. Messages name the file, row (from 1, header excluded) and column; a leaf prepends its command.

pub(crate) mod cells;
mod column;
#[cfg(not(target_arch = "wasm32"))]
mod kinds;
pub(crate) mod moment;
pub(crate) mod names;
pub mod npy;
mod rows;
mod subset;
mod table;
pub mod tensors;
pub(crate) mod text;

pub use cells::{Cells, MISSING_CODE, number_text};
pub use column::Column;
#[cfg(not(target_arch = "wasm32"))]
pub use kinds::{Given, ReadLike, TableBytes, check_bytes, is_read_by_ranges_only, is_text, open_rows, ranges, unpack};
#[cfg(not(target_arch = "wasm32"))]
pub use kinds::{read_files, read_files_like, read_table, read_table_like, read_texts};
pub use moment::DateOrder;
pub use rows::RowSource;
pub use table::Table;
pub use text::{BadRows, Clock, ENCODINGS, Format, Header, Layout, Notation, Percent, Warning, csv, encoding_by_name};

use crate::error::{Error, Result};

/// Common kinds of file that are not supported here, by their first bytes: what each is and what to do.
pub const FOREIGN: [(&[u8], &str); 7] = [
    (b"PK\x03\x04", "is an archive (NPZ or a spreadsheet), which is not read here; save it as CSV or NPY"),
    (b"PAR1", "is a Parquet file; save it as CSV or NPZ"),
    (b"\x80", "is a Python pickle, which could run code when read; save it as NPZ"),
    (b"\x1f\x8b", "is gzip-compressed; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is zstd-compressed; unpack it first"),
    (b"\x89HDF", "is an HDF5 file; save it as CSV or NPZ"),
    (b"ARROW1", "is an Arrow file; save it as CSV or NPZ"),
];

/// Reads a table from delimited text or an array of numpy, whichever its first bytes show. For text, `format` is used: a [`Format`], or only a
/// [`Header`]. Natively, `read_table` also reads other kinds of files.
///
/// `source` is the user's name for the bytes; one ending in `.tsv` or `.tab` is tab separated.
pub fn read_plain(bytes: &[u8], source: &str, format: impl Into<Format>) -> Result<Table> {
    let format = format.into();
    let table = match FOREIGN.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        Some((_, what)) => Err(Error::new(format!("{source}: {what}"))),
        None if bytes.starts_with(npy::MAGIC) => npy::read(bytes, source),
        None if text::begins_json(bytes) => {
            let what = "is JSON, not delimited text; give its parsed value (in JavaScript, that of JSON.parse), or save it as CSV";
            Err(Error::new(format!("{source}: {what}")))
        }
        None => csv::read(bytes, source, &format),
    };
    Ok(table?.with_format(format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_determine_the_kind() {
        let cases: &[(&[u8], &str)] = &[
            (b"PAR1....", "a: is a Parquet file; save it as CSV or NPZ"),
            (b"\x80\x04.", "a: is a Python pickle, which could run code when read; save it as NPZ"),
            (b"\x1f\x8b\x08", "a: is gzip-compressed; unpack it first"),
            (
                b"[{\"a\": 1}]",
                "a: is JSON, not delimited text; give its parsed value (in JavaScript, that of JSON.parse), or save it as CSV",
            ),
            (b"\x93NUMPY", "a: is cut short in its header (6 bytes)"),
            (b"PK\x03\x04", "a: is an archive (NPZ or a spreadsheet), which is not read here; save it as CSV or NPY"),
            (b"", "a: is empty"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(read_plain(bytes, "a", Header::Auto).unwrap_err().to_string(), *expected);
        }
        assert_eq!(read_plain(b"a\n1\n", "a", Header::Auto).unwrap().rows(), 1);
        assert_eq!(read_plain(b"\xff\xfea\0\n\x001\0", "a", Header::Auto).unwrap().rows(), 1);
    }
}
