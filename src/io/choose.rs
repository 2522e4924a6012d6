//! Chooses columns, their roles, the usable rows and the task. Done once, before any statistics.

use super::comma;
use super::feature::Role;
use super::missing::{self, Missing, MissingReport};
use super::moment;
use super::reading::Warning;
use super::table::{Cells, Column, Table, Texts};
use super::target::{self, Quantity, Task};
use crate::error::{Error, Result};
use crate::record;

/// The user's choices. Only the target is required.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// The target column.
    pub target: String,
    /// The feature columns, in this order; all columns except the target if absent.
    pub features: Option<Vec<String>>,
    /// Columns to ignore.
    pub ignore: Vec<String>,
    /// Columns of numbers to be used as categories; a target among them is a class.
    pub categorical: Vec<String>,
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
    /// Most bins of a column of numbers, 0 for none; by the size of the table if absent.
    pub bins: Option<usize>,
}

record! {
    Choice {
        target, features, ignore, categorical, numeric, task, missing, has_poles = false, group = None, time = None, split_seed = None,
        bins = Some(0), quantity = Quantity::Measure
    }
}

impl Choice {
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
    /// What is to be said of the columns that nothing can be learnt from, which are left out.
    pub left_out: Vec<Warning>,
    /// Counts of dropped rows and of cells that will be filled in.
    pub report: MissingReport,
}

/// Applies a choice to a table. Errors on unknown and contradictory names, columns without values, a constant target.
pub fn choose(table: &Table, choice: &Choice) -> Result<ColumnRoles> {
    let target = table.position(&choice.target)?;
    for name in [&choice.ignore, &choice.categorical, &choice.numeric].into_iter().flatten() {
        table.position(name)?;
    }
    let (names, left_out) = feature_names(table, choice)?;
    let positions = names.iter().map(|name| table.position(name)).collect::<Result<Vec<_>>>()?;
    let roles = names.iter().map(|name| role(table, choice, name)).collect::<Result<Vec<_>>>()?;
    let features: Vec<(usize, Role)> = positions.into_iter().zip(roles).collect();
    let task_given = task(table, choice)?;
    let target_role = if task_given == Some(Task::Classification) { Role::Category } else { Role::Number };
    let (rows, report) = missing::usable(table, &features, (target, target_role), choice)?;
    let (task, reason) = target::decide(table, &table.columns()[target], &rows, task_given)?;
    let (fills, has_poles) = (choice.fills(), choice.has_poles);
    let [group, time] = [&choice.group, &choice.time].map(|name| name.as_ref().map(|name| table.position(name)));
    let (group, time) = (group.transpose()?, time.transpose()?);
    if [group, time].contains(&Some(target)) {
        return Err(Error::usage(format!("column \"{}\" is the target; rows cannot be split by it", choice.target)));
    }
    if group.is_some() && time.is_some() {
        return Err(Error::usage("rows are split by group or by time, not by both"));
    }
    let bins = choice.bins.unwrap_or_else(|| usual_bins(choice, &features, rows.len()));
    let quantity = choice.quantity;
    Ok(ColumnRoles {
        target,
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
        left_out,
        report,
    })
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
    let target = &choice.target;
    let is_role = |name: &str| [&choice.group, &choice.time].into_iter().flatten().any(|role| role == name);
    let mut left_out = Vec::new();
    let names: Vec<&str> = if let Some(names) = &choice.features {
        names.iter().map(String::as_str).collect()
    } else {
        let is_free = |name: &str| name != target && !is_ignored(name) && !is_role(name);
        let free = || table.columns().iter().filter(|column| is_free(&column.name));
        let useless = |column: &&Column| useless(column, choice);
        let useful: Vec<&str> =
            free().filter(|column| useless(column).is_none()).map(|column| column.name.as_str()).collect();
        left_out = free().filter_map(|column| useless(&column)).collect();
        // If nothing can be learnt from any column, the first one is named in the error.
        if useful.is_empty() { free().map(|column| column.name.as_str()).collect() } else { useful }
    };
    let mut seen = Texts::new();
    for name in &names {
        let problem = match *name {
            _ if name == target => "both feature and target",
            _ if is_ignored(name) => "both used and left out",
            _ if seen.insert((*name).to_owned(), 0).is_some() => "listed twice as feature",
            _ => continue,
        };
        return Err(Error::new(format!("column \"{name}\" is {problem}")));
    }
    if names.is_empty() {
        let source = table.source();
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
    let is_unique = values >= ENOUGH_ROWS && levels.len() == values && !choice.categorical.contains(&column.name);
    let is_text = || moment::date_order(levels).is_none() && !moment::is_order_open(levels);
    (is_unique && is_text()).then(|| Warning::unique(&column.name))
}

fn is_category(table: &Table, choice: &Choice, name: &str) -> Result<bool> {
    let has = |names: &[String]| names.iter().any(|listed| listed == name);
    if has(&choice.numeric) && has(&choice.categorical) {
        return Err(both_kinds(name));
    }
    let column = &table.columns()[table.position(name)?];
    if has(&choice.numeric) {
        table.only_numbers(name)?;
    }
    if !has(&choice.categorical) {
        comma::check(table, column)?;
    }
    Ok(has(&choice.categorical) || matches!(column.cells, Cells::Categorical { .. }))
}

/// What a feature is used as: texts that are dates as dates, unless it is named as a category.
fn role(table: &Table, choice: &Choice, name: &str) -> Result<Role> {
    if !is_category(table, choice, name)? {
        return Ok(Role::Number);
    }
    let is_named = choice.categorical.iter().any(|listed| listed == name);
    let order = match &table.columns()[table.position(name)?].cells {
        Cells::Categorical { levels, .. } if !is_named => moment::date_order(levels),
        _ => None,
    };
    Ok(order.map_or(Role::Category, Role::Date))
}

/// The requested task: by name, or classification if the target is among the categories.
fn task(table: &Table, choice: &Choice) -> Result<Option<Task>> {
    let target = &choice.target;
    let is_named = choice.categorical.contains(target);
    match choice.task {
        Some(Task::Regression) if is_named => Err(both_kinds(target)),
        None => {
            is_category(table, choice, target)?;
            let is_number = choice.quantity != Quantity::Measure;
            Ok(if is_named { Some(Task::Classification) } else { is_number.then_some(Task::Regression) })
        }
        task => Ok(task),
    }
}

fn both_kinds(name: &str) -> Error {
    Error::new(format!("column \"{name}\" is both numeric and categorical"))
}

#[cfg(test)]
mod tests {
    use super::super::csv::{Header, read};
    use super::super::moment::DateOrder;
    use super::*;

    const WINE: &str = "pH,colour,year,quality\n3.1,red,2001,1.5\n3.2,white,2002,2.5\n,red,2003,3.5\n";

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    fn chosen(choice: &Choice) -> Result<ColumnRoles> {
        choose(&read(WINE.as_bytes(), "wine.csv", Header::Auto)?, choice)
    }

    fn for_target(target: &str) -> Choice {
        Choice { target: target.into(), ..Choice::default() }
    }

    #[test]
    fn all_other_columns_are_features() {
        let got = chosen(&for_target("quality")).unwrap();
        assert_eq!((got.target, got.features), (3, vec![(0, Role::Number), (1, Role::Category), (2, Role::Number)]));
        assert_eq!((got.rows, got.task), (vec![0, 1, 2], Task::Regression));
        assert_eq!(got.report.to_string(), "0 of 3 rows dropped; pH: 1 missing");
    }

    #[test]
    fn a_choice_is_applied() {
        let got = chosen(&Choice {
            features: Some(names(&["year", "pH"])),
            categorical: names(&["year"]),
            missing: Missing::Drop,
            ..for_target("colour")
        });
        let got = got.unwrap();
        assert_eq!((got.features, got.rows), (vec![(2, Role::Category), (0, Role::Number)], vec![0, 1]));
        assert_eq!((got.task, got.reason.as_str()), (Task::Classification, "the target is text"));
        let got = chosen(&Choice { ignore: names(&["pH"]), ..for_target("quality") }).unwrap();
        assert_eq!((got.features, got.rows.len()), (vec![(1, Role::Category), (2, Role::Number)], 3));
    }

    #[test]
    fn dates_are_found_and_different_texts_left_out() {
        let row = |row: usize| format!("n{row},{}.3.2024,{}/3/2024,{},{row}.5\n", row % 28 + 1, row % 12 + 1, row % 3);
        let text = format!("name,day,open,k,y\n{}", (0..30).map(row).collect::<String>());
        let table = read(text.as_bytes(), "a.csv", Header::Yes).unwrap();
        let of = |choice: Choice| {
            let got = choose(&table, &choice).unwrap();
            (got.features, got.left_out.iter().map(|warning| warning.column.clone()).collect::<Vec<_>>())
        };
        let day = (1, Role::Date(DateOrder::DayFirst));
        let rest = [(2, Role::Category), (3, Role::Number)];
        assert_eq!(of(for_target("y")), ([&[day], &rest[..]].concat(), names(&["name"])));
        let named = Choice { categorical: names(&["name", "day"]), ..for_target("y") };
        assert_eq!(of(named), ([&[(0, Role::Category), (1, Role::Category)], &rest[..]].concat(), vec![]));
        let asked = Choice { features: Some(names(&["name"])), ..for_target("y") };
        assert_eq!(of(asked), (vec![(0, Role::Category)], vec![]));
    }

    #[test]
    fn numbers_with_commas_are_categories_only_if_named() {
        let table = read(b"x;k;y\n1,5;a;0,5\n2,5;b;1\n", "a.csv", Header::Auto).unwrap();
        let said = |choice: Choice| {
            choose(&table, &choice).map(|chosen| (chosen.features, chosen.task)).map_err(|error| error.to_string())
        };
        let refused = |column: &str, text: &str| {
            let what = "has a comma, but numbers are written with a point; the options decimal and thousands declare others; if the column holds categories, name it under categorical";
            Err(format!("a.csv: row 1, column \"{column}\": \"{text}\" {what}"))
        };
        let learnt = |features: &[&str], choice: Choice| Choice { features: Some(names(features)), ..choice };
        let is_class = |features| Ok((features, Task::Classification));
        assert_eq!(said(for_target("k")), refused("x", "1,5"));
        assert_eq!(said(learnt(&["k"], for_target("y"))), refused("y", "0,5"));
        assert_eq!(said(learnt(&["y"], for_target("k"))), refused("y", "0,5"));
        let named = Choice { categorical: names(&["x", "y"]), ..for_target("y") };
        assert_eq!(said(named), is_class(vec![(0, Role::Category), (1, Role::Category)]));
        let asked = Choice { task: Some(Task::Classification), ..for_target("y") };
        assert_eq!(said(learnt(&["k"], asked)), is_class(vec![(1, Role::Category)]));
        let ignored = Choice { ignore: names(&["x", "y"]), ..for_target("k") };
        assert_eq!(said(ignored).unwrap_err(), "no column of a.csv is left to learn \"k\" from");
        let promised = Choice { numeric: names(&["x"]), ..for_target("k") };
        let wanted = "a.csv: row 1, column \"x\": \"1,5\" is not a number; numbers are written with a point";
        assert_eq!(said(promised).unwrap_err(), wanted);
        let asked = Choice { task: Some(Task::Regression), ..for_target("y") };
        let wanted = "a.csv: row 1, column \"y\": \"0,5\" is not a number; numbers are written with a point";
        assert_eq!(said(learnt(&["k"], asked)).unwrap_err(), wanted);
    }

    #[test]
    fn a_target_named_categorical_is_a_class() {
        let choice = Choice { categorical: names(&["quality"]), ..for_target("quality") };
        let got = chosen(&choice).unwrap();
        assert_eq!((got.task, got.reason.as_str()), (Task::Classification, "as requested"));
        let message = chosen(&Choice { task: Some(Task::Regression), ..choice }).unwrap_err().to_string();
        assert_eq!(message, "column \"quality\" is both numeric and categorical");
    }

    /// A change to a valid choice and the expected message.
    type Case = (fn(&mut Choice), &'static str);

    #[test]
    fn messages() {
        let of = |change: fn(&mut Choice)| {
            let mut choice = for_target("quality");
            change(&mut choice);
            chosen(&choice).unwrap_err().to_string()
        };
        let cases: &[Case] = &[
            (
                |c| c.target = "price".into(),
                "column \"price\" not in wine.csv; it has \"pH\", \"colour\", \"year\", \"quality\"",
            ),
            (
                |c| c.ignore = names(&["ph"]),
                "column \"ph\" not in wine.csv; it has \"pH\", \"colour\", \"year\", \"quality\"; did you mean \"pH\"?",
            ),
            (
                |c| c.features = Some(names(&["pH", "x"])),
                "column \"x\" not in wine.csv; it has \"pH\", \"colour\", \"year\", \"quality\"",
            ),
            (|c| c.features = Some(names(&["quality"])), "column \"quality\" is both feature and target"),
            (|c| c.features = Some(names(&["pH", "pH"])), "column \"pH\" is listed twice as feature"),
            (
                |c| (c.features, c.ignore) = (Some(names(&["pH"])), names(&["pH"])),
                "column \"pH\" is both used and left out",
            ),
            (|c| c.features = Some(vec![]), "no column of wine.csv is left to learn \"quality\" from"),
            (
                |c| (c.numeric, c.categorical) = (names(&["pH"]), names(&["pH"])),
                "column \"pH\" is both numeric and categorical",
            ),
            (|c| c.numeric = names(&["colour"]), "wine.csv: row 1, column \"colour\": \"red\" is not a number"),
        ];
        for (change, wanted) in cases {
            assert_eq!(of(*change), *wanted);
        }
    }
}
