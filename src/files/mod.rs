//! Reads and writes tables and named tensors; anything that cannot be read is an error.
//!
//! [`read_plain`] reads a [`Table`] from CSV, TSV or NPY bytes, `read_table` natively from every kind of file; [`tensors`] is the format of model
//! files. Messages name the file, row (from 1, header excluded) and column; a leaf prepends its command.

pub(crate) mod cells;
mod column;
#[cfg(not(target_arch = "wasm32"))]
mod kinds;
pub(crate) mod moment;
pub mod npy;
mod rows;
mod subset;
mod table;
pub mod tensors;
pub(crate) mod text;

pub use cells::{Cells, MISSING_CODE, number_text};
pub use column::Column;
#[cfg(not(target_arch = "wasm32"))]
pub use kinds::{check_bytes, is_read_by_ranges_only, is_text, open_rows, ranges, read_table, unpack};
pub use moment::DateOrder;
pub use rows::RowSource;
pub use table::Table;
pub use text::{Format, Header, Warning, csv};

use crate::error::{Error, Result};

/// Common kinds of file that are not supported here, by their first bytes: what each is and what to do.
pub const FOREIGN: [(&[u8], &str); 9] = [
    (b"PK\x03\x04", "is an archive (NPZ or a spreadsheet), which is not read here; save it as CSV or NPY"),
    (b"PAR1", "is a Parquet file; save it as CSV or NPZ"),
    (b"\x80", "is a Python pickle, which could run code when read; save it as NPZ"),
    (b"\x1f\x8b", "is gzip-compressed; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is zstd-compressed; unpack it first"),
    (b"\x89HDF", "is an HDF5 file; save it as CSV or NPZ"),
    (b"ARROW1", "is an Arrow file; save it as CSV or NPZ"),
    (b"\xff\xfe", "is UTF-16 text; save it as UTF-8"),
    (b"\xfe\xff", "is UTF-16 text; save it as UTF-8"),
];

/// Reads a table from delimited text or an array of numpy, whichever its first bytes show. For text, `format` is used: a [`Format`], or only a
/// [`Header`]. Natively, `read_table` also reads other kinds of files.
///
/// `source` is the user's name for the bytes; one ending in `.tsv` or `.tab` is tab separated.
pub fn read_plain(bytes: &[u8], source: &str, format: impl Into<Format>) -> Result<Table> {
    match FOREIGN.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        Some((_, what)) => Err(Error::new(format!("{source}: {what}"))),
        None if bytes.starts_with(npy::MAGIC) => npy::read(bytes, source),
        None => csv::read(bytes, source, format),
    }
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
            (b"\xff\xfea\0", "a: is UTF-16 text; save it as UTF-8"),
            (b"\x93NUMPY", "a: is cut short in its header (6 bytes)"),
            (b"PK\x03\x04", "a: is an archive (NPZ or a spreadsheet), which is not read here; save it as CSV or NPY"),
            (b"", "a: is empty"),
        ];
        for (bytes, wanted) in cases {
            assert_eq!(read_plain(bytes, "a", Header::Auto).unwrap_err().to_string(), *wanted);
        }
        assert_eq!(read_plain(b"a\n1\n", "a", Header::Auto).unwrap().rows(), 1);
    }
}
