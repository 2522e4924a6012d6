//! Judges bytes before they are parsed: what kind of file they begin, and whether their table fits in memory. For files of the native program.

use super::{FOREIGN, npy, npz};
use crate::host::{gib, memory_bytes};

/// Kinds of file that only a command gets: what each is and what to do.
const OTHERS: [(&[u8], &str); 3] = [
    (b"\xd0\xcf\x11\xe0", "is an Excel workbook (.xls); save it as CSV"),
    (b"SQLite format 3\0", "is an SQLite database; export the table as CSV"),
    (b"%PDF", "is a PDF; tables are read from CSV, TSV, NPY and NPZ"),
];

/// The bytes that are judged by their kind.
const START_BYTES: usize = 64 << 10;

/// Errors if a file that begins with `bytes` cannot be a table, or not one that fits in memory.
pub fn check_bytes(bytes: &[u8]) -> Result<(), String> {
    check_kind(&bytes[..bytes.len().min(START_BYTES)])?;
    check_memory(bytes)
}

fn check_kind(bytes: &[u8]) -> Result<(), String> {
    if let Some((_, what)) = FOREIGN.iter().chain(&OTHERS).find(|(magic, _)| bytes.starts_with(magic)) {
        return Err((*what).to_owned());
    }
    if bytes.starts_with(npz::MAGIC) || bytes.starts_with(npy::MAGIC) {
        return Ok(());
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(format!("is not text: byte {at} is 0; tables are read from CSV, TSV, NPY and NPZ"));
    }
    match json_kind(bytes) {
        Some(kind) => Err(format!("is {kind}; save it as CSV or NPZ")),
        None => Ok(()),
    }
}

/// JSON if it begins with an object or a list of them. No header of a table begins like that.
fn json_kind(bytes: &[u8]) -> Option<&'static str> {
    let after =
        |bytes: &[u8], open: &[u8]| Some(bytes.trim_ascii_start().strip_prefix(open)?.trim_ascii_start().to_vec());
    let is_object =
        |bytes: &[u8]| after(bytes, b"{").is_some_and(|rest| rest.starts_with(b"\"") || rest.starts_with(b"}"));
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    let first = lines.first()?.trim_ascii();
    if is_object(bytes) {
        // One object on each line.
        let is_lines = first.ends_with(b"}") && lines.get(1).is_none_or(|line| is_object(line));
        return Some(if is_lines { "JSON lines" } else { "JSON" });
    }
    after(bytes, b"[").is_some_and(|rest| is_object(&rest) || after(&rest, b"[").is_some()).then_some("JSON")
}

/// Bytes per cell of a text table: its number, and its value when the row is encoded.
const BYTES_OF_CELL: u64 = 16;

/// Errors if the columns of a text table need more memory than there is. Counts its separators, which are at least as many as its
/// cells.
pub(super) fn check_memory(bytes: &[u8]) -> Result<(), String> {
    if bytes.starts_with(npz::MAGIC) || bytes.starts_with(npy::MAGIC) {
        return Ok(());
    }
    let is_end = |byte: &u8| matches!(byte, b'\n' | b',' | b';' | b'\t');
    has_memory(bytes.iter().filter(|byte| is_end(byte)).count() as u64, bytes.len() as u64)
}

/// Errors if `cells` and `bytes` of a file do not fit in memory together.
pub(super) fn has_memory(cells: u64, bytes: u64) -> Result<(), String> {
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
            (b"a,b\n1,\0\n", "is not text: byte 6 is 0; tables are read from CSV, TSV, NPY and NPZ"),
            (b"{\"a\": 1}\n{\"a\": 2}\n", "is JSON lines; save it as CSV or NPZ"),
            (b"{\"a\": 1}", "is JSON lines; save it as CSV or NPZ"),
            (b"{\n  \"a\": [1, 2]\n}\n", "is JSON; save it as CSV or NPZ"),
            (b"[{\"a\": 1}, {\"a\": 2}]", "is JSON; save it as CSV or NPZ"),
            (b"[\n [1, 2],\n [3, 4]]", "is JSON; save it as CSV or NPZ"),
            (b"\xd0\xcf\x11\xe0....", "is an Excel workbook (.xls); save it as CSV"),
            (b"PAR1", "is a Parquet file; save it as CSV or NPZ"),
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
