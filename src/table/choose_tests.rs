//! Choices of columns: roles, tasks, what is left out, messages.

use super::*;
use crate::files::DateOrder;
use crate::files::csv::{Header, read};

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
    let expected = "a.csv: row 1, column \"x\": \"1,5\" is not a number; numbers are written with a point";
    assert_eq!(said(promised).unwrap_err(), expected);
    let asked = Choice { task: Some(Task::Regression), ..for_target("y") };
    let expected = "a.csv: row 1, column \"y\": \"0,5\" is not a number; numbers are written with a point";
    assert_eq!(said(learnt(&["k"], asked)).unwrap_err(), expected);
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
    for (change, expected) in cases {
        assert_eq!(of(*change), *expected);
    }
}
