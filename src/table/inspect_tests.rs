//! Findings about columns and rows: what is said of each, and that nothing is said of ordinary ones.

use super::*;
use crate::table::{Choice, choose};

/// The warnings about a table with the target y, of 60 rows.
fn warnings(columns: &[(&str, &dyn Fn(usize) -> f64)]) -> Vec<String> {
    let column = |(name, value): &(&str, &dyn Fn(usize) -> f64)| Column::numeric(name, (0..60).map(value).collect());
    warnings_of(columns.iter().map(column).collect())
}

fn warnings_of(columns: Vec<Column>) -> Vec<String> {
    let table = Table::new("t", columns).unwrap();
    let roles = choose(&table, &Choice { target: "y".into(), ..Choice::default() }).unwrap();
    inspect(&table, &roles).iter().map(ToString::to_string).collect()
}

fn noise(row: usize) -> f64 {
    (mixed(row as u64) >> 40) as f64 / 256.0
}

fn other(row: usize) -> f64 {
    noise(row + 1000)
}

#[test]
fn ordinary_columns_give_no_warnings() {
    assert_eq!(warnings(&[("a", &noise), ("y", &other)]), [""; 0]);
    assert_eq!(
        warnings(&[("a", &|i| (i % 3) as f64), ("b", &|i| (i % 2) as f64), ("y", &|i| (i % 5) as f64 + 0.5)]),
        [""; 0]
    );
    assert_eq!(warnings(&[("a", &|i| i as f64), ("y", &|i| 2.0 * i as f64)]), [""; 0], "the only feature");
}

#[test]
fn findings() {
    let a: (&str, &dyn Fn(usize) -> f64) = ("a", &noise);
    let y: (&str, &dyn Fn(usize) -> f64) = ("y", &other);
    let cases: [(&dyn Fn(usize) -> f64, &str); 6] = [
        (&|_| 3.0, "column \"b\": has the same cell in every row; name it under ignore: \"3\""),
        (
            &|i| ((i * 7) % 60) as f64 + 100.0,
            "column \"b\": has another value in every row, like the number of a row; if it is one, name it under ignore",
        ),
        (&noise, "column \"b\": has the same cells as column \"a\"; name one under ignore"),
        (
            &|i| 5.0 - other(i) / 3.0,
            "column \"b\": determines the target in every row; if it is not known beforehand, name it under ignore",
        ),
        (
            &|i| if i == 7 { 1e9 } else { (i % 10) as f64 },
            "column \"b\": outliers: 1 of 60 values are far from the middle half, 2 to 7: \"1000000000\"",
        ),
        (&|i| noise(i + 500), ""),
    ];
    for (b, expected) in cases {
        assert_eq!(warnings(&[a, ("b", b), y]).join("\n"), expected);
    }
    let classes = warnings(&[a, ("b", &|i| (i % 4) as f64), ("y", &|i| (i % 2) as f64)]);
    assert!(classes[0].starts_with("column \"b\": determines the target"), "{classes:?}");
    let twice: Vec<String> =
        warnings(&[("a", &|i| noise(i / 2)), ("b", &|i| other(i / 2)), ("y", &|i| noise(i / 2 + 99))]);
    assert_eq!(twice, ["30 of 60 rows are copies of another, so the same row may train and test"]);
    let skewed = warnings(&[a, ("y", &|i| if i == 9 { 5000.0 } else { 500.0 + noise(i) / 1000.0 })]);
    assert!(skewed.last().unwrap().ends_with("and positive; its logarithm may be easier to learn"), "{skewed:?}");
}

#[test]
fn rows_that_differ_are_no_copies() {
    // Target and column are such that a sum of both is the same in many rows.
    let rows = warnings(&[("size", &|i| i as f64 + 0.5), ("k", &|i| (i % 2) as f64), ("y", &|i| 2.0 * i as f64 + 1.0)]);
    assert!(!rows.iter().any(|said| said.contains("copies")), "{rows:?}");
}

#[test]
fn targets_that_name_the_rows() {
    let id = (0..60).map(|i| ((i * 7) % 60) as f64 + 100.0).collect();
    let table =
        Table::new("t", vec![Column::numeric("a", (0..60).map(noise).collect()), Column::numeric("row_id", id)]);
    let table = table.unwrap();
    let roles = choose(&table, &Choice { target: "row_id".into(), ..Choice::default() }).unwrap();
    let said: Vec<String> = inspect(&table, &roles).iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "column \"row_id\": has another whole number in every row, like the number of a row; if it is one, choose another target"
        ]
    );
    let texts = Column::categorical("y", &(0..60).map(|i| format!("k{}", i % 20)).collect::<Vec<_>>());
    let said = warnings_of(vec![Column::numeric("a", (0..60).map(noise).collect()), texts]);
    assert!(said[0].starts_with("column \"y\": has 20 classes in 60 rows, 3 of each on average"), "{said:?}");
    let texts = Column::categorical("y", &(0..60).map(|i| format!("k{}", i % 12)).collect::<Vec<_>>());
    assert_eq!(warnings_of(vec![Column::numeric("a", (0..60).map(noise).collect()), texts]), [""; 0]);
}

#[test]
fn texts() {
    let texts =
        |name: &str, text: &dyn Fn(usize) -> String| Column::categorical(name, &(0..60).map(text).collect::<Vec<_>>());
    let rest =
        || [Column::numeric("a", (0..60).map(noise).collect()), Column::numeric("y", (0..60).map(other).collect())];
    let all = |first: Column| warnings_of([first].into_iter().chain(rest()).collect());
    assert_eq!(all(texts("day", &|i| format!("{}.5.2024", i % 31 + 1))), [""; 0]);
    let day = |i: usize| if i == 7 { "soon".into() } else { format!("2024-05-{:02}", i % 30 + 1) };
    assert_eq!(all(texts("day", &day)), ["column \"day\": holds dates; other texts count as missing: \"soon\""]);
    let open = all(texts("day", &|i| format!("{}/{}/2024", i % 12 + 1, i % 11 + 1)));
    assert!(open[0].starts_with("column \"day\": holds dates of which it is open"), "{open:?}");
    assert_eq!(all(texts("colour", &|i| ["red", "blue", "green"][i % 3].to_owned())), [""; 0]);
}
