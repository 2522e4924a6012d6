//! Judges bytes before they are parsed: what kind of file they begin, and whether their table fits in memory.

use super::KINDS;
use super::compressed::is_compressed;
use super::foreign::foreign;
use super::kind::{Kind, START_BYTES};
use super::memory::has_memory;
use crate::files::FOREIGN;
use crate::files::text::encoding::{has_wide_mark, unmarked, why_no_text};

/// Errors if a file that begins with `bytes` cannot be a table, or not one that fits in memory.
pub fn check_bytes(bytes: &[u8]) -> Result<(), String> {
    check_kind(&bytes[..bytes.len().min(START_BYTES)])?;
    check_memory(bytes)
}

fn check_kind(bytes: &[u8]) -> Result<(), String> {
    if is_binary(bytes) {
        return Ok(());
    }
    if let Some(what) = foreign(bytes) {
        return Err(what);
    }
    if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err((*what).to_owned());
    }
    // Text in pairs of bytes has zeros; what they mean is known once the encoding is.
    if has_wide_mark(bytes) || unmarked(bytes).is_some() {
        return Ok(());
    }
    why_no_text(bytes).map_or(Ok(()), Err)
}

/// Errors if the columns of a text table need more memory than there is. Counts its delimiters and line ends, which are at least as many as its
/// cells.
fn check_memory(bytes: &[u8]) -> Result<(), String> {
    if is_binary(bytes) {
        return Ok(());
    }
    let count = |byte: u8| bytes.iter().map(|b| u64::from(*b == byte)).sum::<u64>();
    // One of them is between cells; the others are within.
    let most = [b',', b';', b'\t', b'|'].into_iter().map(count).max().unwrap_or(0);
    let most = if most == 0 { count(b' ') } else { most };
    has_memory(most + count(b'\n'), 0)
}

/// Whether bytes are of a kind that is read and is not text.
fn is_binary(bytes: &[u8]) -> bool {
    let begins = |kind: &Kind| kind.read.is_some() && !kind.magic.is_empty() && bytes.starts_with(kind.magic);
    is_compressed(bytes) || KINDS.iter().any(|kind| begins(kind))
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
                b"a,b\n1,\0\x01\n",
                "is not text: byte 6 is 0; tables are read from CSV, JSON lines, Parquet, XLSX, NPY and NPZ",
            ),
            (b"{\"a\": 1}\n{\"a\": 2}\n", ""),
            (b"PAR1\0", ""),
            (b"\x1f\x8b\0", ""),
            (b"a,b\n1,2\n\0\0\0\0", ""),
            (b"ARROW1\0\0", "is an Arrow file (Feather); save it as Parquet or CSV"),
            (b"\xd0\xcf\x11\xe0....", "is an Excel workbook (.xls); save it as .xlsx or CSV"),
            (b"\x89HDF", "is an HDF5 file; save it as CSV or NPZ"),
        ];
        for (bytes, expected) in cases {
            let said = check_kind(bytes).err().unwrap_or_default();
            assert_eq!(said, *expected, "{}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(check_bytes(b"a,b\n1,2\n"), Ok(()));
    }
}
