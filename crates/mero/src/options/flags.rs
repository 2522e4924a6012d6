//! The options of a training run as flags. Arguments, help texts and values come from the option table of `train`.

use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches};

use crate::{Answer, Failure};
use meromorph::error::Error;
use meromorph::files::Table;
use meromorph::options::{Entry, Given, Kind, Naming, Value};
use meromorph::run::{OPTIONS, Run, SplitTable, TrainOptions};

/// Which options a command has.
pub(crate) trait Selection {
    /// Whether it has the option `name` of `group`.
    fn has(group: &str, name: &str) -> bool;
}

/// All options: for a command that reads a table with a target.
#[derive(Clone)]
pub(crate) struct All;

/// All options except those of columns and rows.
#[derive(Clone)]
pub(crate) struct Model;

/// Options that change the cost of a step.
#[derive(Clone)]
pub(crate) struct Step;

const COLUMNS: &str = "Columns and rows";

impl Selection for All {
    fn has(_: &str, _: &str) -> bool {
        true
    }
}

impl Selection for Model {
    fn has(group: &str, _: &str) -> bool {
        group != COLUMNS
    }
}

impl Selection for Shape {
    fn has(_: &str, name: &str) -> bool {
        ["hidden", "activation"].contains(&name)
    }
}

impl Selection for Step {
    fn has(_: &str, name: &str) -> bool {
        ["hidden", "activation", "loss", "optimizer", "batch", "head"].contains(&name)
    }
}

/// Options that change the shape of a plain model.
#[derive(Clone)]
pub(crate) struct Shape;

/// The options given on the command line.
pub(crate) struct Flags<S> {
    given: Vec<Given<TrainOptions>>,
    selection: PhantomData<S>,
}

/// The group of all options except the target.
pub(crate) const GROUP: &str = "TrainOptions";
/// The option that is not in the group.
pub(crate) const TARGET: &str = "target";

impl<S: Selection> Flags<S> {
    /// `options` with the given values. Errors are usage errors.
    pub(crate) fn apply(&self, mut options: TrainOptions) -> Answer<TrainOptions> {
        let applied = OPTIONS.apply(&mut options, &self.given, Naming::Command).and_then(|()| options.check());
        applied.map_err(|error| refused(&error))?;
        Ok(options)
    }

    /// The value of an option, if it was given and is a string.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let (_, value) = self.given.iter().find(|(entry, _)| entry.name == name)?;
        if let Value::Text(text) = value { Some(text) } else { None }
    }

    /// Whether an option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(entry, _)| entry.name == name)
    }

    fn entries() -> impl Iterator<Item = (&'static str, &'static Entry<TrainOptions>)> {
        let all = OPTIONS.groups.iter().flat_map(|group| (group.entries)().iter().map(|entry| (group.title, entry)));
        all.filter(|(group, entry)| S::has(group, entry.name))
    }
}

impl<S: Selection> Args for Flags<S> {
    fn augment_args(command: Command) -> Command {
        let ids = Self::entries().map(|(_, entry)| entry.name).filter(|name| *name != TARGET);
        let group = ArgGroup::new(GROUP).multiple(true).args(ids);
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

/// An option as an argument of a command.
fn argument(entry: &'static Entry<TrainOptions>) -> Arg {
    let spelled = |name: &str| Naming::Command.of(name);
    let default = entry.default_text(Naming::Command);
    let default = if default.is_empty() { default } else { format!(" [default: {default}]") };
    let help = Naming::Command.filled(entry.doc) + &default;
    let argument = Arg::new(entry.name)
        .long(spelled(entry.name))
        .aliases(entry.aliases.iter().map(|alias| spelled(alias)))
        .action(ArgAction::Set);
    let argument = match &entry.kind {
        Kind::Flag => argument.action(ArgAction::SetTrue),
        Kind::Number(_) => argument.value_name("X"),
        Kind::Whole { .. } => argument.value_name("N"),
        Kind::Name(names) => {
            let values = names().into_iter().map(|(name, doc)| PossibleValue::new(name).help(doc));
            argument.value_name("NAME").value_parser(PossibleValuesParser::new(values))
        }
        Kind::Formula(names) => {
            let rows: String = names().iter().map(|(name, doc)| format!("\n  {name:<14} {doc}")).collect();
            argument.value_name("NAME|FORMULA").long_help(format!("{help}{rows}"))
        }
        Kind::Text(what) => argument.value_name(if what.contains("column") { "COLUMN" } else { "TEXT" }),
        Kind::Texts => argument.value_name("A,B").action(ArgAction::Append),
        Kind::Wholes { length: None } => argument.value_name("N,N,N"),
        Kind::Wholes { length: Some(_) } => argument.value_name("N,N"),
        Kind::Fields { .. } => argument.value_name("NAME=VALUE").action(ArgAction::Append),
    };
    let argument = if entry.name == TARGET { argument.required_unless_present("resume") } else { argument };
    argument.help(help)
}

/// The value of an option, if it was given. Repeated lists are joined, and so are repeated objects.
pub(crate) fn value(entry: &Entry<TrainOptions>, matches: &ArgMatches) -> Option<Value> {
    if let Kind::Flag = entry.kind {
        return matches.get_flag(entry.name).then_some(Value::Flag(true));
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
