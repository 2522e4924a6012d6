//! The options of a task as flags. Arguments, help texts and values come from the task's table of options.

use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches};

use crate::terminal::shell::quoted_option;
use crate::{Answer, Failure};
use meromorph::contrast::{self, ContrastOptions};
use meromorph::error::Error;
use meromorph::files::Format;
use meromorph::files::Table;
use meromorph::fit::{self, FitOptions};
use meromorph::options::{Entry, Given, Kind, Naming, Table as OptionTable, Value};
use meromorph::profile::{self, ProfileOptions};
use meromorph::run::{OPTIONS, PREDICTING, Predicting, READING, Run, SplitTable, TrainOptions};

/// A task whose options are a table.
pub(crate) trait Task: Sized + 'static {
    /// Its options.
    const TABLE: &'static OptionTable<Self>;
    /// The group of all of them in a command, without the target of training.
    const GROUP: &'static str;
}

impl Task for TrainOptions {
    const TABLE: &'static OptionTable<Self> = &OPTIONS;
    const GROUP: &'static str = TRAINING;
}

impl Task for FitOptions {
    const TABLE: &'static OptionTable<Self> = &fit::OPTIONS;
    const GROUP: &'static str = "FitOptions";
}

impl Task for Format {
    const TABLE: &'static OptionTable<Self> = &READING;
    const GROUP: &'static str = TEXT;
}

impl Task for Predicting {
    const TABLE: &'static OptionTable<Self> = &PREDICTING;
    const GROUP: &'static str = "Predicting";
}

impl Task for ContrastOptions {
    const TABLE: &'static OptionTable<Self> = &contrast::OPTIONS;
    const GROUP: &'static str = "ContrastOptions";
}

impl Task for ProfileOptions {
    const TABLE: &'static OptionTable<Self> = &profile::OPTIONS;
    const GROUP: &'static str = "ProfileOptions";
}

/// Which options of a task a command has.
pub(crate) trait Selection {
    /// The task.
    type Of: Task;

    /// Whether it has the option `name` of `group`.
    fn has(group: &str, name: &str) -> bool;
}

/// How a table of text is written, without the header: a command has `--header` and `--no-header`.
#[derive(Clone)]
pub(crate) struct Text;

impl Selection for Text {
    type Of = Format;

    fn has(_: &str, name: &str) -> bool {
        name != HEADER
    }
}

/// All options of a task.
#[derive(Clone)]
pub(crate) struct Every<T>(PhantomData<T>);

impl<T: Task> Selection for Every<T> {
    type Of = T;

    fn has(_: &str, _: &str) -> bool {
        true
    }
}

/// All options of training: for a command that reads a table with a target.
pub(crate) type All = Every<TrainOptions>;

/// All options except those of columns and rows.
#[derive(Clone)]
pub(crate) struct Model;

/// Options that change the cost of a step.
#[derive(Clone)]
pub(crate) struct Step;

const COLUMNS: &str = "Columns and rows";

impl Selection for Model {
    type Of = TrainOptions;

    fn has(group: &str, _: &str) -> bool {
        group != COLUMNS
    }
}

impl Selection for Shape {
    type Of = TrainOptions;

    fn has(_: &str, name: &str) -> bool {
        ["hidden", "activation"].contains(&name)
    }
}

impl Selection for Step {
    type Of = TrainOptions;

    fn has(_: &str, name: &str) -> bool {
        ["hidden", "activation", "loss", "optimizer", "batch", "head"].contains(&name)
    }
}

/// Options that change the shape of a plain model.
#[derive(Clone)]
pub(crate) struct Shape;

/// The options given on the command line.
pub(crate) struct Flags<S: Selection> {
    given: Vec<Given<S::Of>>,
    selection: PhantomData<S>,
}

impl<S: Selection> Clone for Flags<S> {
    fn clone(&self) -> Self {
        Self { given: self.given.clone(), selection: PhantomData }
    }
}

/// The group of all options of training except the target.
pub(crate) const TRAINING: &str = "TrainOptions";
/// The group of the options of how a table of text is written.
pub(crate) const TEXT: &str = "Format";
/// The option of texts for a missing cell.
const MISSING_TEXTS: &str = "na";
/// The option of reading that is two flags here.
pub(crate) const HEADER: &str = "header";
/// The option that is not in the group.
pub(crate) const TARGET: &str = "target";

impl<S: Selection<Of = TrainOptions>> Flags<S> {
    /// `options` with the given values, which fit together. Errors are usage errors.
    pub(crate) fn checked(&self, options: TrainOptions) -> Answer<TrainOptions> {
        let options = self.apply(options)?;
        options.check().map_err(|error| refused(&error))?;
        Ok(options)
    }
}

impl<S: Selection> Flags<S> {
    /// `options` with the given values. Errors are usage errors.
    pub(crate) fn apply(&self, mut options: S::Of) -> Answer<S::Of> {
        S::Of::TABLE.apply(&mut options, &self.given, Naming::Command).map_err(|error| refused(&error))?;
        Ok(options)
    }

    /// The value of an option, if it was given and is a string.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let (_, value) = self.given.iter().find(|(entry, _)| entry.name == name)?;
        if let Value::Text(text) = value { Some(text) } else { None }
    }

    /// The names of the options that were given.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.given.iter().map(|(entry, _)| entry.name)
    }

    /// The given options as words of a command line.
    pub(crate) fn words(&self) -> impl Iterator<Item = String> {
        self.given.iter().map(|(entry, value)| {
            let name = entry.shown(Naming::Command);
            if matches!(entry.kind, Kind::Flag | Kind::Switch) {
                return name;
            }
            // Lists and fields are plain words for every shell.
            let text = plain(value);
            let is_plain = text.chars().all(|c| c.is_alphanumeric() || ",=._".contains(c));
            if is_plain && !text.is_empty() { format!("{name} {text}") } else { name + &quoted_option(&text) }
        })
    }

    /// Whether an option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(entry, _)| entry.name == name)
    }

    fn entries() -> impl Iterator<Item = (&'static str, &'static Entry<S::Of>)> {
        let all =
            S::Of::TABLE.groups.iter().flat_map(|group| (group.entries)().iter().map(|entry| (group.title, entry)));
        all.filter(|(group, entry)| S::has(group, entry.name))
    }
}

impl<S: Selection> Args for Flags<S> {
    fn augment_args(command: Command) -> Command {
        let ids = Self::entries().map(|(_, entry)| entry.name).filter(|name| *name != TARGET);
        let group = ArgGroup::new(S::Of::GROUP).multiple(true).args(ids);
        command.args(Self::entries().map(|(group, entry)| argument(entry).help_heading(group))).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Selection> FromArgMatches for Flags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = Self::entries().filter_map(|(_, entry)| Some((entry, value(entry, matches)?))).collect();
        Ok(Self { given, selection: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The kind of an option of a command that comes from a table.
pub(crate) fn kind(command: &Command, option: &Arg) -> Option<&'static Kind> {
    let kind = kind_in::<TrainOptions>(command, option).or_else(|| kind_in::<FitOptions>(command, option));
    let kind = kind.or_else(|| kind_in::<Format>(command, option));
    let kind = kind.or_else(|| kind_in::<ContrastOptions>(command, option));
    kind.or_else(|| kind_in::<Predicting>(command, option)).or_else(|| kind_in::<ProfileOptions>(command, option))
}

fn kind_in<T: Task>(command: &Command, option: &Arg) -> Option<&'static Kind> {
    let id = option.get_id();
    let has = |group: &ArgGroup| group.get_id() == T::GROUP && (id == TARGET || group.get_args().any(|arg| arg == id));
    let is_here = command.get_groups().any(has);
    T::TABLE.entries().find(|entry| is_here && id == entry.name).map(|entry| &entry.kind)
}

/// An option as an argument of a command.
fn argument<T>(entry: &'static Entry<T>) -> Arg {
    let spelled = |name: &str| Naming::Command.of(name);
    let default = entry.default_text(Naming::Command);
    let is_off = matches!(entry.kind, Kind::Flag | Kind::Switch);
    let default = if default.is_empty() || is_off { String::new() } else { format!(" [default: {default}]") };
    let help = entry.described(Naming::Command) + &default;
    let argument = Arg::new(entry.name)
        .long(entry.shown(Naming::Command).trim_start_matches('-').to_owned())
        .aliases(entry.aliases.iter().map(|alias| spelled(alias)))
        .action(ArgAction::Set);
    let argument = match &entry.kind {
        Kind::Flag | Kind::Switch => argument.action(ArgAction::SetTrue),
        Kind::Number(_) | Kind::Double(_) => argument.value_name("X"),
        Kind::Whole { .. } => argument.value_name("N"),
        Kind::Name(names) => {
            let values = names().into_iter().map(|(name, doc)| PossibleValue::new(name).help(doc));
            argument.value_name("NAME").value_parser(PossibleValuesParser::new(values))
        }
        Kind::Formula(names) => {
            let rows: String = names().iter().map(|(name, doc)| format!("\n  {name:<14} {doc}")).collect();
            argument.value_name("NAME|FORMULA").long_help(format!("{help}{rows}"))
        }
        Kind::Text(what) if what.starts_with("a formula") => argument.value_name("FORMULA"),
        Kind::Text(what) => argument.value_name(if what.contains("column") { "COLUMN" } else { "TEXT" }),
        // Texts for a missing cell may begin with a dash.
        Kind::Texts => {
            argument.value_name("A,B").action(ArgAction::Append).allow_hyphen_values(entry.name == MISSING_TEXTS)
        }
        Kind::Wholes { length: None } => argument.value_name("N,N,N"),
        Kind::Wholes { length: Some(_) } => argument.value_name("N,N"),
        Kind::Fields { .. } => argument.value_name("NAME=VALUE").action(ArgAction::Append),
        Kind::Numbers => argument.value_name("a=1,b=0.1").action(ArgAction::Append).allow_hyphen_values(true),
        Kind::Ranges => argument.value_name("a=0:10,b=:5").action(ArgAction::Append).allow_hyphen_values(true),
    };
    let argument = if entry.name == TARGET { argument.required_unless_present("resume") } else { argument };
    argument.help(help)
}

/// The value of an option, if it was given. Repeated lists are joined, and so are repeated objects.
pub(crate) fn value<T>(entry: &Entry<T>, matches: &ArgMatches) -> Option<Value> {
    if let Kind::Flag | Kind::Switch = entry.kind {
        return matches.get_flag(entry.name).then(|| entry.kind.parse(""));
    }
    let values = matches.get_many::<String>(entry.name)?.map(|text| entry.kind.parse(text));
    values.reduce(|all, next| match (all, next) {
        (Value::List(mut all), Value::List(next)) => {
            all.extend(next);
            Value::List(all)
        }
        (Value::Fields(mut all), Value::Fields(next)) => {
            all.extend(next);
            Value::Fields(all)
        }
        // Keeps a value that could not be parsed, for its message.
        (Value::List(_) | Value::Fields(_), next) => next,
        (all, _) => all,
    })
}

/// A value as it is typed.
fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::List(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::Fields(fields) => {
            let field = |(name, value): &(String, Value)| format!("{name}={}", plain(value));
            fields.iter().map(field).collect::<Vec<_>>().join(",")
        }
        other => other.shown(),
    }
}

/// Splits and encodes a table. Options that do not fit it are usage errors.
pub(crate) fn prepare(options: &TrainOptions, table: &Table) -> Answer<Run> {
    encode(options, table, SplitTable::new(table, &options.choice, options.fractions, options.seed)?)
}

/// Encodes a split table.
pub(crate) fn encode(options: &TrainOptions, table: &Table, split: SplitTable) -> Answer<Run> {
    let (spec, config) = options.resolve(&split).map_err(|error| refused(&error))?;
    Ok(split.run(table, spec, config)?)
}

/// A usage error of a command; the caller adds the command's name.
pub(crate) fn refused(error: &Error) -> Failure {
    let message = error.to_string();
    Failure::usage(message.strip_prefix("train: ").unwrap_or(&message))
}
