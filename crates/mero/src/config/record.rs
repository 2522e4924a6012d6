//! `--save-config`: the options of a run as the text of a file for `--config`.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};

use crate::options::flags::{HEADER, value};
use meromorph::options::Value;
use meromorph::run::{OPTIONS, READING};

/// Options that say where results go or what is printed, not what is trained.
const ELSEWHERE: [&str; 13] = [
    "checkpoint",
    "color",
    "config",
    "file",
    "force",
    "json",
    "out",
    "quiet",
    "report",
    "resume",
    "save_config",
    "help",
    "version",
];

/// Every option that was given, on the command line or in a file, as TOML. It reads no option of its own.
pub(crate) struct Record {
    pub text: String,
}

impl Args for Record {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for Record {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given = |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        // The name of a group has the names of its options as values.
        let is_option =
            |id: &&Id| matches.try_get_many::<Id>(id.as_str()).is_err() && !ELSEWHERE.contains(&id.as_str());
        let pairs = matches.ids().filter(is_given).filter(is_option);
        let table: toml::Table =
            pairs.map(|id| (id.as_str().replace('_', "-"), toml_of(&value_of(id.as_str(), matches)))).collect();
        Ok(Self { text: toml::to_string(&table).expect("texts, numbers and lists can be written as TOML") })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The value of an option that was given.
fn value_of(id: &str, matches: &ArgMatches) -> Value {
    let training = OPTIONS.entries().find(|entry| entry.name == id).and_then(|entry| value(entry, matches));
    let reading =
        || READING.entries().find(|entry| entry.name == id && id != HEADER).and_then(|entry| value(entry, matches));
    if let Some(value) = training.or_else(reading) {
        return value;
    }
    if let Ok(Some(flag)) = matches.try_get_one::<bool>(id) {
        return Value::Flag(*flag);
    }
    if let Ok(Some(count)) = matches.try_get_one::<usize>(id) {
        return Value::Number(*count as f64);
    }
    let texts = matches.get_raw(id).into_iter().flatten().map(|text| text.to_string_lossy().into_owned());
    let texts: Vec<String> = texts.collect();
    match texts.as_slice() {
        [text] => Value::Text(text.clone()),
        _ => Value::List(texts.into_iter().map(Value::Text).collect()),
    }
}

fn toml_of(value: &Value) -> toml::Value {
    match value {
        Value::Flag(flag) => (*flag).into(),
        Value::Number(x) if x.fract() == 0.0 && x.abs() < 9e15 => (*x as i64).into(),
        Value::Number(x) => (*x).into(),
        Value::Text(text) | Value::Other(text) => text.as_str().into(),
        Value::List(items) => toml::Value::Array(items.iter().map(toml_of).collect()),
        Value::Fields(fields) => {
            toml::Value::Table(fields.iter().map(|(name, value)| (name.clone(), toml_of(value))).collect())
        }
    }
}
