//! Names of columns as a table has them: each once, on one line.

use super::cells::Texts;
use super::text::reading::Warning;

/// Gives every name that a column before has a number, as pandas does: the second `a` becomes `a.1`. Returns what a person should know.
pub(crate) fn make_distinct<'a>(names: impl Iterator<Item = &'a mut String>) -> Vec<Warning> {
    let names: Vec<&mut String> = names.collect();
    let mut taken = Texts::new();
    for name in &names {
        *taken.entry((*name).clone()).or_insert(0) += 1;
    }
    if taken.len() == names.len() {
        return Vec::new();
    }
    let (mut seen, mut notes) = (Texts::new(), Vec::new());
    for name in names {
        if seen.insert(name.clone(), 0).is_none() {
            continue;
        }
        let mut number = 1;
        while taken.contains_key(&format!("{name}.{number}")) {
            number += 1;
        }
        let free = format!("{name}.{number}");
        let message =
            format!("several columns are named \"{name}\"; the first keeps the name, this one is read as \"{free}\"");
        notes.push(Warning { column: free.clone(), message, cells: Vec::new() });
        taken.insert(free.clone(), 1);
        *name = free;
    }
    notes
}

/// A name on one line: a spreadsheet breaks long ones.
pub(crate) fn on_one_line(name: &str) -> String {
    if !name.contains(['\n', '\r']) {
        return name.to_owned();
    }
    name.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_there_already_gets_a_number() {
        let distinct = |names: &[&str]| {
            let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let notes: Vec<String> = make_distinct(names.iter_mut()).iter().map(ToString::to_string).collect();
            (names.join(" "), notes)
        };
        assert_eq!(distinct(&["a", "b"]), ("a b".into(), vec![]));
        let (names, notes) = distinct(&["a", "a", "y"]);
        assert_eq!(names, "a a.1 y");
        let said =
            "column \"a.1\": several columns are named \"a\"; the first keeps the name, this one is read as \"a.1\"";
        assert_eq!(notes, [said]);
        let (names, notes) = distinct(&["a", "a", "a.1", "a", "b", "b", "a.1"]);
        assert_eq!((names.as_str(), notes.len()), ("a a.2 a.1 a.3 b b.1 a.1.1", 4));
    }

    #[test]
    fn names_are_on_one_line() {
        assert_eq!(on_one_line("y\n(s)"), "y (s)");
        assert_eq!(on_one_line("Width \r\n\n mm\n"), "Width mm");
        assert_eq!(on_one_line("a  b"), "a  b");
    }
}
