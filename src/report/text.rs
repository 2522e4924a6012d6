//! Text in the columns of a terminal.

/// Columns that a text takes: two for wide letters (East Asian, emoji), none for marks that combine with the letter before.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The ranges of Unicode's East Asian Width "W" and "F" that occur in names of columns and classes.
const WIDE: [(u32, u32); 10] = [
    (0x1100, 0x115f),
    (0x2e80, 0x303e),
    (0x3041, 0xa4cf),
    (0xac00, 0xd7a3),
    (0xf900, 0xfaff),
    (0xfe30, 0xfe6f),
    (0xff00, 0xff60),
    (0xffe0, 0xffe6),
    (0x1f300, 0x1faff),
    (0x20000, 0x3fffd),
];

/// Combining accents, zero-width spaces and joiners, variation selectors.
const NARROW: [(u32, u32); 3] = [(0x0300, 0x036f), (0x200b, 0x200f), (0xfe00, 0xfe0f)];

fn columns(letter: char) -> usize {
    let is_in = |ranges: &[(u32, u32)]| ranges.iter().any(|(from, to)| (*from..=*to).contains(&u32::from(letter)));
    if is_in(&NARROW) {
        return 0;
    }
    if is_in(&WIDE) { 2 } else { 1 }
}

/// The text with a space for each control character, so that a name from a file cannot steer the terminal or break a row.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// The text with spaces behind it, up to `columns`.
pub(super) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text with spaces before it, up to `columns`.
pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// At most `most` columns of the text; the last is an ellipsis if something was cut.
pub fn short(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = 0;
    for letter in text.chars() {
        taken += columns(letter);
        if taken + 1 > most {
            break;
        }
        out.push(letter);
    }
    out + "…"
}

/// One line per fact, indented: a name and its text, the texts aligned.
pub fn facts(lines: &[(&str, String)]) -> String {
    let names = lines.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let line = |(name, text): &(&str, String)| format!("  {}  {}", left(name, names), printable(text));
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_take_two_columns_and_accents_none() {
        assert_eq!([width("abc"), width("東京"), width("e\u{301}"), width("🙂"), width("⊥·⁻⣿")], [3, 4, 1, 2, 4]);
        assert_eq!([left("東", 4), right("東", 4)], ["東  ", "  東"]);
    }

    #[test]
    fn long_texts_end_in_an_ellipsis() {
        assert_eq!([short("abc", 3), short("abcd", 3), short("東京都", 4)], ["abc", "ab…", "東…"]);
    }

    #[test]
    fn facts_line_up_and_cannot_steer_the_terminal() {
        assert_eq!(facts(&[("a", "b".into()), ("long", "c\u{1b}[2J\n".into())]), "  a     b\n  long  c [2J ");
    }
}
