//! Text from files and arguments (names of files, columns and classes) may hold control characters, which a terminal would obey. Everything that is
//! printed passes through here.

/// `text` with control characters written as `\u{1b}`. Line ends and tabs stay.
pub(crate) fn printable(text: &str) -> String {
    replaced(text, |c| c.escape_unicode().to_string())
}

/// The same for JSON, in its own notation: `\u009b`. It has no control characters below U+0020 outside of strings.
pub(crate) fn json_printable(text: &str) -> String {
    replaced(text, |c| format!("\\u{:04x}", c as u32))
}

fn replaced(text: &str, escaped: impl Fn(char) -> String) -> String {
    text.chars().map(|c| if is_obeyed(c) { escaped(c) } else { c.to_string() }).collect()
}

/// Control characters, and those that change the direction of the text that follows.
fn is_obeyed(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(printable("a\u{1b}[31m\0\r\u{9b}\u{202e}\tä\n⊥"), "a\\u{1b}[31m\\u{0}\\u{d}\\u{9b}\\u{202e}\tä\n⊥");
        let text = serde_json::to_string("\u{1b}\u{9b}\u{7f}\u{202e}⊥").unwrap();
        let line = json_printable(&text);
        assert_eq!(line, r#""\u001b\u009b\u007f\u202e⊥""#);
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), "\u{1b}\u{9b}\u{7f}\u{202e}⊥");
    }
}
