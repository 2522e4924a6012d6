//! Decides the task from the target: regression or classification.

use super::unread;
use crate::error::{Error, Result};
use crate::files::{Cells, Column, Table, moment};
use crate::host::number;
use crate::record;

/// The task of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// A number.
    Regression,
    /// One of a few classes.
    Classification,
}

record! { enum Task { Regression, Classification } }

impl Task {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Classification => "classification",
        }
    }
}

/// What the numbers of a target are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quantity {
    /// Measured values, which are standardised.
    #[default]
    Measure,
    /// Counts, at least 0, which stay as they are. The target is a number, however few values it has.
    Count,
    /// Shares of classes in several columns, at least 0 and with the sum 1, which stay as they are.
    Share,
}

record! { enum Quantity { Measure, Count, Share } }

/// A target of numbers is treated as classes if it has at most this many distinct values, all integers, …
const MOST_CLASSES: usize = 20;
/// … and on average at least this many rows per class.
const ROWS_PER_CLASS: usize = 5;

/// The task, and the reason in words. Errors on a constant target, and on text if a number is requested.
pub(crate) fn decide(table: &Table, column: &Column, rows: &[u32], asked: Option<Task>) -> Result<(Task, String)> {
    check_varies(column, rows)?;
    if asked == Some(Task::Regression) {
        table.numbers(&column.name)?;
    }
    if let Some(task) = asked {
        return Ok((task, "as requested".into()));
    }
    let Cells::Numeric(values) = &column.cells else {
        check_texts(table, column, rows)?;
        return Ok((Task::Classification, "the target is text".into()));
    };
    let numbers = || rows.iter().map(|&row| values[row as usize]);
    if let Some(value) = numbers().find(|value| *value != value.trunc()) {
        return Ok((Task::Regression, format!("the target has a number that is not whole ({})", number(value))));
    }
    let mut distinct = Vec::new();
    for value in numbers() {
        if distinct.len() <= MOST_CLASSES && !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    let count = distinct.len();
    if count <= MOST_CLASSES && rows.len() >= ROWS_PER_CLASS * count {
        return Ok((
            Task::Classification,
            format!("the target has {count} distinct whole numbers in {} rows", rows.len()),
        ));
    }
    let at_least = if count > MOST_CLASSES { "more than 20".into() } else { count.to_string() };
    Ok((Task::Regression, format!("the target has {at_least} distinct whole numbers in {} rows", rows.len())))
}

/// Errors if texts are no classes that can be learnt: dates that are not only a few, or another text in every row.
fn check_texts(table: &Table, column: &Column, rows: &[u32]) -> Result<()> {
    const ENOUGH_ROWS: usize = 20;
    let Cells::Categorical { codes, levels } = &column.cells else { return Ok(()) };
    let mut is_used = vec![false; levels.len()];
    for &row in rows {
        is_used[codes[row as usize] as usize] = true;
    }
    let (source, name, count) = (table.source(), &column.name, is_used.iter().filter(|is_used| **is_used).count());
    let are_few = count <= MOST_CLASSES && rows.len() >= ROWS_PER_CLASS * count;
    if !are_few && !moment::orders(levels).is_empty() {
        let first = &levels[0];
        return Err(Error::new(format!(
            "{source}: target \"{name}\" holds dates, such as {first}, which are not predicted yet: expected a number, such as the days since a fixed day; name it under categorical to learn every date as a class"
        )));
    }
    if count == rows.len() && count >= ENOUGH_ROWS {
        let why = match (column.warning(), unread::example(levels)) {
            (Some(warning), _) => format!("cannot be learnt as numbers: {}", warning.message),
            (None, Some(text)) => format!("holds no numbers or dates as they are read, such as \"{text}\""),
            (None, None) => "has another text in every row, so no class can be learnt".into(),
        };
        return Err(Error::new(format!(
            "{source}: target \"{name}\" {why}: expected a number, or classes with several rows each"
        )));
    }
    Ok(())
}

fn check_varies(column: &Column, rows: &[u32]) -> Result<()> {
    let [first, rest @ ..] = rows else { return Ok(()) };
    let is_same = |row: u32| match &column.cells {
        Cells::Numeric(values) => values[row as usize] == values[*first as usize],
        Cells::Categorical { codes, .. } => codes[row as usize] == codes[*first as usize],
    };
    if rest.is_empty() || !rest.iter().all(|&row| is_same(row)) {
        return Ok(());
    }
    let (name, value) = (&column.name, column.cells.text(*first as usize).unwrap_or_default());
    Err(Error::new(format!("column \"{name}\" is constant (every row is {value}); there is nothing to learn")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::csv::{Header, read};

    fn decided(cells: &[&str], asked: Option<Task>) -> Result<(Task, String)> {
        let text = format!("y\n{}\n", cells.join("\n"));
        let table = read(text.as_bytes(), "wine.csv", Header::Yes)?;
        let rows: Vec<u32> = (0..table.rows() as u32).collect();
        decide(&table, &table.columns()[0], &rows, asked)
    }

    #[test]
    fn the_target_decides_the_task() {
        use Task::{Classification, Regression};
        let grades = ["3", "4", "5"].repeat(5);
        let many: Vec<String> = (0..200).map(|i| (i % 21).to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let cases: &[(&[&str], Option<Task>, Task, &str)] = &[
            (&["red", "blue"], None, Classification, "the target is text"),
            (&grades, None, Classification, "the target has 3 distinct whole numbers in 15 rows"),
            (&grades[..14], None, Regression, "the target has 3 distinct whole numbers in 14 rows"),
            (&many, None, Regression, "the target has more than 20 distinct whole numbers in 200 rows"),
            (&["0", "1", "0.5"], None, Regression, "the target has a number that is not whole (0.5)"),
            (&grades, Some(Regression), Regression, "as requested"),
            (&["1.5", "2.5"], Some(Classification), Classification, "as requested"),
        ];
        for (cells, asked, task, reason) in cases {
            assert_eq!(decided(cells, *asked).unwrap(), (*task, (*reason).to_string()));
        }
    }

    #[test]
    fn texts_that_are_no_classes_are_refused() {
        let of = |text: &dyn Fn(usize) -> String, asked| {
            let cells: Vec<String> = (0..60).map(text).collect();
            decided(&cells.iter().map(String::as_str).collect::<Vec<_>>(), asked).map_err(|error| error.to_string())
        };
        let day = |i: usize| format!("2024-{:02}-{:02}", i % 12 + 1, i % 28 + 1);
        assert_eq!(
            of(&day, None).unwrap_err(),
            "wine.csv: target \"y\" holds dates, such as 2024-01-01, which are not predicted yet: expected a number, such as the days since a fixed day; name it under categorical to learn every date as a class"
        );
        assert!(of(&day, Some(Task::Classification)).is_ok());
        assert!(of(&|i| format!("2024-01-0{}", i % 3 + 1), None).is_ok(), "three dates are classes");
        assert_eq!(
            of(&|i| format!("id{i}"), None).unwrap_err(),
            "wine.csv: target \"y\" has another text in every row, so no class can be learnt: expected a number, or classes with several rows each"
        );
        assert!(of(&|i| format!("id{}", i / 2), None).is_ok());
    }

    #[test]
    fn messages() {
        let cases: &[(&[&str], Option<Task>, &str)] = &[
            (&["3", "3.0"], None, "column \"y\" is constant (every row is 3); there is nothing to learn"),
            (&["red", "red"], None, "column \"y\" is constant (every row is red); there is nothing to learn"),
            (&["1", "abc"], Some(Task::Regression), "wine.csv: row 2, column \"y\": \"abc\" is not a number"),
        ];
        for (cells, asked, expected) in cases {
            assert_eq!(decided(cells, *asked).unwrap_err().to_string(), *expected);
        }
    }
}
