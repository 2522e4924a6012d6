//! Parameters with a value for each level of a column: `a[set]`, or of several columns, `a[row, column]`.

use super::words::word;
use crate::error::{Error, Result, hint, listed};

/// A formula without the brackets, and what was in them.
#[derive(Debug, PartialEq)]
pub(crate) struct Indexed {
    /// The same text with blanks for the brackets, so that places in it stay the same.
    pub text: String,
    /// Names that had brackets, each with its columns.
    pub levels: Vec<(String, Vec<String>)>,
}

/// Takes the brackets out of a formula over a table with these columns.
pub(crate) fn without_indexes(text: &str, columns: &[&str]) -> Result<Indexed> {
    let (mut plain, mut uses, mut at) = (text.to_owned(), Vec::new(), 0);
    while let Some(range) = word(text, at) {
        let name = &text[range.clone()];
        at = range.end;
        let open = at + (text[at..].len() - text[at..].trim_start_matches(' ').len());
        if !text[open..].starts_with('[') {
            uses.push((name, Vec::new()));
            continue;
        }
        let close = text[open..].find(']').map(|length| open + length);
        let close = close.ok_or_else(|| Error::usage(format!("model: {name}[: expected a closing ]")))?;
        let inside = &text[open + 1..close];
        let mut names: Vec<String> = Vec::new();
        for column in inside.split(',').map(str::trim) {
            if !columns.contains(&column) {
                let (all, near) = (listed(columns), hint(column, columns.iter().copied()));
                return Err(Error::usage(format!(
                    "model: {name}[{inside}]: got \"{column}\", expected a column, one of {all}{near}"
                )));
            }
            names.push(column.to_owned());
        }
        if columns.contains(&name) {
            return Err(Error::usage(format!("model: {name}[{inside}]: \"{name}\" is a column: expected a parameter")));
        }
        plain.replace_range(open..=close, &" ".repeat(close + 1 - open));
        uses.push((name, names));
        at = close + 1;
    }
    let mut levels: Vec<(String, Vec<String>)> = Vec::new();
    for (name, columns) in uses.iter().filter(|(_, columns)| !columns.is_empty()) {
        if let Some((_, other)) = uses.iter().find(|(other, levels)| other == name && levels != columns) {
            let bracket = |columns: &[String]| {
                if columns.is_empty() { String::new() } else { format!("[{}]", columns.join(", ")) }
            };
            return Err(Error::usage(format!(
                "model: got {name}{} and {name}{}, expected the same everywhere",
                bracket(columns),
                bracket(other)
            )));
        }
        if !levels.iter().any(|(known, _)| known == name) {
            levels.push(((*name).to_owned(), columns.clone()));
        }
    }
    Ok(Indexed { text: plain, levels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_become_blanks() {
        let found = without_indexes("a[set]*exp(-b*x) + c[set, day]+a [set]", &["x", "set", "day"]).unwrap();
        assert_eq!(found.text, "a     *exp(-b*x) + c          +a      ");
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        assert_eq!(found.levels, [("a".to_owned(), texts(&["set"])), ("c".to_owned(), texts(&["set", "day"]))]);
    }

    #[test]
    fn wrong_brackets_are_named() {
        let cases = [
            ("a[set", "model: a[: expected a closing ]"),
            (
                "a[sets]*x",
                "model: a[sets]: got \"sets\", expected a column, one of \"x\", \"set\"; did you mean \"set\"?",
            ),
            ("x[set]*a", "model: x[set]: \"x\" is a column: expected a parameter"),
            ("a[set]*x+a", "model: got a[set] and a, expected the same everywhere"),
        ];
        for (text, message) in cases {
            assert_eq!(without_indexes(text, &["x", "set"]).unwrap_err().to_string(), message, "{text}");
        }
    }
}
