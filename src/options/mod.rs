//! Options as data: one table per task names every option once, with its type, range, default and one-line doc. The command's flags and
//! help, the reader of JavaScript objects, the TypeScript types and the tables in the documents are made from it.

mod document;
mod elsewhere;
mod kind;
mod naming;
mod python;
mod value;

pub use document::{markdown, rows, typescript};
pub use kind::{Kind, Names, Range, names};
pub use naming::Naming;
pub use python::{python_arguments, python_document, python_fields};
pub use value::Value;

use crate::error::{Error, Result, similar};
use crate::host::number;

/// The options of a task that fill a `T`.
pub struct Table<T: 'static> {
    /// Groups of options in the order in which they are shown and applied.
    pub groups: &'static [Group<T>],
}

/// Options that belong together.
pub struct Group<T: 'static> {
    /// Heading in help texts and documents.
    pub title: &'static str,
    /// The options.
    pub entries: fn() -> &'static [Entry<T>],
}

/// One option.
pub struct Entry<T: 'static> {
    /// Name in snake case; [`Naming`] gives the form that each face shows.
    pub name: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// Type and range.
    pub kind: Kind,
    /// What it does, in one sentence without a full stop; `{name}` as in `default`.
    pub doc: &'static str,
    /// The default in words, with `{name}` where the name of an option goes; empty where there is none.
    default: Default,
    /// What else has to be set for this option to have an effect.
    pub needs: Option<Need<T>>,
    /// How its value is stored.
    set: Set<T>,
}

/// A default in words.
enum Default {
    Text(&'static str),
    From(fn() -> String),
    Number(f32),
}

/// Stores a value that [`Kind::check`] has accepted.
enum Set<T: 'static> {
    Missing,
    Always(fn(&mut T, &Value)),
    Fallible(fn(&mut T, &Value) -> Result<()>),
    Named(fn(&mut T, &'static str, &Value) -> Result<()>),
}

/// A condition without which an option would have no effect.
pub struct Need<T: 'static> {
    /// Whether options applied so far meet it.
    pub is_met: fn(&T) -> bool,
    /// What to set, with `{name}` where the name of an option goes.
    pub remedy: &'static str,
}

/// An option that a caller gave: its entry, and its value as given.
pub type Given<T> = (&'static Entry<T>, Value);

impl<T> Entry<T> {
    /// An option without a default, aliases or conditions, to be completed by `set` or `try_set`.
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, aliases: &[], kind, doc, default: Default::Text(""), needs: None, set: Set::Missing }
    }

    /// The same option with the function that stores its value.
    #[must_use]
    pub const fn set(self, set: fn(&mut T, &Value)) -> Self {
        Self { set: Set::Always(set), ..self }
    }

    /// The same option with a function that stores its value or refuses it.
    #[must_use]
    pub const fn try_set(self, set: fn(&mut T, &Value) -> Result<()>) -> Self {
        Self { set: Set::Fallible(set), ..self }
    }

    /// The same option with a function that stores a value by the option's name.
    #[must_use]
    pub const fn set_by_name(self, set: fn(&mut T, &'static str, &Value) -> Result<()>) -> Self {
        Self { set: Set::Named(set), ..self }
    }

    /// The same option with a number as its default.
    #[must_use]
    pub const fn default_number(self, default: f32) -> Self {
        Self { default: Default::Number(default), ..self }
    }

    /// The same option with a default in words.
    #[must_use]
    pub const fn default(self, text: &'static str) -> Self {
        Self { default: Default::Text(text), ..self }
    }

    /// The same option with a default that follows from constants.
    #[must_use]
    pub const fn default_from(self, text: fn() -> String) -> Self {
        Self { default: Default::From(text), ..self }
    }

    /// The default in words, with names as a face shows them; empty where there is none.
    pub fn default_text(&self, naming: Naming) -> String {
        match self.default {
            // The flag that switches it off is not given.
            _ if matches!(self.kind, Kind::Switch) && naming == Naming::Command => "false".into(),
            Default::Text(text) => naming.filled(text),
            Default::From(text) => naming.filled(&text()),
            Default::Number(default) => number(default).to_string(),
        }
    }

    /// Its name as a message of a face shows it: `--max-evaluations`, `--no-recovery`, `maxEvaluations`.
    pub fn shown(&self, naming: Naming) -> String {
        match (&self.kind, naming) {
            (Kind::Switch, Naming::Command) => format!("--no-{}", naming.of(self.name)),
            _ => naming.shown(self.name),
        }
    }

    /// What it does, in a sentence without a full stop, with the names of options as a face shows them.
    pub fn described(&self, naming: Naming) -> String {
        let doc = naming.filled(self.doc);
        match (&self.kind, naming) {
            (Kind::Switch, Naming::Command) => {
                format!("Do not {}{}", doc[..1].to_ascii_lowercase(), &doc[1..])
            }
            _ => doc,
        }
    }

    /// The same option with other names that are accepted.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// The same option with a condition.
    #[must_use]
    pub const fn needs(self, is_met: fn(&T) -> bool, remedy: &'static str) -> Self {
        Self { needs: Some(Need { is_met, remedy }), ..self }
    }
}

impl<T> Table<T> {
    /// All options in order.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry<T>> + use<T> {
        self.groups.iter().flat_map(|group| (group.entries)())
    }

    /// The option called `name` in snake case, which the table has.
    #[track_caller]
    pub fn entry(&self, name: &str) -> &'static Entry<T> {
        self.entries().find(|entry| entry.name == name).unwrap_or_else(|| panic!("no option is called {name}"))
    }

    /// The option that a caller means by `name`, which may be an alias. Errors suggest a similar name, or list all of them.
    pub fn find(&self, name: &str, naming: Naming) -> Result<&'static Entry<T>> {
        let is_it = |known: &&str| naming.of(known) == name;
        let found = self.entries().find(|entry| is_it(&entry.name) || entry.aliases.iter().any(is_it));
        found.ok_or_else(|| {
            let names: Vec<String> = self.entries().map(|entry| naming.of(entry.name)).collect();
            // The name or an alias as it is written elsewhere: with underscores.
            let meant = self.entries().find(|entry| entry.name == name || entry.aliases.contains(&name));
            let meant =
                meant.or_else(|| self.entries().find(|entry| elsewhere::meant(name).any(|known| known == entry.name)));
            let near = match meant {
                Some(entry) => Some(naming.of(entry.name)),
                None => similar(name, names.iter().map(String::as_str)).map(str::to_owned),
            };
            let hint = match near {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("expected one of {}", names.join(", ")),
            };
            Error::usage(format!("option \"{name}\" is unknown: {hint}"))
        })
    }

    /// Checks the given options and stores them in `options`, in the table's order whatever the order of `given`. Errors name the option as
    /// the caller's face does.
    pub fn apply(&self, options: &mut T, given: &[Given<T>], naming: Naming) -> Result<()> {
        for entry in self.entries() {
            let mut values = given.iter().filter(|(known, _)| known.name == entry.name).map(|(_, value)| value);
            let Some(value) = values.next() else { continue };
            let name = entry.shown(naming);
            if values.next().is_some() {
                return Err(Error::usage(format!("{name} is given twice")));
            }
            entry.kind.check(value, &name, naming)?;
            // A flag that is off needs nothing.
            let need = entry.needs.as_ref().filter(|need| *value != Value::Flag(false) && !(need.is_met)(options));
            if let Some(need) = need {
                return Err(Error::usage(format!("{name} has no effect without {}", naming.filled(need.remedy))));
            }
            match entry.set {
                Set::Always(set) => set(options, value),
                Set::Fallible(set) => set(options, value)?,
                Set::Named(set) => set(options, entry.name, value)?,
                Set::Missing => panic!("option {} has no function that stores it", entry.name),
            }
        }
        Ok(())
    }

    /// Refuses a number that the option called `name` does not accept.
    #[track_caller]
    pub fn check_number(&self, name: &str, value: f64) -> Result<()> {
        self.entry(name).kind.check(&Value::Number(value), name, Naming::Rust)
    }
}

#[cfg(test)]
mod tests;
