//! The words of the command line before clap reads them, and what is added to clap's messages.

use std::borrow::Cow;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use meromorph::error::similar;
use meromorph::run::absent;

/// The words of a command line, the program's name first.
pub(super) struct Line {
    pub words: Vec<OsString>,
}

impl Line {
    /// A negative number is joined to the option before it: `--lr -1` becomes `--lr=-1`. The parser would take `-1` for an option of its own;
    /// the option's range check has the better message.
    pub(super) fn of(arguments: impl Iterator<Item = OsString>) -> Self {
        let mut words: Vec<OsString> = Vec::new();
        for argument in arguments {
            let is_open = |last: &&mut OsString| {
                let last = last.to_string_lossy();
                last.len() > 2 && last.starts_with("--") && !last.contains('=')
            };
            match words.last_mut().filter(is_open) {
                Some(option) if is_negative(&argument.to_string_lossy()) => {
                    option.push("=");
                    option.push(argument);
                }
                _ => words.push(argument),
            }
        }
        Self { words }
    }

    /// The words that may be options: those after the program's name and before `--`.
    pub(super) fn options(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.words.iter().skip(1).map(|word| word.to_string_lossy()).take_while(|word| word != "--")
    }

    /// Whether the flag `--name` is given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options().any(|word| word.strip_prefix("--") == Some(name))
    }

    /// The value of `--name VALUE` or `--name=VALUE`.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        let mut words = self.options();
        while let Some(word) = words.next() {
            match word.strip_prefix("--").and_then(|word| word.strip_prefix(name)) {
                Some("") => return words.next().map(Cow::into_owned),
                Some(rest) if rest.starts_with('=') => return Some(rest[1..].to_owned()),
                _ => {}
            }
        }
        None
    }

    /// The command that the words name.
    pub(super) fn command<'a>(&self, root: &'a Command) -> Named<'a> {
        let mut named = Named { name: String::new(), command: root, end: 1 };
        for (at, word) in self.options().enumerate() {
            let Some(command) = named.command.find_subcommand(&*word) else { continue };
            let name = if named.name.is_empty() { word.into_owned() } else { named.name };
            named = Named { name, command, end: at + 2 };
        }
        named
    }
}

/// A command of a line.
pub(super) struct Named<'a> {
    /// Its name; of `bench mlp`, the first part. Empty if no command is named.
    pub name: String,
    /// The command, of `bench mlp` the last.
    pub command: &'a Command,
    /// The position of the word after its name.
    pub end: usize,
}

/// `-1`, `-.5`, `-inf` or a list that begins so.
fn is_negative(text: &str) -> bool {
    let number = text.strip_prefix('-').unwrap_or_default().to_ascii_lowercase();
    number.starts_with(|c: char| c.is_ascii_digit() || c == '.') || ["inf", "infinity", "nan"].contains(&&*number)
}

/// A message of clap about `words` without its first word, in plain words.
pub(super) fn message(error: &clap::Error, root: &Command, words: &[OsString]) -> String {
    if let Some(known) = conflict(error, words).or_else(|| missing_option(error, words)) {
        return known;
    }
    let text = error.render().to_string();
    let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    // The standard library's words for a text that is not a whole number.
    guessed(message.replace("invalid digit found in string", "expected a whole number of at least 0"), root)
}

/// The message about an option of training that other programs have: what to do instead.
fn missing_option(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_training = words.iter().skip(1).any(|word| word == "train");
    let name = option.strip_prefix("--").filter(|_| is_training && error.kind() == ErrorKind::UnknownArgument)?;
    let message = absent(&name.split('=').next().unwrap_or(name).replace('-', "_"))?;
    Some(format!("{option}: {message}"))
}

/// The message about an option that conflicts with a group of others: clap lists them all, this names those that are given.
fn conflict(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let Some(ContextValue::Strings(others)) = error.get(ContextKind::PriorArg) else { return None };
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let name = |text: &str| text.split([' ', '=']).next().unwrap_or_default().to_owned();
    let given: Vec<String> = words.iter().map(|word| name(&word.to_string_lossy())).collect();
    let others: Vec<String> = others.iter().map(|other| name(other)).filter(|other| given.contains(other)).collect();
    (!others.is_empty()).then(|| format!("{} cannot be used with {}", name(option), others.join(", ")))
}

/// The message about an unknown command with a guess, which clap does not add to `mero help trian`.
fn guessed(message: String, root: &Command) -> String {
    let unknown = message.strip_prefix("unrecognized subcommand '").and_then(|rest| rest.split_once('\''));
    let Some((name, rest)) = unknown.filter(|_| !message.contains("similar")) else { return message };
    match similar(name, root.get_subcommands().map(Command::get_name)) {
        Some(known) => {
            format!("unrecognized subcommand '{name}'\n\n  tip: a similar subcommand exists: '{known}'{rest}")
        }
        None => message,
    }
}
