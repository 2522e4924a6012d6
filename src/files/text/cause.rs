//! Why rows have another number of cells than the names, in words, and which of these tables are read all the same.

use super::format::Format;
use super::sample::{Record, Sample};

/// What is said of blanks between cells, among which an empty cell cannot be seen.
pub(super) const SPACED: &str = "cells that are apart by spaces cannot be distinguished where one is empty";

/// Why rows have another number of cells than the names, if the first has, or all have the same.
pub(super) fn cause(sample: &Sample<'_>, first: usize, width: usize, has_names: bool) -> String {
    let Some(row) = sample.records.get(first) else { return String::new() };
    let got = row.cells.len();
    let (line, common) = (sample.records[first.saturating_sub(1)].line, sample.width());
    if has_names && width > 1 && got > width {
        if has_decimal_commas(&sample.records[first..], width) {
            return "are the numbers written with decimal commas? they look the same as commas between cells: save the file with ; between cells, or with decimal points".into();
        }
        if let Some(said) = single_quotes(row) {
            return said.into();
        }
    }
    if got == width + 1 && common == got && has_names && width > 1 {
        return "every row has a cell more than the line of names: has the first column no name? skip 1 and no header name the columns c0, c1, …"
            .into();
    }
    if width >= common {
        return String::new();
    }
    let at = sample.records.iter().position(|record| record.cells.len() == common).unwrap_or(0);
    let lines = sample.records[at].line - 1;
    let cells = if width == 1 { "1 cell".to_owned() } else { format!("{width} cells") };
    format!(
        "line {line} has {cells}, most lines have {common}: is it a title above the table? skip {lines} leaves out the lines before line {}",
        lines + 1
    )
}

/// What is said of a row whose cells are in single quotes.
fn single_quotes(row: &Record<'_>) -> Option<&'static str> {
    let opens = row.cells.iter().any(|cell| cell.starts_with('\'') && !cell[1..].ends_with('\''));
    let closes = row.cells.iter().any(|cell| cell.ends_with('\'') && !cell.starts_with('\''));
    (opens && closes)
        .then_some("cells are in single quotes, within which a delimiter counts: put them in double quotes")
}

/// Whether rows have more cells than names because commas are decimal marks: all their cells are whole numbers, at most two for each name.
fn has_decimal_commas(rows: &[Record<'_>], width: usize) -> bool {
    let is_whole = |cell: &String| {
        let digits = cell.trim_start_matches('-');
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_like = |row: &Record<'_>| {
        (width..=2 * width).contains(&row.cells.len()) && row.cells.iter().all(is_whole) && is_bare(row)
    };
    rows.iter().all(is_like) && rows.first().is_some_and(|row| row.records.delimiter() == b',')
}

/// Whether a row begins without a quote.
fn is_bare(row: &Record<'_>) -> bool {
    row.records.rest().first() != Some(&b'"')
}

/// Whether the first column has no name, as R writes names of rows: every row has a cell more than the line of names, and the first cells are
/// texts that differ, or count from 1.
pub(super) fn has_row_names(rows: &[Record<'_>], width: usize, format: &Format) -> bool {
    if rows.len() < 2
        || width == 0
        || rows.iter().any(|row| row.cells.len() != width + 1)
        || has_decimal_commas(rows, width)
    {
        return false;
    }
    let first: Vec<&str> = rows.iter().map(|row| row.cells[0].as_str()).collect();
    let mut sorted = first.clone();
    sorted.sort_unstable();
    let differ = sorted.windows(2).all(|pair| pair[0] != pair[1]);
    let counts = first.iter().enumerate().all(|(at, cell)| *cell == (at + 1).to_string());
    let are_texts = first.iter().all(|cell| !cell.is_empty() && !format.is_number(cell.as_bytes()));
    counts || differ && are_texts
}
