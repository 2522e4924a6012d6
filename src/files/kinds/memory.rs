//! Whether a table fits in memory, before it is read.

use crate::host::{gib, memory_bytes};

/// Bytes per cell of a table: its number, and its value when the row is encoded.
const BYTES_OF_CELL: u64 = 16;

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
    fn a_table_that_memory_cannot_hold_is_refused() {
        assert_eq!(has_memory(1, 1), Ok(()));
        let said = has_memory(u64::MAX / 32, 1).unwrap_err();
        assert!(said.starts_with("does not fit in memory: more than 576460752303423487 cells take 85899"), "{said}");
    }
}
