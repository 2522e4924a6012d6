//! Judges bytes before they are parsed: what kind of file they begin, and whether their table fits in memory. For files of the native program.

use super::{compressed, npz, parquet};
use crate::files::{FOREIGN, npy};
use crate::host::{gib, memory_bytes};

/// Kinds of file that are not read, besides those of `io`: what each is and what to do.
const OTHERS: [(&[u8], &str); 3] = [
    (b"\xd0\xcf\x11\xe0", "is an Excel workbook (.xls); save it as .xlsx or CSV"),
    (b"SQLite format 3\0", "is an SQLite database; export the table as CSV"),
    (b"%PDF", "is a PDF; tables are read from CSV, JSON lines, Parquet, XLSX, NPY and NPZ"),
];

/// The bytes that are judged by their kind.
const START_BYTES: usize = 64 << 10;

/// Errors if a file that begins with `bytes` cannot be a table, or not one that fits in memory.
pub fn check_bytes(bytes: &[u8]) -> Result<(), String> {
    check_kind(&bytes[..bytes.len().min(START_BYTES)])?;
    check_memory(bytes)
}

/// First bytes of the kinds that are read and are not text.
const BINARY: [&[u8]; 5] = [npz::MAGIC, npy::MAGIC, parquet::MAGIC, compressed::GZIP, compressed::ZSTD];

fn is_binary(bytes: &[u8]) -> bool {
    BINARY.iter().any(|magic| bytes.starts_with(magic))
}

fn check_kind(bytes: &[u8]) -> Result<(), String> {
    if is_binary(bytes) {
        return Ok(());
    }
    if let Some((_, what)) = FOREIGN.iter().chain(&OTHERS).find(|(magic, _)| bytes.starts_with(magic)) {
        return Err((*what).to_owned());
    }
    match bytes.iter().position(|byte| *byte == 0) {
        Some(at) => Err(format!(
            "is not text: byte {at} is 0; tables are read from CSV, JSON lines, Parquet, XLSX, NPY and NPZ"
        )),
        None => Ok(()),
    }
}

/// Bytes per cell of a text table: its number, and its value when the row is encoded.
const BYTES_OF_CELL: u64 = 16;

/// Errors if the columns of a text table need more memory than there is. Counts its separators, which are at least as many as its
/// cells.
pub(crate) fn check_memory(bytes: &[u8]) -> Result<(), String> {
    if is_binary(bytes) {
        return Ok(());
    }
    let is_end = |byte: &u8| matches!(byte, b'\n' | b',' | b';' | b'\t');
    has_memory(bytes.iter().filter(|byte| is_end(byte)).count() as u64, bytes.len() as u64)
}

/// Errors if `cells` and `bytes` of a file do not fit in memory together.
pub(crate) fn has_memory(cells: u64, bytes: u64) -> Result<(), String> {
    let needed = cells.saturating_mul(BYTES_OF_CELL).saturating_add(bytes);
    let most = memory_bytes();
    if needed <= most {
        return Ok(());
    }
    let [needed, most] = [needed, most].map(gib);
    Err(format!(
        "does not fit in memory: more than {cells} cells take {needed}, this process may use {most}; use fewer rows or columns"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_files_are_named() {
        let cases: &[(&[u8], &str)] = &[
            (b"a,b\n1,2\n", ""),
            (b"", ""),
            (b"{a},b\n1,2\n", ""),
            (b"[1],[2]\n", ""),
            (b"\x93NUMPY\0", ""),
            (b"PK\x03\x04\0", ""),
            (
                b"a,b\n1,\0\n",
                "is not text: byte 6 is 0; tables are read from CSV, JSON lines, Parquet, XLSX, NPY and NPZ",
            ),
            (b"{\"a\": 1}\n{\"a\": 2}\n", ""),
            (b"PAR1\0", ""),
            (b"\x1f\x8b\0", ""),
            (b"\xd0\xcf\x11\xe0....", "is an Excel workbook (.xls); save it as .xlsx or CSV"),
            (b"\x89HDF", "is an HDF5 file; save it as CSV or NPZ"),
        ];
        for (bytes, wanted) in cases {
            let said = check_kind(bytes).err().unwrap_or_default();
            assert_eq!(said, *wanted, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_table_that_memory_cannot_hold_is_refused() {
        assert_eq!(check_bytes(b"a,b\n1,2\n"), Ok(()));
        let said = has_memory(u64::MAX / 32, 1).unwrap_err();
        assert!(said.starts_with("does not fit in memory: more than 576460752303423487 cells take 85899"), "{said}");
    }
}
