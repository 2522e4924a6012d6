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

/// A message whose quoted texts are not longer than a reader wants: a cell of a table may have megabytes. Of a longer one its start and its length are
/// left.
pub(crate) fn shortened(message: &str) -> String {
    let part = |text: &str| {
        let count = text.chars().count();
        if count <= MOST_SHOWN {
            return text.to_owned();
        }
        let start: String = text.chars().take(SHOWN).collect();
        format!("{start}… ({count} characters)")
    };
    let parts: Vec<String> = message
        .split('"')
        .enumerate()
        .map(|(at, text)| {
            // Outside of quotes are commands and lists, which are of use as a whole.
            if at % 2 == 1 || text.len() > MOST_PLAIN { part(text) } else { text.to_owned() }
        })
        .collect();
    parts.join("\"")
}

/// Characters of a quoted text that are shown, and of one that is shortened.
const MOST_SHOWN: usize = 200;
const SHOWN: usize = 100;
/// Bytes of a message outside of quotes from which it is no text of this program.
const MOST_PLAIN: usize = 100_000;

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
    fn long_texts_of_a_message_are_shortened() {
        let message = |cell: &str| format!("t.csv: row 1: \"{cell}\" is not a number; {}", "x".repeat(500));
        assert_eq!(shortened(&message(&"ä".repeat(200))), message(&"ä".repeat(200)));
        let cut = format!("{}… (201 characters)", "ä".repeat(100));
        assert_eq!(shortened(&message(&"ä".repeat(201))), message(&cut));
    }

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(printable("a\u{1b}[31m\0\r\u{9b}\u{202e}\tä\n⊥"), "a\\u{1b}[31m\\u{0}\\u{d}\\u{9b}\\u{202e}\tä\n⊥");
        let text = serde_json::to_string("\u{1b}\u{9b}\u{7f}\u{202e}⊥").unwrap();
        let line = json_printable(&text);
        assert_eq!(line, r#""\u001b\u009b\u007f\u202e⊥""#);
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), "\u{1b}\u{9b}\u{7f}\u{202e}⊥");
    }
}
