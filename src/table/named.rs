//! The names of a choice of columns: a record that was flattened, whose columns are `pos.x` and `pos.y`, can be named as a whole.

use std::borrow::Cow;

use super::choose::{Choice, ColumnEncoding};
use crate::error::{Error, Result};
use crate::files::text::reading::Warning;
use crate::files::{Column, Table};

/// The choice with the columns of each record in place of its name, where no column has that name itself.
pub(crate) fn expanded<'a>(table: &Table, choice: &'a Choice) -> Cow<'a, Choice> {
    let Choice { features, ignore, categorical, numeric, encodings, .. } = choice;
    let encoded: Vec<String> = encodings.iter().map(|named| named.column.clone()).collect();
    let mut lists = [ignore, categorical, numeric, &encoded].into_iter().chain(features);
    if !lists.any(|names| names.iter().any(|name| !parts(table, name).is_empty())) {
        return Cow::Borrowed(choice);
    }
    let all = |names: &Vec<String>| -> Vec<String> {
        let columns = |name: &String| {
            let parts = parts(table, name);
            if parts.is_empty() { vec![name.clone()] } else { parts }
        };
        names.iter().flat_map(columns).collect()
    };
    Cow::Owned(Choice {
        features: features.as_ref().map(all),
        ignore: all(ignore),
        categorical: all(categorical),
        numeric: all(numeric),
        encodings: encodings
            .iter()
            .flat_map(|named| {
                all(&vec![named.column.clone()]).into_iter().map(|column| ColumnEncoding { column, ..named.clone() })
            })
            .collect(),
        ..choice.clone()
    })
}

/// The columns of the record with a name; none if a column has that name.
fn parts(table: &Table, name: &str) -> Vec<String> {
    if table.find(name).is_some() {
        return Vec::new();
    }
    let is_part = |column: &&str| column.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    table.names().filter(is_part).map(str::to_owned).collect()
}

/// What is to be said of a column that could not be read and that nobody named; an error if it must not be left out unasked.
pub(crate) fn left_out(table: &Table, column: &Column) -> Result<Option<Warning>> {
    match column.why_unread() {
        Some(unread) if unread.is_error => {
            let (source, name, why) = (table.source(), &column.name, &unread.why);
            Err(Error::new(format!("{source}: column \"{name}\": {why}")))
        }
        unread => Ok(unread.map(|unread| Warning::left_unread(&column.name, &unread.why))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::text::reading::Unread;
    use crate::table::choose;

    fn unread(name: &str, is_error: bool) -> Column {
        Column::unread(name, 40, Unread { why: "holds lists".into(), is_error })
    }

    fn table(is_error: bool) -> Table {
        let numbers = |name, factor: f64| Column::numeric(name, (0..40).map(|row| factor * f64::from(row)).collect());
        let columns = vec![numbers("pos.x", 1.0), unread("tags", is_error), numbers("pos.y", 2.0), numbers("y", 3.1)];
        Table::new("a.json", columns).unwrap()
    }

    fn names(table: &Table, choice: &Choice) -> Vec<String> {
        let chosen = choose(table, choice).unwrap();
        chosen.features.iter().map(|(at, _)| table.columns()[*at].name.clone()).collect()
    }

    #[test]
    fn a_record_is_named_as_a_whole() {
        let table = table(false);
        let only = |features: &[&str]| Choice {
            target: "y".into(),
            features: Some(features.iter().map(|name| (*name).to_owned()).collect()),
            ..Choice::default()
        };
        assert_eq!(names(&table, &only(&["pos"])), ["pos.x", "pos.y"]);
        assert_eq!(names(&table, &only(&["pos.y"])), ["pos.y"]);
        let ignore = Choice { target: "y".into(), ignore: vec!["pos.x".into(), "tags".into()], ..Choice::default() };
        assert_eq!(names(&table, &ignore), ["pos.y"]);
        let message = choose(&table, &only(&["po"])).unwrap_err().to_string();
        assert!(message.starts_with("column \"po\" not in a.json"), "{message}");
    }

    #[test]
    fn an_unread_column_stops_nothing_unless_it_is_used() {
        let choice = |ignore: &[&str], features: Option<Vec<String>>| Choice {
            target: "y".into(),
            ignore: ignore.iter().map(|name| (*name).to_owned()).collect(),
            features,
            ..Choice::default()
        };
        let chosen = choose(&table(false), &choice(&[], None)).unwrap();
        let said: Vec<String> = chosen.left_out.iter().map(ToString::to_string).collect();
        assert_eq!(said, ["column \"tags\": holds lists; it is left out"]);
        assert!(choose(&table(false), &choice(&["tags"], None)).unwrap().left_out.is_empty());
        assert!(choose(&table(true), &choice(&["tags"], None)).is_ok());
        assert!(choose(&table(true), &choice(&[], Some(vec!["pos.x".into()]))).is_ok());
        let refused = |table: &Table, choice: &Choice| choose(table, choice).unwrap_err().to_string();
        let expected = "a.json: column \"tags\": holds lists";
        assert_eq!(refused(&table(true), &choice(&[], None)), expected);
        assert_eq!(refused(&table(false), &choice(&[], Some(vec!["tags".into()]))), expected);
        let target = Choice { target: "tags".into(), ..Choice::default() };
        assert_eq!(refused(&table(false), &target), expected);
    }
}
