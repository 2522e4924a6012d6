//! The words that people and programs write for a missing cell.

/// Means a missing cell in every column, whatever else is in it. `NA` is not among them: in a column of texts it can be a word, such as the
/// code of Namibia.
const ALWAYS: [&str; 4] = ["n/a", "nan", "null", "?"];

/// Means a missing cell among numbers and dates; in a column of texts it is a text like others. In lower case.
const AMONG_NUMBERS: &[&str] = &[
    "-",
    "--",
    "---",
    "—",
    "–",
    ".",
    "..",
    "...",
    "…",
    "*",
    "**",
    "***",
    "x",
    "_",
    "none",
    "nil",
    "missing",
    "unknown",
    "unk",
    "unspecified",
    "undefined",
    "not available",
    "not applicable",
    "not known",
    "not reported",
    "not recorded",
    "not measured",
    "no data",
    "nodata",
    "no value",
    "n.a.",
    "n.a",
    "n/d",
    "n.d.",
    "nd",
    "n/k",
    "n/r",
    "na.",
    "#na",
    "#n/a",
    "#n/a n/a",
    "<na>",
    "<nan>",
    "<null>",
    "<none>",
    "<missing>",
    "(na)",
    "(null)",
    "(none)",
    "(blank)",
    "(empty)",
    "(missing)",
    "[null]",
    "blank",
    "empty",
    "void",
    "nat",
    "\\n",
    "tbd",
    "tba",
    "tbc",
    "-nan",
    "1.#nan",
    "1.#qnan",
    "-1.#qnan",
    "1.#snan",
    "1.#ind",
    "-1.#ind",
    "nan(ind)",
    "-nan(ind)",
    "k.a.",
    "k. a.",
    "#nv",
    "#n/d",
    "s/d",
];

/// Whether a cell means a missing one in every column.
#[inline]
pub(crate) fn is_always(cell: &[u8]) -> bool {
    match cell {
        [] => true,
        [b'n' | b'N' | b'?', ..] => ALWAYS.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes())),
        _ => false,
    }
}

/// Whether a text is `NA`, which means a missing cell unless its column holds texts.
#[inline]
pub(crate) fn is_na(cell: &[u8]) -> bool {
    matches!(cell, [b'n' | b'N', b'a' | b'A'])
}

/// Whether a text means a missing cell among numbers.
pub(crate) fn is_among_numbers(text: &str) -> bool {
    AMONG_NUMBERS.iter().any(|word| text.eq_ignore_ascii_case(word)) || is_error_of_a_sheet(text)
}

/// Whether a text means a missing cell wherever cells are numbers or dates.
pub(crate) fn is_word(text: &str) -> bool {
    is_always(text.as_bytes()) || is_na(text.as_bytes()) || is_among_numbers(text)
}

/// What a spreadsheet shows where a formula has no value, in any language: `#DIV/0!`, `#NAME?`, `#¡VALOR!`.
fn is_error_of_a_sheet(text: &str) -> bool {
    let is_part = |c: char| c.is_uppercase() || matches!(c, '/' | '0' | '¡' | '¿' | '_');
    let name = text.strip_prefix('#').and_then(|rest| rest.strip_suffix(['!', '?']));
    name.is_some_and(|name| name.chars().count() > 1 && name.chars().all(is_part))
}

/// A cell without the spaces around it, also those of web pages and typesetting (U+00A0, U+202F, U+2009).
#[inline]
pub(crate) fn trimmed(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    match (cell.first(), cell.last()) {
        (Some(first), Some(last)) if !first.is_ascii() || !last.is_ascii() => {
            std::str::from_utf8(cell).map_or(cell, |text| trimmed_text(text).as_bytes())
        }
        _ => cell,
    }
}

/// A text without spaces and marks of no width around it.
pub(crate) fn trimmed_text(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_missing_cells() {
        // What pandas, SQL, Excel, R, SAS and C write, and people.
        let words = [
            "\\N",
            "#N/A N/A",
            "-1.#IND",
            "1.#QNAN",
            "<NA>",
            "NaT",
            "(null)",
            "(blank)",
            "#NULL!",
            "#NAME?",
            "#NUM!",
            "#DIV/0!",
            "#VALUE!",
            "#REF!",
            "ND",
            "n/d",
            "unknown",
            "not available",
            "TBD",
            "*",
            "x",
            "#WERT!",
            "#¡DIV/0!",
            "NA",
            "-",
            "null",
        ];
        for word in words {
            assert!(is_word(word), "{word}");
        }
        for word in ["0", "no", "#1!", "#", "#a!", "#!", "#TAG", "xx", "north", "NAB"] {
            assert!(!is_word(word), "{word}");
        }
        assert!(is_always(b"N/A") && !is_always(b"NA") && is_na(b"na") && !is_na(b"nan"));
    }

    #[test]
    fn spaces_of_web_pages_are_trimmed() {
        for (text, expected) in
            [("1.5\u{a0}", "1.5"), ("\u{202f}red\u{2009} ", "red"), ("\u{200b}é", "é"), ("a\u{a0}b", "a\u{a0}b")]
        {
            assert_eq!(trimmed(text.as_bytes()), expected.as_bytes());
        }
        assert_eq!(trimmed(b" \xff "), b"\xff");
    }
}
