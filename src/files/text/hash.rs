//! Whether lines at the top of a text that begin with `#` are comments, or hold the names of the columns.

use super::delimiter::sniff_delimiter;
use super::format::{Format, SPACES};
use super::missing::trimmed;
use super::records::{Records, Rules};

/// What the lines with `#` at the top of a text are.
pub(super) enum Hash {
    /// There are none, or the only one holds the names, as it is written.
    None,
    /// So many comments; also in other places, unless rows begin with `#` too.
    Comments { lines: usize, is_everywhere: bool },
    /// So many comments, and a further line with `#` that holds the names.
    Names { lines: usize },
    /// The same, where the names are behind the `#` and blanks, as `numpy.savetxt` writes them.
    Header { lines: usize, is_everywhere: bool },
}

/// Judges the first lines of a text by the cells of the lines below.
pub(super) fn hash(records: &Records<'_>, given: Option<u8>, format: &Format) -> Hash {
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
    let delimiter = given.unwrap_or_else(|| sniff_delimiter(below));
    let rules = Rules { delimiter, is_spaced: format.delimiter.as_deref() == Some(SPACES), ..records.rules() };
    let cells = |line: &[u8]| split(line, rules, format);
    let (Some(names), Some(first)) = (cells(last), cells(below)) else {
        return Hash::Comments { lines: count, is_everywhere: true };
    };
    // A row may begin with a colour such as #ff0000.
    let is_row =
        |line: &[u8]| is_hash(line) && first.len() > 1 && cells(line).is_some_and(|cells| cells.len() == first.len());
    let is_everywhere = !lines.clone().take(100).any(is_row);
    let spaced = Rules { is_spaced: true, ..rules };
    if has_names(last, below, rules, format) || given.is_none() && has_names(last, below, spaced, format) {
        return Hash::Header { lines: count - 1, is_everywhere };
    }
    // With blanks between cells, the # is a cell too.
    let apart = split(below, spaced, format).filter(|cells| cells.len() > 1 && !cells.contains(&false));
    if let Some(apart) = apart.filter(|_| rules.is_spaced || first.len() == 1)
        && (is_marked(last) || split(last, spaced, format).is_none_or(|cells| cells.len() != apart.len()))
    {
        return Hash::Comments { lines: count, is_everywhere };
    }
    let rows: Vec<Option<Vec<bool>>> = lines.clone().take(100).filter(|line| !is_hash(line)).map(cells).collect();
    let has_numbers = |row: &Option<Vec<bool>>| row.as_ref().is_some_and(|row| row.contains(&true));
    let is_header = !first.contains(&true) && rows.first().is_some_and(has_numbers);
    if names.len() == first.len() && !is_header {
        return if count == 1 { Hash::None } else { Hash::Names { lines: count - 1 } };
    }
    Hash::Comments { lines: count, is_everywhere }
}

/// For each cell of a line whether it is a number.
fn split(line: &[u8], rules: Rules<'_>, format: &Format) -> Option<Vec<bool>> {
    let mut cells = Vec::new();
    Records::new(line, rules, "").next(&mut cells).ok()??;
    Some(cells.iter().map(|cell| format.is_number(cell)).collect())
}

/// Whether a line has a name behind `#` and blanks for each cell of the row below, which has numbers; only numbers, if blanks are between them.
fn has_names(line: &[u8], row: &[u8], rules: Rules<'_>, format: &Format) -> bool {
    let text = &line[mark(line)..];
    let (mut names, cells) = (Vec::new(), split(row, rules, format).unwrap_or_default());
    let is_row = if rules.is_spaced { !cells.contains(&false) } else { cells.contains(&true) };
    let is_read = matches!(Records::new(text, rules, "").next(&mut names), Ok(Some(_)));
    let is_name = |at: usize| {
        let name = trimmed(&names[at]);
        !name.is_empty() && !format.is_number(name) && names[..at].iter().all(|other| trimmed(other) != name)
    };
    is_marked(line) && is_row && is_read && names.len() == cells.len() && (0..names.len()).all(is_name)
}

/// Whether blanks are between `#` and a text.
fn is_marked(line: &[u8]) -> bool {
    mark(line) > 0 && line[mark(line) - 1] != b'#'
}

/// Bytes before the text of a comment: blanks, `#`, and blanks again.
pub(super) fn mark(line: &[u8]) -> usize {
    let is_before = |byte: &u8| matches!(byte, b'#' | b' ' | b'\t');
    line.iter().position(|byte| !is_before(byte)).unwrap_or(line.len())
}

/// The lines of a text that are not empty.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    text.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.trim_ascii().is_empty())
}
