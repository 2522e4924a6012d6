//! Words in the text of a formula, and the arguments of a call.

use crate::program::parse::is_letter;

/// The next word from a place on: letters, digits and _, starting with a letter.
pub(crate) fn word(text: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let mut before = None;
    for (at, c) in text[from..].char_indices() {
        // Digits before a letter are a number such as 1e5.
        if is_letter(c) && !before.is_some_and(|c: char| c.is_ascii_digit() || c == '.') {
            let start = from + at;
            let length = text[start..].find(|c: char| !(is_letter(c) || c.is_ascii_digit()));
            return Some(start..start + length.unwrap_or(text.len() - start));
        }
        before = Some(c);
    }
    None
}

/// The arguments up to the closing parenthesis, and the length of all that; `None` if there is no such parenthesis.
pub(crate) fn arguments(text: &str) -> Option<(Vec<&str>, usize)> {
    let (mut depth, mut start, mut all) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => {
                all.push(text[start..at].trim());
                return Some((all, at + 1));
            }
            ')' => depth -= 1,
            ',' if depth == 0 => {
                all.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}
