//! A table of options as Python: the fields of a `TypedDict`, the arguments of a function, and their documents.

use super::document::{capitalised, described};
use super::{Entry, Kind, Naming, Table};

/// Columns of a line of Python.
const COLUMNS: usize = 120;

/// The body of a `TypedDict` of the options but some: a document of each, then its type.
pub fn python_fields<T>(table: &Table<T>, without: &[&str]) -> String {
    let kept = table.entries().filter(|entry| !without.contains(&entry.name));
    let fields: String = kept.map(|entry| format!("    {}: {} | None\n", name(entry), type_of(&entry.kind))).collect();
    format!("\n{}{fields}", python_document(table, without, "    "))
}

/// The lines of a docstring about the options but some: the name of each with its type, then what it does and its default.
pub fn python_document<T>(table: &Table<T>, without: &[&str], indent: &str) -> String {
    let mut out = String::new();
    for entry in table.entries().filter(|entry| !without.contains(&entry.name)) {
        let default = entry.default_text(Naming::Python);
        let default = if default.is_empty() { String::new() } else { format!(" Default: {default}.") };
        let kind = described(&entry.kind, Naming::Python).replace('`', "");
        out += &format!("{indent}{} : {kind}\n", name(entry)).replace(" \n", "\n");
        let text = format!("{}.{default}", capitalised(&entry.described(Naming::Python)));
        out += &wrapped(&text.replace('\\', "\\\\"), &format!("{indent}    "));
    }
    out
}

/// The arguments of a function with all options but some, each of them `None` if it is not given, and the same names as the assignments of a constructor.
pub fn python_arguments<T>(table: &Table<T>, without: &[&str]) -> [String; 2] {
    let kept = || table.entries().filter(|entry| !without.contains(&entry.name));
    let arguments = kept().map(|entry| format!("        {}: {} | None = None,\n", name(entry), type_of(&entry.kind)));
    let assignments = kept().map(|entry| format!("        self.{0} = {0}\n", name(entry)));
    [arguments.collect(), assignments.collect()]
}

fn name<T>(entry: &Entry<T>) -> String {
    Naming::Python.of(entry.name)
}

/// The type of an option in Python.
fn type_of(kind: &Kind) -> String {
    let names =
        |names: Vec<(&str, &str)>| names.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    match kind {
        Kind::Flag | Kind::Switch => "bool".into(),
        Kind::Number(_) | Kind::Double(_) => "float".into(),
        Kind::Whole { .. } => "int".into(),
        Kind::Name(all) => format!("Literal[{}]", names(all())),
        Kind::Formula(_) | Kind::Text(_) => "str".into(),
        Kind::Texts => "Sequence[str]".into(),
        Kind::Wholes { .. } => "Sequence[int]".into(),
        Kind::Fields { has_numbers: false, .. } => "Mapping[str, str]".into(),
        Kind::Fields { .. } => "Mapping[str, float | str]".into(),
        Kind::Numbers => "Mapping[str, float]".into(),
        Kind::Ranges => "Mapping[str, tuple[float | None, float | None]]".into(),
    }
}

/// A text in lines that begin with `indent`.
fn wrapped(text: &str, indent: &str) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && indent.chars().count() + line.chars().count() + 1 + word.chars().count() > COLUMNS {
            out += &format!("{indent}{line}\n");
            line.clear();
        }
        line += if line.is_empty() { "" } else { " " };
        line += word;
    }
    format!("{out}{indent}{line}\n")
}
