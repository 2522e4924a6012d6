//! How deep a TOML file is nested, judged before it is parsed: a parser that calls itself for each level would overflow the stack.

/// Arrays, tables and parts of a key that may be in each other.
pub(super) const MOST_DEEP: usize = 100;

/// The first line (from 1) where more than [`MOST_DEEP`] arrays, tables and parts of a key are in each other. Brackets and dots in texts and comments do
/// not count.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    let (mut depth, mut dots, mut line, mut rest) = (0_usize, 0, 1, text);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => text_length(rest, first),
            _ => first.len_utf8(),
        };
        match first {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            '.' => dots += 1,
            // What follows has dots of its own.
            '\n' | ',' | '=' => dots = 0,
            _ => {}
        }
        if depth + dots > MOST_DEEP {
            return Some(line);
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    None
}

/// The bytes of a text that begins here, with its quotes; of all that follows if it does not end.
fn text_length(rest: &str, quote: char) -> usize {
    let triple = quote.to_string().repeat(3);
    let end = if rest.starts_with(&triple) { triple } else { quote.to_string() };
    let mut at = end.len();
    while at < rest.len() {
        if rest[at..].starts_with(&end) {
            return at + end.len();
        }
        let mut letters = rest[at..].chars();
        let letter = letters.next().unwrap_or_default();
        at += letter.len_utf8();
        if quote == '"' && letter == '\\' {
            at += letters.next().map_or(0, char::len_utf8);
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_tables_and_keys_count_and_texts_do_not() {
        let times = |text: &str, count: usize| text.repeat(count);
        assert_eq!(too_deep(&format!("x = {}", times("[", 100))), None);
        assert_eq!(too_deep(&format!("a = 1\nx = {}", times("[", 101))), Some(2));
        assert_eq!(too_deep(&format!("{}b = 1\n", times("a.", 101))), Some(1));
        assert_eq!(too_deep(&format!("[{}b]\n", times("a.", 101))), Some(1));
        assert_eq!(too_deep(&format!("x = [{}]\n", times("1.5,", 1000))), None);
        for quote in ["\"", "'", "\"\"\"", "'''"] {
            assert_eq!(too_deep(&format!("x = {quote}{}{quote}\ny = 1", times("[.", 200))), None, "{quote}");
        }
        assert_eq!(too_deep(&format!("x = \"a\\\"{}\"", times("[", 200))), None);
        assert_eq!(too_deep(&format!("# {}\nx = 1", times("[", 200))), None);
    }
}
