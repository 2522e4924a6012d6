//! Whether a table fits in memory, before it is read.

use crate::host::has_room;

/// Bytes per cell of a table: its number, and its text or its value when the row is encoded.
const BYTES_OF_CELL: u64 = 16;

/// Errors if `cells`, and `bytes` of texts besides, do not fit in memory. What is in memory already, such as the bytes of the file, is not to be counted.
pub(crate) fn has_memory(cells: u64, bytes: u64) -> Result<(), String> {
    let needed = cells.saturating_mul(BYTES_OF_CELL).saturating_add(bytes);
    has_room(needed, || format!("more than {cells} cells")).map_err(|what| format!("{what}; use fewer rows or columns"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_memory_cannot_hold_is_refused() {
        assert_eq!(has_memory(1, 1), Ok(()));
        let said = has_memory(u64::MAX / 32, 1).unwrap_err();
        assert!(said.starts_with("does not fit in memory: more than 576460752303423487 cells take 85899"), "{said}");
    }
}
