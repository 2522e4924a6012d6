//! Command lines as a person types them.

/// The command line of this process.
pub(crate) fn command() -> String {
    let words = std::env::args().skip(1).map(|word| quoted(&word));
    ["mero".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

/// The value of an option, quoted for a shell, with what is between them: a value that begins like an option needs `=`.
pub(crate) fn quoted_option(value: &str) -> String {
    format!("{}{}", if value.starts_with('-') { "=" } else { " " }, quoted(value))
}

/// A word quoted for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
