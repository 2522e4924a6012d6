//! Files that are written from tables in the source. `MERO_WRITE=1 cargo test --test engine generated` writes them anew.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;

use meromorph::fit;
use meromorph::judge::Metrics;
use meromorph::options::{Naming, markdown, typescript};
use meromorph::run::{OPTIONS, READING};

/// Compares a file with what it should hold, or writes it.
fn check(path: &str, expected: &str) {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("MERO_WRITE").is_some() {
        fs::write(&path, expected).unwrap();
        return;
    }
    let got = fs::read_to_string(&path).unwrap();
    let line = got.lines().zip(expected.lines()).position(|(got, expected)| got != expected);
    let line = line.map_or_else(|| "its length".to_owned(), |at| format!("line {}", at + 1));
    assert!(got == expected, "{path} differs at {line}; run MERO_WRITE=1 cargo test --test engine generated");
}

/// Replaces what is between the two marks of a task in a file.
fn check_between(path: &str, task: &str, expected: &str) {
    let text = fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (start, end) = (&format!("<!-- options of {task}: generated -->\n")[..], "<!-- end of generated -->");
    let (before, rest) = text.split_once(start).unwrap_or_else(|| panic!("{path} has no {start}"));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("{path} has no {end}"));
    check(path, &format!("{before}{start}{expected}\n{end}{after}"));
}

#[test]
fn documents_list_every_option() {
    check_between("docs/CLI.md", "train", &markdown(&OPTIONS, Naming::Command));
    check_between("docs/CURVES.md", "fit", &markdown(&fit::OPTIONS, Naming::Command));
    let both = [markdown(&OPTIONS, Naming::JavaScript), markdown(&READING, Naming::JavaScript)];
    check_between("web/README.md", "train", &both.join("\n"));
    check_between("web/README.md", "fit", &markdown(&fit::OPTIONS, Naming::JavaScript));
}

#[test]
fn typescript_types_have_every_metric() {
    let head = "// The metrics of predictions. Generated from src/judge/metrics by\n// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.\n";
    let metric =
        |(name, doc): &(&str, &str)| format!("  /** {doc}. */\n  {}: number | null;\n", Naming::JavaScript.of(name));
    let metrics: String = Metrics::DOCS.iter().map(metric).collect();
    let doc = "/** The quality of predictions. A figure that does not apply is null. */";
    let rows = "  /** Number of rows. */\n  rows: number;\n";
    check("web/src/metrics.ts", &format!("{head}\n{doc}\nexport interface Metrics {{\n{rows}{metrics}}}\n"));
}

#[test]
fn typescript_types_have_every_option() {
    let head = "// The options of a training run. Generated from src/run/options/table.rs by\n// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.\n";
    let (fields, reading) = (typescript(&OPTIONS), typescript(&READING));
    check(
        "web/src/train-options.ts",
        &format!(
            "{head}\n/** Options of a training run that the engine reads. */\nexport interface EngineOptions {{\n{fields}}}\n\n\
             /** How a table of text is written. */\nexport interface ReadingOptions {{\n{reading}}}\n"
        ),
    );
}

#[test]
fn typescript_types_have_every_option_of_a_fit() {
    let head = "// The options of a curve fit. Generated from src/fit/options.rs by\n// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.\n";
    let fields = typescript(&fit::OPTIONS);
    check(
        "web/src/fit-options.ts",
        &format!(
            "{head}\n/** Options of a curve fit that the engine reads. */\nexport interface SolverOptions {{\n{fields}}}\n"
        ),
    );
}
