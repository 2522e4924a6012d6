//! A table of options as documents: TypeScript types and Markdown.

use std::fmt::Write as _;

use super::kind::MOST_EXACT;
use super::{Group, Kind, Naming, Table};

/// The fields of a TypeScript interface, one per option, each with its doc comment.
pub fn typescript<T>(table: &Table<T>) -> String {
    let mut out = String::new();
    for entry in table.entries() {
        let default = entry.default_text(Naming::JavaScript);
        let default = if default.is_empty() { String::new() } else { format!(" Default: {default}.") };
        let range = match &entry.kind {
            Kind::Number(_) | Kind::Double(_) | Kind::Whole { .. } => {
                format!(" {}.", capitalised(&described(&entry.kind, Naming::JavaScript)))
            }
            _ => String::new(),
        };
        let doc = entry.described(Naming::JavaScript);
        let name = Naming::JavaScript.of(entry.name);
        out += &comment(&format!("{doc}.{range}{default}"));
        out += &wrapped(&format!("  {name}?: {} | undefined;", type_of(&entry.kind)), " | ", "    ");
    }
    out
}

/// Columns of a line of TypeScript.
const COLUMNS: usize = 120;

/// A doc comment of a field.
pub(super) fn comment(text: &str) -> String {
    let single = format!("  /** {text} */");
    if single.chars().count() <= COLUMNS {
        return single + "\n";
    }
    format!("  /**\n{}   */\n", wrapped(&format!("   * {text}"), " ", "   * "))
}

/// A text in lines, divided at `between`; those after the first begin with `start`.
fn wrapped(text: &str, between: &str, start: &str) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    for (at, word) in text.split_inclusive(between).enumerate() {
        if at > 0 && line.chars().count() + word.trim_end().chars().count() > COLUMNS {
            let _ = writeln!(out, "{}", line.trim_end());
            line = start.into();
        }
        line += word;
    }
    format!("{out}{line}\n")
}

/// The type of an option in TypeScript.
fn type_of(kind: &Kind) -> String {
    let union =
        |names: Vec<(&str, &str)>| names.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(" | ");
    match kind {
        Kind::Flag | Kind::Switch => "boolean".into(),
        Kind::Number(_) | Kind::Double(_) | Kind::Whole { .. } => "number".into(),
        Kind::Name(names) => union(names()),
        Kind::Formula(names) => format!("{} | (string & {{}})", union(names())),
        Kind::Text(_) => "string".into(),
        Kind::Texts => "readonly string[]".into(),
        Kind::Wholes { length: None } => "readonly number[]".into(),
        Kind::Wholes { length: Some(length) } => format!("readonly [{}]", vec!["number"; *length].join(", ")),
        Kind::Fields { names: None, .. } => "Record<string, string>".into(),
        Kind::Fields { names: Some(names), .. } => format!("Partial<Record<{}, number | string>>", union(names())),
        Kind::Numbers => "Readonly<Record<string, number>>".into(),
        Kind::Ranges => "Readonly<Record<string, readonly [number | null, number | null]>>".into(),
    }
}

/// One Markdown table per group: the option as a face spells it, its type and range, its default, what it does.
pub fn markdown<T>(table: &Table<T>, naming: Naming) -> String {
    let mut out = String::new();
    let all = rows(table, naming);
    for group in table.groups {
        let _ = writeln!(out, "\n**{}**\n\n| option | type | default | |\n| --- | --- | --- | --- |", group.title);
        for [name, _, kind, default, doc] in all.iter().filter(|row| row[1] == group.title) {
            let row = [&format!("`{name}`"), kind, default, doc].map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(out, "| {} |", row.join(" | "));
        }
    }
    out
}

/// For every option its name as a face spells it, its group, its type and range, its default, and what it does.
pub fn rows<T>(table: &Table<T>, naming: Naming) -> Vec<[String; 5]> {
    let in_group = |group: &'static Group<T>| {
        (group.entries)().iter().map(move |entry| {
            let (name, kind) = (entry.shown(naming), described(&entry.kind, naming));
            [name, group.title.to_owned(), kind, entry.default_text(naming), entry.described(naming)]
        })
    };
    table.groups.iter().flat_map(in_group).collect()
}

/// Type and range in a few words.
pub(super) fn described(kind: &Kind, naming: Naming) -> String {
    let names =
        |names: Vec<(&str, &str)>| names.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match kind {
        Kind::Flag => "flag".into(),
        Kind::Switch if naming == Naming::Command => "flag".into(),
        Kind::Switch => "true or false".into(),
        Kind::Number(range) | Kind::Double(range) => range.symbols().into(),
        Kind::Whole { least, most: MOST_EXACT } => format!("whole number from {least} to 2^53"),
        Kind::Whole { least, .. } => format!("whole number ≥ {least}"),
        Kind::Name(all) => names(all()),
        Kind::Formula(all) => format!("{}, or a formula", names(all())),
        Kind::Text(what) => what.trim_end_matches(',').into(),
        Kind::Texts => "names".into(),
        Kind::Wholes { length: None } => "whole numbers ≥ 1".into(),
        Kind::Wholes { length: Some(length) } => format!("{length} whole numbers"),
        Kind::Fields { names: all, example: [name, value], .. } => {
            let example = match naming {
                Naming::Command => format!("`{name}={value}`, as often as needed"),
                Naming::JavaScript | Naming::Rust => format!("named values such as `{name}: {value}`"),
                Naming::Python => format!("named values such as `{{\"{name}\": …}}`"),
            };
            all.map_or(example.clone(), |all| format!("{example}; names: {}", names(all())))
        }
        Kind::Numbers if naming == Naming::Command => "`a=1,b=0.1`".into(),
        Kind::Ranges if naming == Naming::Command => "`a=0:10,b=:5`; an end may be left out".into(),
        Kind::Numbers => "numbers by name".into(),
        Kind::Ranges if naming == Naming::Python => {
            "`(low, high)` by name; an end that is None or infinite is open".into()
        }
        Kind::Ranges => "`[low, high]` by name; an end that is null or infinite is open".into(),
    }
}

pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
