//! Whether lines at the top of a text that begin with `#` are comments, or hold the names of the columns.

use super::delimiter::sniff_delimiter;
use super::format::Format;
use super::records::{Records, Rules};

/// What the lines with `#` at the top of a text are.
pub(super) enum Hash {
    /// There are none.
    None,
    /// So many comments; also in other places, unless rows begin with `#` too.
    Comments { lines: usize, is_everywhere: bool },
    /// So many comments, perhaps none, and a further line with `#` that holds the names.
    Names { lines: usize },
}

/// Judges the first lines of a text by the cells of the lines below.
pub(super) fn hash(records: &Records<'_>, delimiter: Option<u8>, format: &Format) -> Hash {
    let is_hash = |line: &[u8]| line.trim_ascii_start().starts_with(b"#");
    let mut lines = lines(records.rest());
    let mut below = None;
    let (mut count, mut last) = (0, &b""[..]);
    for line in lines.by_ref() {
        if !is_hash(line) {
            below = Some(line);
            break;
        }
        (count, last) = (count + 1, line);
    }
    let Some(below) = below.filter(|_| count > 0) else { return Hash::None };
    let is_spaced = match delimiter {
        None => !below.iter().any(|byte| b",;\t|".contains(byte)) && below.trim_ascii().contains(&b' '),
        Some(delimiter) => delimiter == b' ',
    };
    let delimiter = delimiter.unwrap_or_else(|| sniff_delimiter(below));
    let cells = |line: &[u8]| -> Option<Vec<bool>> {
        let mut cells = Vec::new();
        let rules = Rules { delimiter, is_spaced, ..records.rules() };
        Records::new(line, rules, "").next(&mut cells).ok()??;
        Some(cells.iter().map(|cell| format.is_number(cell)).collect())
    };
    let bare = last.trim_ascii_start().strip_prefix(b"#").unwrap_or(last);
    let (Some(names), Some(first)) = (cells(bare), cells(below)) else {
        return Hash::Comments { lines: count, is_everywhere: true };
    };
    let rows: Vec<Option<Vec<bool>>> = lines.clone().take(100).filter(|line| !is_hash(line)).map(cells).collect();
    let has_numbers = |row: &Option<Vec<bool>>| row.as_ref().is_some_and(|row| row.contains(&true));
    let is_header = !first.contains(&true) && rows.first().is_some_and(has_numbers);
    if names.len() == first.len() && !is_header {
        return Hash::Names { lines: count - 1 };
    }
    // A row may begin with a colour such as #ff0000.
    let is_row =
        |line: &[u8]| is_hash(line) && first.len() > 1 && cells(line).is_some_and(|cells| cells.len() == first.len());
    Hash::Comments { lines: count, is_everywhere: !lines.take(100).any(is_row) }
}

/// The lines of a text that are not empty.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    text.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.trim_ascii().is_empty())
}
