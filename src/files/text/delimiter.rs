//! Finds the character between cells.

use super::format::Format;
use super::records::{RawCell, Records, Rules};

/// The delimiter of a text: of comma, semicolon, tab and bar the one most frequent in the first record, comma if there is none. If another one
/// occurs, and every comma is between digits with at most one per cell, the commas belong to numbers.
pub(super) fn sniff_delimiter(bytes: &[u8]) -> u8 {
    let start = bytes.iter().position(|b| !matches!(b, b' ' | b'\r' | b'\n')).unwrap_or(0);
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)];
    let (mut is_quoted, mut inside) = (false, 0);
    for (at, &byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted => break,
            _ if is_quoted => {}
            b',' if is_between_digits(bytes, at) => (counts[0].1, inside) = (counts[0].1 + 1, inside + 1),
            _ => counts.iter_mut().filter(|(d, _)| *d == byte).for_each(|(_, count)| *count += 1),
        }
    }
    let others = counts[1].1 + counts[2].1 + counts[3].1;
    if others > 0 && counts[0].1 == inside && inside <= others + 1 {
        counts[0].1 = 0;
    }
    let mut best = counts[0];
    for candidate in counts {
        if candidate.1 > best.1 {
            best = candidate;
        }
    }
    best.0
}

fn is_between_digits(bytes: &[u8], at: usize) -> bool {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    is_digit(at.wrapping_sub(1)) && is_digit(at + 1)
}

/// Records that are looked at to tell whether blanks are between cells.
const SAMPLE: usize = 200;

/// Whether the cells of a text are apart by blanks: every record has as many of them, at least two, and below the first one some column holds
/// only numbers. A column of names of people has blanks too, but no such column.
pub(super) fn is_spaced(records: &Records<'_>, format: &Format) -> bool {
    let mut records = records.ruled(Rules { delimiter: b' ', is_spaced: true, ..records.rules() });
    let (mut width, mut numbers, mut cells) = (0, Vec::new(), Vec::<RawCell<'_>>::new());
    for row in 0..SAMPLE {
        match records.next(&mut cells) {
            Ok(Some(_)) => {}
            Ok(None) => return row > 2 && numbers.contains(&true),
            Err(_) => return false,
        }
        // Names of rows have no name, as R writes them.
        if row == 0 || row == 1 && width > 1 && cells.len() == width + 1 {
            (width, numbers) = (cells.len(), vec![true; cells.len()]);
        }
        if row > 0 {
            numbers.iter_mut().zip(&cells).for_each(|(is_number, cell)| *is_number &= format.is_number(cell));
        }
        if cells.len() != width || width < 2 {
            return false;
        }
    }
    numbers.contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters() {
        let cases = [
            ("a,b,c\n", b','),
            ("a;b;c\n1,5;2,5;3,5\n", b';'),
            ("a\tb\n", b'\t'),
            ("\"a;b;c\",d\n", b','),
            ("single\n1;2;3\n", b','),
            ("1,5;2,5;3,5\n", b';'),
            ("1,5\t2,5\n", b'\t'),
            ("1,5\n2,5\n", b','),
            ("1,2,3,a;b\n", b','),
            ("1,2,3,4;5\n", b','),
            ("\n\na;b\n", b';'),
            ("a|b|c\n", b'|'),
            ("a|b,c,d\n", b','),
            ("1,5|2,5\n", b'|'),
            ("", b','),
        ];
        for (text, expected) in cases {
            assert_eq!(sniff_delimiter(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn blanks_are_between_cells_where_a_column_holds_numbers() {
        let cases = [
            ("x   y\n1   2\n 3  4\n", true),
            ("x y\n1 a\n2 b\n", true),
            ("1 2\n3 4\n5 6\n", true),
            ("full name\nAnna Smith\nBob Jones\n", false),
            ("x y\n1 2 3\n4 5\n", false),
            ("when\n2024-03-01 12:30\n2024-03-02 12:30\n", false),
            ("x y\n1 2\n", false),
            ("x y\n1 2 3\n2 4 5\n", true),
            ("\"x\" \"y\"\n\"1\" 2 3\n\"2\" 4 5\n", true),
            ("city\nBern 12\nBasel 13\n", false),
            ("x\n1\n2\n", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_spaced(&Records::new(text.as_bytes(), b',', "a"), &Format::default()), expected, "{text:?}");
        }
    }
}
