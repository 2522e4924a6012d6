//! Files that are written from tables in the source. `MERO_WRITE=1 cargo test --test engine generated` writes them anew.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;

use meromorph::contrast;
use meromorph::fit;
use meromorph::judge::Metrics;
use meromorph::options::{
    Given, Kind, Naming, Table, Value, markdown, python_arguments, python_document, python_fields, rows, typescript,
};
use meromorph::profile;
use meromorph::run::{OPTIONS, PREDICTING, READING};

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
    check_between("docs/CLI.md", "predict", &markdown(&PREDICTING, Naming::Command));
    check_between("docs/CLI.md", "profile", &markdown(&profile::OPTIONS, Naming::Command));
    check_between("docs/MEMORY.md", "contrast", &markdown(&contrast::OPTIONS, Naming::Command));
    check_between("docs/MEMORY.md", "trainer2", &markdown(&contrast::trainer2::FIELDS, Naming::Rust));
    check_between("docs/CURVES.md", "fit", &markdown(&fit::OPTIONS, Naming::Command));
    let both = [markdown(&OPTIONS, Naming::JavaScript), markdown(&READING, Naming::JavaScript)];
    check_between("web/README.md", "train", &both.join("\n"));
    check_between("web/README.md", "predict", &markdown(&PREDICTING, Naming::JavaScript));
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

/// `SOLVER_OPTIONS` of `SolverOptions`.
fn constant(name: &str) -> String {
    let letter = |(at, c): (usize, char)| {
        if at > 0 && c.is_ascii_uppercase() { format!("_{c}") } else { c.to_ascii_uppercase().to_string() }
    };
    name.chars().enumerate().map(letter).collect()
}

/// A file of TypeScript with the options of some tasks: the doc of each, its name and its fields.
fn check_types(path: &str, source: &str, tasks: &[(&str, &str, String)]) {
    let head =
        format!("// Generated from {source} by\n// `MERO_WRITE=1 cargo test --test engine generated`: do not edit.\n");
    let interface = |(doc, name, fields): &(&str, &str, String)| {
        let names = fields.lines().filter_map(|line| line.trim_start().split_once("?: ").map(|(name, _)| name));
        let names: String = names.map(|name| format!("  \"{name}\",\n")).collect();
        let list = format!("/** The names of these options. */\nexport const {}", constant(name));
        format!(
            "\n/** {doc} */\nexport interface {name} {{\n{fields}}}\n\n{list} = [\n{names}] as const satisfies readonly (keyof {name})[];\n"
        )
    };
    check(path, &(head + &tasks.iter().map(interface).collect::<String>()));
}

#[test]
fn typescript_types_have_every_option() {
    let train = ("Options of a training run that the engine reads.", "EngineOptions", typescript(&OPTIONS));
    let reading = ("How a table of text is written.", "ReadingOptions", typescript(&READING));
    check_types("web/src/train-options.ts", "src/run/options/table.rs and reading.rs", &[train, reading]);
    let fit = ("Options of a curve fit that the engine reads.", "SolverOptions", typescript(&fit::OPTIONS));
    check_types("web/src/fit-options.ts", "src/fit/options.rs", &[fit]);
    let contrast = ("Options of a learned memory.", "ContrastOptions", typescript(&contrast::OPTIONS));
    check_types("web/src/contrast-options.ts", "src/contrast/options.rs", &[contrast]);
    let predicting = ("Options of a prediction that the engine reads.", "PredictingOptions", typescript(&PREDICTING));
    check_types("web/src/predict-options.ts", "src/run/options/predicting.rs", &[predicting]);
    let measuring = ("How much of a training run is measured.", "MeasuringOptions", typescript(&profile::OPTIONS));
    check_types("web/src/profile-options.ts", "src/profile/options.rs", &[measuring]);
}

const PYTHON: &str = "crates/python/python/meromorph";

#[test]
fn python_types_have_every_option() {
    let head = "# Generated from the tables of options by `MERO_WRITE=1 cargo test --test engine generated`: do not edit.\n\"\"\"The options of each task, for type checkers and help.\"\"\"\n\nfrom __future__ import annotations\n\nfrom collections.abc import Mapping, Sequence\nfrom typing import Literal, TypedDict\n";
    let tasks = [
        ("TrainOptions", "Options of a training run, besides its target.", python_fields(&OPTIONS, &["target"])),
        ("ReadingOptions", "How a table of text is written.", python_fields(&READING, &[])),
        ("PredictOptions", "Options of a prediction.", python_fields(&PREDICTING, &[])),
        ("FitOptions", "Options of a curve fit.", python_fields(&fit::OPTIONS, &[])),
        ("ContrastOptions", "Options of a learned memory.", python_fields(&contrast::OPTIONS, &[])),
    ];
    let class = |(name, doc, fields): &(&str, &str, String)| {
        let (documents, types): (Vec<&str>, Vec<&str>) = fields.lines().partition(|line| !line.ends_with("| None"));
        format!(
            "\n\nclass {name}(TypedDict, total=False):\n    \"\"\"{doc}\n{}\n    \"\"\"\n\n{}\n",
            documents.join("\n"),
            types.join("\n")
        )
    };
    check(&format!("{PYTHON}/_options.py"), &(head.to_owned() + &tasks.iter().map(class).collect::<String>()));
}

#[test]
fn the_package_in_pyodide_lists_every_option() {
    let tasks = [
        ("train", rows(&OPTIONS, Naming::Python)),
        ("reading", rows(&READING, Naming::Python)),
        ("predict", rows(&PREDICTING, Naming::Python)),
        ("fit", rows(&fit::OPTIONS, Naming::Python)),
        ("contrast", rows(&contrast::OPTIONS, Naming::Python)),
    ];
    let task = |(name, rows): &(&str, Vec<[String; 5]>)| {
        let rows: Vec<String> = rows.iter().map(|row| serde_json::to_string(row).unwrap()).collect();
        format!("\"{name}\": [\n{}\n]", rows.join(",\n"))
    };
    let tasks: Vec<String> = tasks.iter().map(task).collect();
    check("crates/python/browser/options.json", &format!("{{\n{}\n}}\n", tasks.join(",\n")));
}

/// What an estimator of scikit-learn gets from `fit` and from arguments of its own instead.
const NOT_OF_ESTIMATORS: [&str; 8] = ["target", "more_targets", "task", "classes", "test", "seed", "group", "time"];

#[test]
fn estimators_have_every_option() {
    let [arguments, assignments] = python_arguments(&OPTIONS, &NOT_OF_ESTIMATORS);
    let document = python_document(&OPTIONS, &NOT_OF_ESTIMATORS, "        ");
    let own = [
        (
            "random_state",
            "int, RandomState instance or None",
            "int | Any | None",
            "0",
            "Seed of the split of the rows, of weights and of their order; None is 0, so that runs repeat.",
        ),
        ("device", "str", "str", "\"auto\"", "Device that trains and predicts: see meromorph.devices()."),
        ("threads", "int", "int", "0", "Threads of the cpu device; 0 means all."),
        (
            "progress",
            "bool or callable",
            "bool | Any",
            "False",
            "Whether a bar is shown, or what is called with each epoch.",
        ),
    ];
    let texts = own.map(|(name, kind, _, _, doc)| format!("        {name} : {kind}\n            {doc}\n")).concat();
    let more = own.map(|(name, _, hint, default, _)| format!("        {name}: {hint} = {default},\n")).concat();
    let set = own.map(|(name, ..)| format!("        self.{name} = {name}\n")).concat();
    let text = format!(
        "# Generated from the table of options by `MERO_WRITE=1 cargo test --test engine generated`: do not edit.\n\"\"\"The arguments of the estimators.\"\"\"\n\nfrom __future__ import annotations\n\nfrom collections.abc import Mapping, Sequence\nfrom typing import Any, Literal\n\n\nclass Arguments:\n    \"\"\"Keeps the options of a run under their names.\"\"\"\n\n    def __init__(\n        self,\n        *,\n{arguments}{more}    ):\n        \"\"\"Every option has its default if it is None.\n\n        Parameters\n        ----------\n{document}{texts}        \"\"\"\n{assignments}{set}"
    );
    check(&format!("{PYTHON}/_arguments.py"), &text);
}

/// A value that an option accepts and that is not its default.
fn sample(name: &str, kind: &Kind) -> Value {
    let text = |text: &str| Value::Text(text.into());
    let fields = |value: Value| Value::Fields(vec![("a".into(), value)]);
    match (name, kind) {
        ("decimal" | "thousands" | "delimiter" | "escape", _) => text(","),
        ("encoding", _) => text("latin1"),
        (_, Kind::Flag) => Value::Flag(true),
        (_, Kind::Switch) => Value::Flag(false),
        (_, Kind::Number(_) | Kind::Double(_)) => Value::Number(0.25),
        (_, Kind::Whole { .. }) => Value::Number(7.0),
        (_, Kind::Name(names) | Kind::Formula(names)) => text(names().last().unwrap().0),
        (_, Kind::Texts) => Value::List(vec![text("a")]),
        (_, Kind::Fields { .. }) => fields(text("b")),
        (_, Kind::Numbers) => fields(Value::Number(2.0)),
        (_, Kind::Ranges) => fields(Value::List(vec![Value::Number(0.0), Value::Number(2.0)])),
        (_, Kind::Text(_)) => text("a"),
        (_, Kind::Wholes { .. }) => Value::List(vec![Value::Number(7.0)]),
    }
}

/// Each option of a table is stored where something reads it, and its doc is a sentence without a full stop.
fn check_options<T: Default + std::fmt::Debug>(table: &'static Table<T>, needs: &[(&str, &str, Value)]) {
    for entry in table.entries() {
        let before = needs.iter().filter(|(name, _, _)| *name == entry.name);
        let mut given: Vec<Given<T>> = before.map(|(_, other, value)| (table.entry(other), value.clone())).collect();
        let applied = |given: &[Given<T>]| {
            let mut options = T::default();
            table.apply(&mut options, given, Naming::Rust).map(|()| format!("{options:?}"))
        };
        let without = applied(&given).unwrap();
        given.push((entry, sample(entry.name, &entry.kind)));
        assert_ne!(applied(&given).unwrap(), without, "{}: its value changes nothing", entry.name);
        assert!(!entry.doc.is_empty() && !entry.doc.ends_with('.'), "{}: {}", entry.name, entry.doc);
        let alone = given.len() == 1;
        assert_eq!(alone, applied(&given[given.len() - 1..]).is_ok(), "{}: alone", entry.name);
    }
}

#[test]
fn every_option_of_tasks_other_than_training_changes_something() {
    let text = |text: &str| Value::Text(text.into());
    let als = || text("als");
    let needs = [
        ("sigma_x", "sigma", text("s")),
        ("absolute_sigma", "sigma", text("s")),
        ("smoothness", "background", als()),
        ("asymmetry", "background", als()),
        ("loss_scale", "loss", text("huber")),
        ("resample", "bootstrap", Value::Number(30.0)),
    ];
    check_options(&fit::OPTIONS, &needs);
    let off = [(fit::OPTIONS.entry("absolute_sigma"), Value::Flag(false))];
    let mut options = fit::FitOptions::default();
    assert!(fit::OPTIONS.apply(&mut options, &off, Naming::Rust).is_ok(), "a flag that is off needs nothing");
    let map = |name: &'static str| ("map", text(name));
    let maps = [("block", "block"), ("rank", "low_rank"), ("angles", "rotors")];
    let needs = maps.map(|(name, kind)| (name, map(kind).0, map(kind).1));
    check_options(&contrast::OPTIONS, &needs);
    check_options(&PREDICTING, &[]);
    check_options(&profile::OPTIONS, &[]);
    check_options(&READING, &[]);
}
