//! An npm package of one model: typed by its columns, with engine and weights included, so that the folder is self-contained.
//!
//! The code is the same for every model and reads the names of columns from the model file. Only types, manifest and README are
//! generated; every name in them is an identifier or a JSON string, which TypeScript also reads and no name can end early.

use std::path::Path;

use serde_json::{Value, json};

use super::page::portable;
use crate::error::{Error, Result};
use crate::host;
use crate::model::Model;
use crate::table::{Feature, Preparation, Seen, Target};

/// The folder, within the web files, of the parts that are the same for every model.
pub const PARTS_FOLDER: &str = "portable/package";

const PARTS: [&str; 5] = ["index.js", "node.js", "model.js", "meromorph.js", "meromorph_bg.wasm"];
const MODEL_FILE: &str = "model.safetensors";
/// Maximum length of a name in the npm registry.
const LONGEST_NAME: usize = 214;

/// What a prediction of a number consists of.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A number alone.
    Plain,
    /// A number, or ⊥.
    Poles,
    /// A number and its standard deviation.
    Normal,
}

impl Kind {
    fn of(model: &Model) -> Self {
        match (model.spec.head(), model.has_deviation()) {
            (Some(_), _) => Self::Poles,
            (None, true) => Self::Normal,
            (None, false) => Self::Plain,
        }
    }
}

/// Writes the package `name` of a model to `folder`, completely or not at all; `parts` is the folder of the fixed parts. Errors if
/// `folder` is not empty, unless `is_replacing` and it holds only a package.
pub fn write_package(model: &Model, name: &str, parts: &Path, folder: &Path, is_replacing: bool) -> Result<()> {
    check_name(name)?;
    let preparation = model.preparation()?;
    let kind = Kind::of(model);
    let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
    for part in PARTS {
        files.push((part, host::read(&parts.join(part))?));
    }
    files.push((MODEL_FILE, portable(model)?));
    files.push(("package.json", manifest(name, preparation)));
    files.push(("index.d.ts", types(preparation, kind).into_bytes()));
    files.push(("README.md", readme(name, preparation, kind).into_bytes()));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
    host::write_folder(folder, &files, is_replacing, &|_| Ok(()))
}

/// A valid package name made from a file name; `None` if no character of it is valid.
pub fn package_name(stem: &str) -> Option<String> {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = stem.chars().map(kept).collect();
    let name: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    let name = name.join("-");
    (!name.is_empty()).then(|| name.chars().take(LONGEST_NAME).collect())
}

fn check_name(name: &str) -> Result<()> {
    let is_part = |part: &str| {
        let is_fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c);
        part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()) && part.chars().all(is_fine)
    };
    let is_fine = match name.strip_prefix('@').map(|scoped| scoped.split_once('/')) {
        None => is_part(name),
        Some(parts) => parts.is_some_and(|(scope, name)| is_part(scope) && is_part(name)),
    };
    let is_taken = ["node_modules", "favicon.ico"].contains(&name);
    if is_fine && !is_taken && name.len() <= LONGEST_NAME {
        return Ok(());
    }
    Err(Error::new(format!(
        "package name \"{name}\" is not one that npm takes; expected lower-case letters, digits, - . _, like wine-quality"
    )))
}

/// The order of `exports` matters: the first condition that holds applies.
fn manifest(name: &str, preparation: &Preparation) -> Vec<u8> {
    let files: Vec<&str> = PARTS.into_iter().chain([MODEL_FILE, "index.d.ts"]).collect();
    let about = quoted(&format!("Predicts {}", preparation.target.name()));
    let (version, files) = (env!("CARGO_PKG_VERSION"), json!(files));
    format!(
        "{{\n  \"name\": \"{name}\",\n  \"version\": \"1.0.0\",\n  \"description\": {about},\n{MANIFEST}  \"files\": {files},\n  \
         \"meromorph\": \"{version}\"\n}}\n"
    )
    .into_bytes()
}

const MANIFEST: &str = r#"  "type": "module",
  "exports": {
    ".": {
      "types": "./index.d.ts",
      "node": "./node.js",
      "deno": "./node.js",
      "bun": "./node.js",
      "default": "./index.js"
    },
    "./package.json": "./package.json"
  },
  "types": "./index.d.ts",
  "sideEffects": false,
  "engines": { "node": ">=20" },
"#;

fn types(preparation: &Preparation, kind: Kind) -> String {
    let columns: String = preparation.features.iter().map(column).collect();
    format!(
        "/** One row of inputs: a value for each column the model was trained on. */\nexport interface Row {{\n{columns}}}\n\n\
         {NOTED}/** The prediction for a row. */\nexport type Answer = Noted &{};\n\n{FUNCTIONS}",
        answer(&preparation.target, kind)
    )
}

const NOTED: &str = "\
/** What was noticed about a row. */
export interface Noted {
  /** The columns whose numbers are outside the training range by more than a tenth of it. */
  outside: string[];
  /** All that was noticed, as in the column note of `mero predict`; empty if nothing was. */
  note: string;
}

";

const FUNCTIONS: &str = "\
/** Predicts one row, or each of many. The first call loads engine and weights. */
export function predict(row: Row): Promise<Answer>;
export function predict(rows: readonly Row[]): Promise<Answer[]>;

/** A column of the model: statistics or levels of its training rows. */
export type Input = { name: string; min: number; max: number; mean: number } | { name: string; levels: string[]; isOpen?: boolean } | { name: string; from: string; to: string };

/** Describes the model. */
export function describe(): Promise<{
  task: \"regression\" | \"classification\";
  target: string;
  classes: string[];
  inputs: Input[];
  parameters: number;
}>;
";

/// A member of `Row`; optional if the model fills missing values of the column.
fn column(feature: &Feature) -> String {
    let kind = match feature.seen() {
        Seen::Numbers(_) => "number".to_owned(),
        // A union of so many texts helps nobody.
        Seen::Levels { has_means: true, .. } | Seen::Texts { .. } => "string".to_owned(),
        Seen::Levels { levels, .. } => union(levels),
        Seen::Times(_) => "Date | string".to_owned(),
    };
    let name = key(feature.name());
    if feature.takes_missing() { format!("  {name}?: {kind} | null;\n") } else { format!("  {name}: {kind};\n") }
}

fn answer(target: &Target, kind: Kind) -> String {
    match target.levels() {
        [] if kind == Kind::Poles => {
            " (\n  | { value: number; bottom: false; /** Whether it is so near a pole that it is unreliable. */ gap: boolean; fault: false }\n  \
             | { value: null; /** There is no value here. */ bottom: true; gap: boolean; /** Whether the cause is a numerical fault, not a pole. */ fault: boolean }\n)"
                .into()
        }
        [] if kind == Kind::Normal => {
            " { value: number; /** The standard deviation of the target around the value. */ deviation: number }".into()
        }
        [] => " { value: number }".into(),
        levels => format!(" {{ value: {}; probability: number }}", union(levels)),
    }
}

fn union(levels: &[String]) -> String {
    levels.iter().map(|level| quoted(level)).collect::<Vec<_>>().join(" | ")
}

/// A name as a key: unchanged if it is an ASCII identifier, else quoted.
fn key(name: &str) -> String {
    // As a plain key this name would set the object's prototype.
    if name == "__proto__" {
        return format!("[{}]", quoted(name));
    }
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    let is_plain = name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// A text as a string literal of JSON, JavaScript and TypeScript.
fn quoted(text: &str) -> String {
    // The two line separators that JSON allows and JavaScript before ES2019 does not.
    Value::from(text).to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// An example row: the mean of each numeric column, the first level of each category.
fn example(preparation: &Preparation) -> String {
    let one = |feature: &Feature| {
        let value = match feature.seen() {
            Seen::Numbers(number) => format!("{}", (number.mean * 1e3).round() / 1e3),
            Seen::Levels { levels, .. } => quoted(&levels[0]),
            Seen::Times(date) => quoted(&date.range()[1]),
            Seen::Texts { example, .. } => quoted(example),
        };
        format!("  {}: {value},\n", key(feature.name()))
    };
    preparation.features.iter().map(one).collect()
}

fn readme(name: &str, preparation: &Preparation, kind: Kind) -> String {
    let answer = match preparation.target.levels() {
        [] if kind == Kind::Poles => {
            "`{ value, bottom, gap, fault }`: where `bottom` is set the model says that there is no value, and `value` is null"
        }
        [] if kind == Kind::Normal => "`{ value, deviation }`, a number and its standard deviation",
        [] => "`{ value }`, a number",
        _ => "`{ value, probability }`: the likeliest class",
    };
    let row = example(preparation);
    format!(
        "# {name}\n\nOne trained model with the engine that runs it. It needs nothing else and works in browsers, Node, Deno and Bun.\n\n\
         ```js\nimport {{ predict }} from \"{name}\";\n\nconst answer = await predict({{\n{row}}});\n```\n\n\
         The answer is {answer}. It also has `outside`, the columns whose numbers are outside the training range, and `note`, all that was \
         noticed about the row. `predict` also takes an array of rows.\n\n\
         Vite and webpack carry `meromorph_bg.wasm` and `model.safetensors` along; for a bundler that does not, copy both next to its \
         output.\n\nMade with Meromorph {}.\n",
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_npm_would_refuse() {
        for name in ["wine", "wine-quality.2", "@me/wine"] {
            check_name(name).unwrap();
        }
        for name in
            ["", "Wine", "a b", "@me", "@/wine", "../wine", "-wine", "_wine", ".wine", "w\"ine", &"w".repeat(215)]
        {
            assert!(check_name(name).is_err(), "{name}");
        }
        assert_eq!(package_name("Wine Quality (2)"), Some("wine-quality-2".into()));
        assert_eq!(package_name("дом"), None);
    }

    #[test]
    fn no_name_leaves_its_string() {
        let cases = [
            ("angle", "angle"),
            ("a b", "\"a b\""),
            ("2x", "\"2x\""),
            ("__proto__", "[\"__proto__\"]"),
            ("*/ evil", "\"*/ evil\""),
            ("\"; evil", "\"\\\"; evil\""),
            ("\u{2028}\n", "\"\\u2028\\n\""),
        ];
        for (name, expected) in cases {
            assert_eq!(key(name), expected);
        }
    }
}
