//! Chooses columns, their roles, the usable rows and the task. Done once, before any statistics.

use super::commas;
use super::feature::{CATEGORY_ENCODINGS, Role};
use super::missing::{self, Missing, MissingReport};
use super::named;
use super::target::{self, Quantity, Task};
use super::{texts, unread};
use crate::error::{Error, Result, unknown_name};
use crate::files::DateOrder;
use crate::files::cells::Texts;
use crate::files::moment;
use crate::files::text::reading::Warning;
use crate::files::{Cells, Column, Table};
use crate::record;

/// The user's choices. Only the target is required.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// The target column.
    pub target: String,
    /// The other target columns, if each holds the share of a class.
    pub more_targets: Vec<String>,
    /// The feature columns, in this order; all columns except the target if absent.
    pub features: Option<Vec<String>>,
    /// Columns to ignore.
    pub ignore: Vec<String>,
    /// Columns of numbers to be used as categories; a target among them is a class.
    pub categorical: Vec<String>,
    /// Columns of categories with an encoding of their own.
    pub encodings: Vec<ColumnEncoding>,
    /// The classes of the target in their order; numbers by size and texts by their letters if empty.
    pub classes: Vec<String>,
    /// Columns that must be numbers: a text in one is an error, not a category.
    pub numeric: Vec<String>,
    /// The task; decided by the target if absent.
    pub task: Option<Task>,
    /// Handling of rows with missing cells.
    pub missing: Missing,
    /// Whether an infinite target is a value (a pole of the function) and not a missing one.
    pub has_poles: bool,
    /// What the numbers of the target are.
    pub quantity: Quantity,
    /// A column whose equal cells keep their rows in the same part of the split.
    pub group: Option<String>,
    /// A column in whose order rows are split: the last ones are for testing.
    pub time: Option<String>,
    /// Seed of the split; the run's own if absent.
    pub split_seed: Option<u64>,
    /// The order of day, month and year in dates that could have several.
    pub date_order: Option<DateOrder>,
    /// Most bins of a column of numbers, 0 for none; by the size of the table if absent.
    pub bins: Option<usize>,
}

record! {
    Choice {
        target, features, ignore, categorical, numeric, task, missing, has_poles = false, group = None, time = None, split_seed = None,
        bins = Some(0), quantity = Quantity::Measure, more_targets = Vec::new(), date_order = None,
        classes = Vec::new(), encodings = Vec::new()
    }
}

/// The encoding of a column of categories.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnEncoding {
    /// The column.
    pub column: String,
    /// The name of the encoding, one of [`CATEGORY_ENCODINGS`](super::CATEGORY_ENCODINGS).
    pub encoding: String,
}

record! { ColumnEncoding { column, encoding } }

impl Choice {
    /// Whether a column is to be a category.
    fn names_category(&self, name: &str) -> bool {
        let has_encoding = self.encodings.iter().any(|named| named.column == name);
        has_encoding || self.categorical.iter().any(|listed| listed == name)
    }

    /// Whether missing cells are filled in.
    pub fn fills(&self) -> bool {
        self.missing == Missing::Impute || self.missing == Missing::Usual && !self.has_poles
    }
}

/// The chosen columns, rows and task. Columns are positions in the table.
#[derive(Clone, Debug)]
pub struct ColumnRoles {
    /// The target column.
    pub target: usize,
    /// The other target columns, if each holds the share of a class.
    pub more_targets: Vec<usize>,
    /// The feature columns, each with its role.
    pub features: Vec<(usize, Role)>,
    /// The usable rows, in order.
    pub rows: Vec<u32>,
    /// The task: classification for a target of text, or of at most 20 distinct integers with 5 rows each on average.
    pub task: Task,
    /// The reason for the task, in words.
    pub reason: String,
    /// Whether missing cells are filled in.
    pub fills: bool,
    /// Whether an infinite target is a value.
    pub has_poles: bool,
    /// What the numbers of the target are.
    pub quantity: Quantity,
    /// Most bins of a column of numbers.
    pub bins: usize,
    /// The column of groups.
    pub group: Option<usize>,
    /// The column of time.
    pub time: Option<usize>,
    /// The order of day, month and year in dates that could have several.
    pub date_order: Option<DateOrder>,
    /// Columns of categories with an encoding of their own.
    pub encodings: Vec<ColumnEncoding>,
    /// The classes of the target in their order, if they are given.
    pub classes: Vec<String>,
    /// What is to be said of the columns that nothing can be learnt from, which are left out.
    pub left_out: Vec<Warning>,
    /// Counts of dropped rows and of cells that will be filled in.
    pub report: MissingReport,
}

/// Applies a choice to a table. Errors on unknown and contradictory names, columns without values, a constant target.
pub fn choose(table: &Table, choice: &Choice) -> Result<ColumnRoles> {
    let choice = &*named::expanded(table, choice);
    let target = target_position(table, choice)?;
    table.readable(&choice.target)?;
    let more_targets = more_targets(table, choice)?;
    let encoded = choice.encodings.iter().map(|named| &named.column);
    for name in [&choice.ignore, &choice.categorical, &choice.numeric].into_iter().flatten().chain(encoded) {
        table.position(name)?;
    }
    let (names, left_out) = feature_names(table, choice)?;
    check_encodings(choice, &names)?;
    let positions = names.iter().map(|name| table.readable(name)).collect::<Result<Vec<_>>>()?;
    let roles = names.iter().map(|name| role(table, choice, name)).collect::<Result<Vec<_>>>()?;
    let features: Vec<(usize, Role)> = positions.into_iter().zip(roles).collect();
    let task_given = task(table, choice)?;
    let target_role = if task_given == Some(Task::Classification) { Role::Category } else { Role::Number };
    let targets: Vec<(usize, Role)> = [target].iter().chain(&more_targets).map(|at| (*at, target_role)).collect();
    let (fills, has_poles) = (choice.fills(), choice.has_poles);
    let (rows, report) = missing::usable(table, &features, &targets, fills, has_poles)?;
    let (task, reason) = match choice.quantity {
        // A class may have the same share in every row.
        Quantity::Share => (Task::Regression, "the target columns hold shares of classes".into()),
        _ => target::decide(table, &table.columns()[target], &rows, task_given)?,
    };
    let [group, time] = [&choice.group, &choice.time].map(|name| name.as_ref().map(|name| table.readable(name)));
    let (group, time) = (group.transpose()?, time.transpose()?);
    if let Some((at, _)) = targets.iter().find(|(at, _)| [group, time].contains(&Some(*at))) {
        let name = &table.columns()[*at].name;
        return Err(Error::usage(format!("column \"{name}\" is the target; rows cannot be split by it")));
    }
    if group.is_some() && time.is_some() {
        return Err(Error::usage("rows are split by group or by time, not by both"));
    }
    let bins = choice.bins.unwrap_or_else(|| usual_bins(choice, &features, rows.len()));
    let quantity = choice.quantity;
    Ok(ColumnRoles {
        target,
        more_targets,
        features,
        rows,
        task,
        reason,
        fills,
        has_poles,
        quantity,
        bins,
        group,
        time,
        date_order: choice.date_order,
        classes: choice.classes.clone(),
        encodings: choice.encodings.clone(),
        left_out,
        report,
    })
}

/// Errors unless each column with an encoding of its own is one of these features, once, and there is such an encoding.
fn check_encodings(choice: &Choice, features: &[impl AsRef<str>]) -> Result<()> {
    for (at, ColumnEncoding { column, encoding }) in choice.encodings.iter().enumerate() {
        if !CATEGORY_ENCODINGS.iter().any(|(name, _, _)| name == encoding) {
            let names: Vec<&str> = CATEGORY_ENCODINGS.iter().map(|(name, _, _)| *name).collect();
            return Err(unknown_name("encode", encoding, &names, ""));
        }
        if *column == choice.target {
            return Err(Error::usage(format!("encode: column \"{column}\" is the target; expected a feature")));
        }
        if !features.iter().any(|name| name.as_ref() == column) {
            return Err(Error::usage(format!("encode: column \"{column}\" is not used; expected a feature")));
        }
        if choice.encodings[..at].iter().any(|other| other.column == *column) {
            return Err(Error::usage(format!("encode: got column \"{column}\" twice, expected it once")));
        }
    }
    Ok(())
}

/// The position of the target. Errors if there is none of its name, and says of several that one is learnt at a time.
fn target_position(table: &Table, choice: &Choice) -> Result<usize> {
    let target = &choice.target;
    let parts: Vec<&str> = target.split(',').map(str::trim).collect();
    if table.find(target).is_none() && parts.len() > 1 && parts.iter().all(|part| table.find(part).is_some()) {
        let (count, first, others) = (parts.len(), parts[0], parts[1..].join(","));
        return Err(Error::usage(format!(
            "target: got {count} columns, which are not learnt at once yet: train a model for each, such as target {first} with ignore {others}"
        )));
    }
    table.position(target)
}

/// Bins of each column of numbers, by measurement on some forty tables: fewer if a table is wide or long, so that its inputs fit the memory
/// of a browser, and none for a function with poles, which is to be smooth between them.
fn usual_bins(choice: &Choice, features: &[(usize, Role)], rows: usize) -> usize {
    const MOST: usize = 16;
    const MOST_INPUTS: usize = 2048;
    const MOST_VALUES: usize = 1 << 26;
    let numbers = features.iter().filter(|(_, role)| *role != Role::Category).count().max(1);
    if choice.has_poles { 0 } else { MOST.min(MOST_INPUTS / numbers).min(MOST_VALUES / numbers / rows) }
}

/// The features, and what is to be said of the columns that are left out because nothing can be learnt from them.
fn feature_names<'a>(table: &'a Table, choice: &'a Choice) -> Result<(Vec<&'a str>, Vec<Warning>)> {
    let mut ignored = Texts::new();
    choice.ignore.iter().for_each(|name| _ = ignored.insert(name.clone(), 0));
    let is_ignored = |name: &str| ignored.contains_key(name);
    let is_target = |name: &str| choice.target == name || choice.more_targets.iter().any(|other| other == name);
    let is_role = |name: &str| [&choice.group, &choice.time].into_iter().flatten().any(|role| role == name);
    let mut left_out = Vec::new();
    let names: Vec<&str> = if let Some(names) = &choice.features {
        names.iter().map(String::as_str).collect()
    } else {
        let is_free = |name: &str| !is_target(name) && !is_ignored(name) && !is_role(name);
        let free = || table.columns().iter().filter(|column| is_free(&column.name));
        let mut useful: Vec<&str> = Vec::new();
        for column in free() {
            match named::left_out(table, column)?.or_else(|| useless(column, choice)) {
                Some(warning) => {
                    // It may be different numbers in every row, of which some have commas.
                    commas::check(table, column)?;
                    left_out.push(warning);
                }
                None => useful.push(&column.name),
            }
        }
        // If nothing can be learnt from any column, the first one is named in the error.
        if useful.is_empty() { free().map(|column| column.name.as_str()).collect() } else { useful }
    };
    let mut seen = Texts::new();
    for name in &names {
        let problem = match *name {
            _ if is_target(name) => "both feature and target",
            _ if is_ignored(name) => "both used and left out",
            _ if seen.insert((*name).to_owned(), 0).is_some() => "listed twice as feature",
            _ => continue,
        };
        return Err(Error::new(format!("column \"{name}\" is {problem}")));
    }
    if names.is_empty() {
        let (source, target) = (table.source(), &choice.target);
        return Err(Error::new(format!("no column of {source} is left to learn \"{target}\" from")));
    }
    Ok((names, left_out))
}

/// Why nothing can be learnt from a column: it has no value, or another text in every row, of enough rows to tell.
fn useless(column: &Column, choice: &Choice) -> Option<Warning> {
    const ENOUGH_ROWS: usize = 20;
    if column.cells.are_missing() {
        return Some(Warning::empty(&column.name));
    }
    let Cells::Categorical { levels, .. } = &column.cells else { return None };
    let values = (0..column.cells.len()).filter(|row| !column.cells.is_missing(*row)).count();
    // Sentences seldom repeat, but some do.
    let is_unique = levels.len() == values || 10 * levels.len() >= 9 * values && is_prose(levels);
    let is_unique = values >= ENOUGH_ROWS && is_unique && !choice.names_category(&column.name);
    if !is_unique || !moment::orders(levels).is_empty() {
        return None;
    }
    if let Some(why) = column.warning() {
        return Some(Warning::unread(why));
    }
    if let Some((message, cells)) = texts::some_dates(levels) {
        return Some(Warning::unread(&Warning { column: column.name.clone(), message, cells }));
    }
    let usual = if is_prose(levels) { Warning::prose } else { Warning::unique };
    Some(unread::of_unique(&column.name, levels).unwrap_or_else(|| usual(&column.name)))
}

/// Whether most texts are sentences, of at least four words.
fn is_prose(levels: &[String]) -> bool {
    const WORDS: usize = 4;
    let long = levels.iter().filter(|text| text.split_whitespace().nth(WORDS - 1).is_some()).count();
    2 * long > levels.len()
}

fn is_category(table: &Table, choice: &Choice, name: &str) -> Result<bool> {
    let has = |names: &[String]| names.iter().any(|listed| listed == name);
    let is_named = choice.names_category(name);
    if has(&choice.numeric) && is_named {
        return Err(both_kinds(name));
    }
    let column = &table.columns()[table.position(name)?];
    if has(&choice.numeric) {
        table.only_numbers(name)?;
    }
    if !is_named {
        commas::check(table, column)?;
    }
    Ok(is_named || matches!(column.cells, Cells::Categorical { .. }))
}

/// What a feature is used as: texts that are dates as dates, unless it is named as a category.
fn role(table: &Table, choice: &Choice, name: &str) -> Result<Role> {
    if !is_category(table, choice, name)? {
        return Ok(Role::Number);
    }
    let is_named = choice.names_category(name);
    let order = match &table.columns()[table.position(name)?].cells {
        Cells::Categorical { levels, .. } if !is_named => moment::order_of(levels, choice.date_order),
        _ => None,
    };
    Ok(order.map_or(Role::Category, Role::Date))
}

/// The requested task: by name, or classification if the target is among the categories.
fn task(table: &Table, choice: &Choice) -> Result<Option<Task>> {
    let target = &choice.target;
    let is_named = choice.categorical.contains(target) || !choice.classes.is_empty();
    match choice.task {
        Some(Task::Regression) if !choice.classes.is_empty() => {
            Err(Error::usage("classes: got the task regression as well, expected classification"))
        }
        Some(Task::Regression) if is_named => Err(both_kinds(target)),
        None => {
            is_category(table, choice, target)?;
            let is_number = choice.quantity != Quantity::Measure;
            Ok(if is_named { Some(Task::Classification) } else { is_number.then_some(Task::Regression) })
        }
        task => Ok(task),
    }
}

/// The positions of the other target columns. Errors unless there are some exactly for shares of classes, and they are numbers.
fn more_targets(table: &Table, choice: &Choice) -> Result<Vec<usize>> {
    let Choice { target, more_targets: others, .. } = choice;
    if choice.quantity != Quantity::Share {
        return match others.first() {
            Some(_) => Err(Error::usage("more_targets applies only to loss \"kl\"")),
            None => Ok(Vec::new()),
        };
    }
    if others.is_empty() {
        return Err(Error::usage(format!(
            "loss \"kl\": got one target column, \"{target}\", expected the others in more_targets"
        )));
    }
    if choice.has_poles {
        return Err(Error::usage("loss \"kl\": got a head with poles, expected a linear one"));
    }
    if choice.task.is_some() {
        return Err(Error::usage("task: loss \"kl\" is about shares of classes: expected no task"));
    }
    for (at, name) in others.iter().enumerate() {
        if name == target || others[..at].contains(name) {
            return Err(Error::new(format!("column \"{name}\" is listed twice as target")));
        }
    }
    for name in others.iter().chain([target]) {
        if choice.categorical.contains(name) {
            return Err(both_kinds(name));
        }
        table.only_numbers(name)?;
    }
    others.iter().map(|name| table.position(name)).collect()
}

fn both_kinds(name: &str) -> Error {
    Error::new(format!("column \"{name}\" is both numeric and categorical"))
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
