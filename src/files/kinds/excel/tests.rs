//! Workbooks written by openpyxl and xlsxwriter (tests/data/tables.py).

use super::*;
use crate::files::text::Header;

const OPENPYXL: &[u8] = include_bytes!("../../../../tests/data/tables/openpyxl.xlsx");
const XLSXWRITER: &[u8] = include_bytes!("../../../../tests/data/tables/xlsxwriter.xlsx");

/// The cells of a column as they are written; a dash for a missing one.
fn cells(table: &Table, name: &str) -> Vec<String> {
    let column = &table.columns()[table.position(name).unwrap()];
    let cell = |row| column.as_category().text(row).map_or_else(|| "-".to_owned(), std::borrow::Cow::into_owned);
    (0..table.rows()).map(cell).collect()
}

#[test]
fn a_workbook_by_openpyxl() {
    let table = read(OPENPYXL, "t.xlsx", &Format::default()).unwrap();
    let wanted: [(&str, [&str; 3]); 8] = [
        ("id", ["1", "9007199254740992", "3"]),
        ("price", ["0.1", "1e300", "-"]),
        ("when", ["2024-03-01T12:30:00", "2024-03-01T00:00:00", "-"]),
        ("day", ["2024-03-01", "1999-12-31", "-"]),
        ("clock", ["12:30:00", "00:00:00", "-"]),
        ("ok", ["true", "false", "-"]),
        ("name", ["a & b", "x", "-"]),
        ("code", ["02139", "7", "-"]),
    ];
    for (name, wanted) in wanted {
        assert_eq!(cells(&table, name), wanted, "{name}");
    }
}

#[test]
fn a_workbook_by_xlsxwriter() {
    let table = read(XLSXWRITER, "t.xlsx", &Format::default()).unwrap();
    assert_eq!(cells(&table, "x"), ["0", "0.1", "0.2", "#DIV/0!"]);
    let day = |day: usize| format!("2024-03-0{day}T08:15:00");
    assert_eq!(cells(&table, "when"), [day(1), day(2), day(3), "-".into()]);
    assert_eq!(cells(&table, "text"), ["abold 0", "abold 1", "abold 2", "-"]);
}

#[test]
fn a_sheet_is_chosen_by_name() {
    let sheet = |name: &str, header| {
        let format = Format { sheet: Some(name.into()), ..Format::from(header) };
        read(OPENPYXL, "t.xlsx", &format)
    };
    let table = sheet("second", Header::Auto).unwrap();
    assert_eq!(
        (cells(&table, "c0"), cells(&table, "c1")),
        (vec!["2019".to_owned(), "2020".into(), "2021".into()], vec!["0".to_owned(), "0.5".into(), "1".into()])
    );
    assert_eq!(cells(&sheet("second", Header::Yes).unwrap(), "2019"), ["2020", "2021"]);
    let error = sheet("secnd", Header::Auto).unwrap_err().to_string();
    assert_eq!(error, "t.xlsx: sheet \"secnd\" is not in it; it has \"first\", \"second\"; did you mean \"second\"?");
}

#[test]
fn every_prefix_is_an_error() {
    for length in (0..OPENPYXL.len()).step_by(7) {
        assert!(read(&OPENPYXL[..length], "t", &Format::default()).is_err(), "{length}");
    }
}
