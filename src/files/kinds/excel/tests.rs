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
    let expected: [(&str, [&str; 3]); 8] = [
        ("id", ["1", "9007199254740992", "3"]),
        ("price", ["0.1", "1e300", "-"]),
        ("when", ["2024-03-01T12:30:00", "2024-03-01T00:00:00", "-"]),
        ("day", ["2024-03-01", "1999-12-31", "-"]),
        ("clock", ["12:30:00", "00:00:00", "-"]),
        ("ok", ["true", "false", "-"]),
        ("name", ["a & b", "x", "-"]),
        ("code", ["02139", "7", "-"]),
    ];
    for (name, expected) in expected {
        assert_eq!(cells(&table, name), expected, "{name}");
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

/// A workbook of sheets with these names and cells, numbers where they look like it.
fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
    let sheet = |text: &str| {
        let cell = |cell: &str| match cell.parse::<f64>() {
            Ok(_) => format!("<c><v>{cell}</v></c>"),
            Err(_) if cell.is_empty() => "<c/>".to_owned(),
            Err(_) => format!("<c t=\"inlineStr\"><is><t>{cell}</t></is></c>"),
        };
        let row = |line: &str| format!("<row>{}</row>", line.split(',').map(cell).collect::<String>());
        format!("<worksheet><sheetData>{}</sheetData></worksheet>", text.lines().map(row).collect::<String>())
    };
    let numbered = |write: &dyn Fn(usize, &str) -> String| -> String {
        sheets.iter().enumerate().map(|(at, (name, _))| write(at, name)).collect()
    };
    let names = numbered(&|at, name| format!("<sheet name=\"{name}\" r:id=\"r{at}\"/>"));
    let places = numbered(&|at, _| format!("<Relationship Id=\"r{at}\" Target=\"worksheets/sheet{at}.xml\"/>"));
    let mut members = vec![
        (WORKBOOK.to_owned(), format!("<workbook><sheets>{names}</sheets></workbook>")),
        (RELATIONS.to_owned(), format!("<Relationships>{places}</Relationships>")),
    ];
    members
        .extend(sheets.iter().enumerate().map(|(at, (_, text))| (format!("xl/worksheets/sheet{at}.xml"), sheet(text))));
    let members: Vec<crate::host::Member<'_>> = members
        .iter()
        .map(|(name, text)| (name.as_str(), Box::new(|| text.clone().into_bytes()) as Box<dyn Fn() -> Vec<u8>>))
        .collect();
    crate::host::pack(&members).unwrap()
}

/// The names, the rows and the notes of a workbook.
fn shown(sheets: &[(&str, &str)]) -> (String, String, String) {
    let table = read(&workbook(sheets), "t.xlsx", &Format::default()).unwrap();
    let names: Vec<&str> = table.names().collect();
    let columns: Vec<Vec<String>> = names.iter().map(|name| cells(&table, name)).collect();
    let row = |row: usize| columns.iter().map(|column| column[row].as_str()).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = (0..table.rows()).map(row).collect();
    let notes: Vec<String> = table.notes().iter().map(ToString::to_string).collect();
    (names.join(" "), rows.join(", "), notes.join("; "))
}

#[test]
fn the_first_sheet_with_rows_is_read() {
    let table = "a,y\n1,2\n3,4\n";
    let said = "sheet \"empty\" is empty; sheet \"data\" is read; sheet names another";
    assert_eq!(shown(&[("empty", ""), ("data", table)]), ("a y".into(), "1 2, 3 4".into(), said.into()));
    assert_eq!(shown(&[("data", table), ("empty", "")]).2, "");
    let named = Format { sheet: Some("empty".into()), ..Format::default() };
    let error = read(&workbook(&[("empty", ""), ("data", table)]), "t.xlsx", &named).unwrap_err().to_string();
    assert_eq!(error, "t.xlsx: has no columns");
}

#[test]
fn names_of_a_sheet_are_distinct() {
    let (names, rows, notes) = shown(&[("s", "a,a,y\n1,2,3\n4,5,6\n")]);
    assert_eq!((names.as_str(), rows.as_str()), ("a a.1 y", "1 2 3, 4 5 6"));
    assert!(notes.starts_with("column \"a.1\": several columns are named \"a\""), "{notes}");
}

#[test]
fn units_of_a_sheet_are_left_out() {
    let (names, rows, notes) = shown(&[("s", "a,k,y\nmm,,kg\n1,r,3\n4,s,6\n7,r,9\n")]);
    assert_eq!((names.as_str(), rows.as_str()), ("a k y", "1 r 3, 4 s 6, 7 r 9"));
    let said = "row 2 of the sheet: texts below the names where all other rows have numbers, such as units; left out";
    assert_eq!(notes, said);
}
