//! `--config`: options of a command from a TOML file. They become words of the command line, except those that it has already.

mod blame;
mod depth;
mod record;

use std::any::TypeId;
use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, ArgAction, Command};

use crate::line::{Line, Named};
use crate::options::flags;
use crate::options::reading::NAMES;
use meromorph::error::{Error, ErrorKind, Result, hint, listed, similar};
use meromorph::internal::host::{self, number};
use meromorph::options::{Kind, Naming, Range, Value};
use meromorph::run::OPTIONS;

pub(super) use blame::FromFile;
use depth::{MOST_DEEP, too_deep};
pub(super) use record::Record;

/// Options that a file cannot have: they choose files and output, not what is done.
const GENERAL: [&str; 6] = ["color", "config", "help", "json", "quiet", "version"];

/// More bytes than any file of options has; names of a hundred thousand columns fit.
pub(super) const MOST_BYTES: u64 = 16 << 20;

/// The words of a line with the options of its `--config` file after the command's name, and these options.
pub(super) fn merged(line: &Line, named: &Named<'_>) -> Result<(Vec<OsString>, Option<FromFile>)> {
    let mut all = line.words.clone();
    let Some(file) = line.value("config") else { return Ok((all, None)) };
    if named.name == "xpcs" && is_yaml(&file) {
        return Ok((positional(line, named.end, &file), None));
    }
    let words = Options { line, command: named.command, file: &file }.words()?;
    all.splice(named.end..named.end, words.clone());
    Ok((all, Some(FromFile { file, words })))
}

/// Whether a file is a configuration of `mero xpcs` and no file of options.
fn is_yaml(file: &str) -> bool {
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ["yaml", "yml"].iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// The words of a line with the file of `--config`, as homodyne has it, after the command's name.
fn positional(line: &Line, end: usize, file: &str) -> Vec<OsString> {
    let (mut words, mut is_value) = (Vec::new(), false);
    for (at, word) in line.words.iter().enumerate() {
        if at == end {
            words.push(OsString::from(file));
        }
        let text = word.to_string_lossy();
        let is_option = text == "--config" || text.starts_with("--config=");
        if !is_option && !is_value {
            words.push(word.clone());
        }
        is_value = text == "--config";
    }
    if end >= line.words.len() {
        words.push(OsString::from(file));
    }
    words
}

/// The options of a file for a command.
struct Options<'a> {
    line: &'a Line,
    command: &'a Command,
    file: &'a str,
}

impl Options<'_> {
    fn words(&self) -> Result<Vec<OsString>> {
        let Self { file, command, .. } = *self;
        let bytes = host::read_within(Path::new(file), MOST_BYTES, "a file of options")?;
        let text = String::from_utf8(bytes).map_err(|_| Error::new(format!("{file}: is not UTF-8 text")))?;
        if let Some(line) = too_deep(&text) {
            return Err(Error::new(format!(
                "{file}: line {line}: is nested deeper than {MOST_DEEP}: expected at most {MOST_DEEP} arrays and tables in each other"
            )));
        }
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let at = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            Error::new(format!("{file}: line {at}: {}", error.message()))
        })?;
        let given: Vec<&Arg> = command.get_arguments().filter(|arg| self.is_given(arg)).collect();
        let mut words = Vec::new();
        for (key, value) in table {
            let option = self.find(&key)?;
            let place = format!("{file}: {key}");
            let more = self.words_of(option, &value_of(value), &place)?;
            if given.iter().any(|known| known.get_id() == "resume" && self.conflict(known, option)) {
                return Err(Error::usage(format!(
                    "{place}: cannot be changed with --resume: the checkpoint holds all options of the run"
                )));
            }
            let is_overridden = given.iter().any(|known| {
                known.get_id() == option.get_id() || self.conflict(known, option) || self.conflict(option, known)
            });
            if !is_overridden {
                words.extend(more);
            }
        }
        Ok(words.into_iter().map(OsString::from).collect())
    }

    /// The option called `key`.
    fn find(&self, key: &str) -> Result<&Arg> {
        let all =
            || self.command.get_arguments().filter(|arg| arg.get_long().is_some_and(|name| !GENERAL.contains(&name)));
        if let Some(found) = all().find(|arg| names_of(arg).contains(&key)) {
            return Ok(found);
        }
        let mut names: Vec<&str> = all().filter_map(Arg::get_long).collect();
        names.sort_unstable();
        let expected = match similar(key, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if names.is_empty() => format!("{} has no options in a file", self.command.get_name()),
            None => format!("expected one of {}", names.join(", ")),
        };
        Err(Error::usage(format!("{}: option \"{key}\" is unknown: {expected}", self.file)))
    }

    /// Whether an option is on the command line.
    fn is_given(&self, arg: &Arg) -> bool {
        self.line.options().any(|word| match word.strip_prefix("--") {
            Some(word) => names_of(arg).contains(&word.split('=').next().unwrap_or(word)),
            None => {
                word.strip_prefix('-').is_some_and(|word| !word.is_empty() && word.chars().next() == arg.get_short())
            }
        })
    }

    fn conflict(&self, one: &Arg, other: &Arg) -> bool {
        self.command.get_arg_conflicts_with(one).iter().any(|arg| arg.get_id() == other.get_id())
    }

    /// A value as the command line would have it.
    fn words_of(&self, option: &Arg, value: &Value, place: &str) -> Result<Vec<String>> {
        let name = option.get_long().unwrap_or_default();
        if let Some(kind) = flags::kind(self.command, option) {
            return spelled(name, kind, value, place);
        }
        let has_optional_value = option.get_num_args().is_some_and(|count| count.min_values() == 0);
        if has_optional_value && matches!(value, Value::Flag(_)) {
            return spelled(name, &Kind::Flag, value, place);
        }
        check_choice(option, value, place)?;
        spelled(name, &kind_of(option), &value.clone(), place)
    }
}

/// The long names of an option.
fn names_of(arg: &Arg) -> Vec<&str> {
    arg.get_long_and_visible_aliases()
        .into_iter()
        .flatten()
        .chain(arg.get_all_aliases().into_iter().flatten())
        .collect()
}

/// What an option accepts that is in no table.
fn kind_of(option: &Arg) -> Kind {
    let id = option.get_value_parser().type_id();
    let is_one_of = |types: &[TypeId]| types.iter().any(|known| id == *known);
    match option.get_action() {
        ArgAction::SetTrue => Kind::Flag,
        ArgAction::Append => Kind::Texts,
        _ if is_one_of(&[TypeId::of::<usize>(), TypeId::of::<u64>()]) => Kind::EXACT,
        _ if id == TypeId::of::<f64>() => Kind::Number(Range::Unit),
        _ => Kind::Text("a value"),
    }
}

/// Errors if a value is not one of an option's choices.
fn check_choice(option: &Arg, value: &Value, place: &str) -> Result<()> {
    let choices = option.get_possible_values();
    let Value::Text(text) = value else { return Ok(()) };
    if matches!(option.get_action(), ArgAction::SetTrue) || choices.iter().any(|choice| choice.matches(text, false)) {
        return Ok(());
    }
    let names: Vec<&str> = choices.iter().map(clap::builder::PossibleValue::get_name).collect();
    if names.is_empty() {
        return Ok(());
    }
    let near = hint(text, names.iter().copied());
    Err(Error::usage(format!("{place}: got {}, expected one of {}{near}", value.shown(), listed(&names))))
}

/// The words `--name=value` of a value, or an error if the kind does not accept it.
fn spelled(name: &str, kind: &Kind, value: &Value, place: &str) -> Result<Vec<String>> {
    let value = match value {
        // As on the command line; a flag takes no text.
        Value::Text(text) if !matches!(kind, Kind::Flag | Kind::Switch) => kind.parse(text),
        // Several `name=value`, as the option is given several times.
        Value::List(items) if matches!(kind, Kind::Fields { .. } | Kind::Numbers | Kind::Ranges) => {
            let mut fields = Vec::new();
            for item in items {
                let part = if let Value::Text(text) = item { kind.parse(text) } else { item.clone() };
                kind.check(&part, place, Naming::Command).map_err(|error| error.with_kind(ErrorKind::Usage))?;
                fields.extend_from_slice(part.fields());
            }
            Value::Fields(fields)
        }
        Value::List(items) if matches!(kind, Kind::Texts) => Value::List(items.iter().map(number_as_text).collect()),
        other => other.clone(),
    };
    kind.check(&value, place, Naming::Rust).map_err(|error| error.with_kind(ErrorKind::Usage))?;
    let word = |text: &str| format!("--{name}={text}");
    Ok(match &value {
        Value::Flag(false) => Vec::new(),
        Value::Flag(true) => vec![format!("--{name}")],
        Value::List(items) if matches!(kind, Kind::Wholes { .. }) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            vec![word(&if items.is_empty() { "none".into() } else { items.join(",") })]
        }
        Value::List(items) => items.iter().map(|item| word(&quoted(name, &plain(item)))).collect(),
        Value::Fields(fields) => fields.iter().map(|(key, value)| word(&format!("{key}={}", plain(value)))).collect(),
        single => vec![word(&plain(single))],
    })
}

fn number_as_text(value: &Value) -> Value {
    if let Value::Number(_) = value { Value::Text(plain(value)) } else { value.clone() }
}

/// A number or a text as on the command line.
fn plain(value: &Value) -> String {
    match value {
        Value::Number(x) => number(*x).to_string(),
        Value::Text(text) => text.clone(),
        // The ends of a range, open where they are infinite on their side.
        Value::List(ends) => {
            let open = [f64::NEG_INFINITY, f64::INFINITY].map(Value::Number);
            let end = |(end, open): (&Value, &Value)| if end == open { String::new() } else { plain(end) };
            ends.iter().zip(&open).map(end).collect::<Vec<_>>().join(":")
        }
        other => other.shown(),
    }
}

/// A name in quotes if the option takes several names and the comma would divide it.
fn quoted(option: &str, name: &str) -> String {
    let is_list = NAMES.contains(&option)
        || OPTIONS.entries().any(|entry| matches!(entry.kind, Kind::Texts) && Naming::Command.of(entry.name) == option);
    if is_list && name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}

/// A value of TOML.
fn value_of(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::Text(text),
        toml::Value::Integer(whole) => Value::Number(whole as f64),
        toml::Value::Float(x) => Value::Number(x),
        toml::Value::Boolean(flag) => Value::Flag(flag),
        toml::Value::Datetime(date) => Value::Other(format!("the date {date}")),
        toml::Value::Array(items) => Value::List(items.into_iter().map(value_of).collect()),
        toml::Value::Table(fields) => {
            Value::Fields(fields.into_iter().map(|(key, value)| (key, value_of(value))).collect())
        }
    }
}
