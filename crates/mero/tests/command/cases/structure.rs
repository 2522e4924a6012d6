//! How files are laid out: headers, footers, separators, sheets, nested fields, kinds of file.

use std::path::PathBuf;

use super::super::{Folder, QUICK, json_lines};
use meromorph::files::{Format, Table, read_files};
use serde_json::Value;

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/tables")).join(name)
}

fn read_as(name: &str, format: &Format) -> Table {
    read_files(&path(name), format).unwrap_or_else(|error| panic!("{name}: {error}")).0
}

fn read(name: &str) -> Table {
    read_as(name, &Format::default())
}

/// A cell as it is written, numbers with four digits; a dash for a missing one.
fn cell(table: &Table, name: &str, row: usize) -> String {
    let column = &table.columns()[table.position(name).unwrap()];
    let text = column.cells.text(row).map_or_else(|| "-".to_owned(), std::borrow::Cow::into_owned);
    text.parse::<f64>().map_or(text, |number| format!("{number:.4}"))
}

fn row(table: &Table, names: &[&str], row: usize) -> String {
    names.iter().map(|name| cell(table, name, row)).collect::<Vec<_>>().join(" ")
}

/// Asserts the first and the last of 300 rows, which most files share.
#[track_caller]
fn check(name: &str, table: &Table) {
    let names = ["a", "b", "c", "y"];
    assert_eq!(table.names().collect::<Vec<_>>(), names, "{name}");
    assert_eq!(table.rows(), 300, "{name}");
    assert_eq!(row(table, &names, 0), "-0.7313 0.6949 red -2.0854", "{name}");
    assert_eq!(row(table, &names, 299), "-0.5188 0.7945 green -3.1596", "{name}");
}

fn notes(table: &Table) -> String {
    table.notes().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn refused(name: &str) -> String {
    let error = read_files(&path(name), &Format::default()).map(|_| ()).unwrap_err().to_string();
    error.split_once(name).unwrap().1.to_owned()
}

/// The first line of a run of few epochs, which has its rows, inputs and warnings.
fn start(folder: &Folder, name: &str, options: &str) -> Value {
    let file = path(name).display().to_string();
    let output = folder.mero(&format!("train {file} {QUICK} --json --out m --force {options}"));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {error}");
    json_lines(&String::from_utf8_lossy(&output.stdout))[0].clone()
}

fn fails(name: &str, options: &str) -> String {
    let file = path(name).display().to_string();
    Folder::new().refused(&format!("train {file} {QUICK} --out m {options}")).1
}

fn warned(start: &Value) -> String {
    start["warnings"].to_string()
}

#[test]
fn files_that_hold_the_same_table_are_read_alike() {
    let cases = [
        ("r02_utf16_excel.txt", ""),
        ("r04_trailing_rows.csv", "each row ends in a delimiter more"),
        ("r06_toa5.csv", "line 1 is above the table"),
        ("r06b_preamble.csv", "lines 1 to 3 are above the table"),
        ("r08_comments.csv", "the first 2 lines begin with #"),
        ("r09_pipe.csv", ""),
        ("r30_nul.csv", "1 byte that is 0"),
        ("r43_csv.zip", ""),
        ("j4_wrapped.json", "the list in the field \"data\""),
        ("j6_lists.json", ""),
        ("p1_brotli.parquet", ""),
        ("x2_title_row.xlsx", "above row 3 of the sheet"),
        ("x3_hidden_first.xlsx", "reads sheet \"data\", the first that is not hidden"),
    ];
    for (name, note) in cases {
        let table = read(name);
        check(name, &table);
        let notes = notes(&table);
        assert!(notes.contains(note) && (note.is_empty() == notes.is_empty()), "{name}: {notes}");
    }
    assert!(notes(&read("r06_toa5.csv")).contains("lines 3 and 4 below the names"));
}

#[test]
fn a_run_tells_how_its_table_was_read() {
    let folder = Folder::new();
    let start = start(&folder, "r06_toa5.csv", "--target y");
    assert_eq!(start["inputs"], read_inputs(&folder, "r09_pipe.csv"), "{start}");
    assert!(warned(&start).contains("line 1 is above the table and left out"), "{start}");
}

fn read_inputs(folder: &Folder, name: &str) -> Value {
    start(folder, name, "--target y")["inputs"].clone()
}

#[test]
fn rows_of_another_length_are_refused_and_can_be_left_out() {
    assert_eq!(
        refused("r32_one_long_row.csv"),
        ": row 151 (line 152): got 5 cells, expected 4; a cell with the delimiter is put in quotes; bad_rows skip leaves such rows out"
    );
    let message = refused("r34b_footer_text.csv");
    assert!(
        message.starts_with(": row 301 (line 303): got 2 cells, expected 4; is it a line of text below"),
        "{message}"
    );
    let mut format = Format::default();
    format.layout.bad_rows = meromorph::files::BadRows::Skip;
    let table = read_as("r34b_footer_text.csv", &format);
    check("r34b_footer_text.csv", &table);
    assert!(
        notes(&table).contains("1 row has another number of cells than there are columns; it is left out: line 303")
    );
    assert_eq!(read_as("r32_one_long_row.csv", &format).rows(), 299);
    let folder = Folder::new();
    let start = start(&folder, "r32_one_long_row.csv", "--target y --bad-rows skip");
    assert!(warned(&start).contains("left out: line 152"), "{start}");
}

#[test]
fn quotes_behind_a_backslash_are_part_of_the_text() {
    let table = read("w27_backslash_quotes.csv");
    assert_eq!(table.names().collect::<Vec<_>>(), ["say", "a", "y"]);
    assert_eq!(row(&table, &["say", "a", "y"], 1), "he said \"hi\", ok -0.9200 2.0800");
    assert!(notes(&table).contains("follow a backslash"));
}

#[test]
fn names_that_look_like_numbers_are_hinted_at() {
    let message = fails("w38_header_only_numbers_like.csv", "--target y");
    assert!(
        message.contains("its first record holds numbers and is read as data; --header reads it as names"),
        "{message}"
    );
    start(&Folder::new(), "w38_header_only_numbers_like.csv", "--target y --header");
}

#[test]
fn nested_fields_are_columns_and_lists_stop_nothing() {
    let table = read("j2_nested.jsonl");
    assert_eq!(table.names().collect::<Vec<_>>(), ["pos.x", "pos.y", "c", "target"]);
    assert_eq!(row(&table, &["pos.x", "pos.y", "c", "target"], 299), "-0.5188 0.7945 green -3.1596");
    let folder = Folder::new();
    let all = start(&folder, "j2_nested.jsonl", "--target target")["inputs"].as_u64();
    let some = start(&folder, "j2_nested.jsonl", "--target target --ignore pos")["inputs"].as_u64();
    assert!(some < all, "{some:?} {all:?}");

    let table = read("p6_nested.parquet");
    let names: Vec<&str> = table.names().collect();
    assert!(names.contains(&"tags") && names.contains(&"target") && names.contains(&"pos.x"), "{names:?}");
    let begin = start(&folder, "p6_nested.parquet", "--target target");
    assert!(warned(&begin).contains("holds lists; expected one value per row; it is left out"), "{begin}");
    let begin = start(&folder, "p6_nested.parquet", "--target target --ignore pos,tags");
    assert!(!warned(&begin).contains("lists"), "{begin}");
    let message = fails("p6_nested.parquet", "--target target --features tags");
    assert!(message.contains("column \"tags\": holds lists"), "{message}");
}

#[test]
fn a_column_of_bytes_stops_nothing() {
    let begin = start(&Folder::new(), "p12_binary.parquet", "--target y");
    assert!(warned(&begin).contains("holds bytes that are not UTF-8 text; it is left out"), "{begin}");
}

#[test]
fn files_of_a_folder_are_one_table() {
    check("p13_folder", &read("p13_folder"));
    check("p13_folder/part-*", &read("p13_folder/part-*.parquet"));
    let folder = Folder::new();
    folder.write("d/a.csv", "x,y\n1,2\n2,4\n");
    folder.write("d/b.csv", "y;x\n6;3\n");
    folder.write("d/_SUCCESS", "");
    let (table, text) = read_files(&folder.path("d"), &Format::default()).unwrap();
    assert_eq!(
        (table.numbers("x").unwrap(), table.numbers("y").unwrap()),
        (&[1.0, 2.0, 3.0][..], &[2.0, 4.0, 6.0][..])
    );
    assert_eq!(text.unwrap().bytes, b"x,y\n1,2\n2,4\n3,6\n");
    folder.write("d/c.csv", "x,z\n1,2\n");
    let error = read_files(&folder.path("d"), &Format::default()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("c.csv: lacks the column \"y\" of"), "{error}");
    folder.write("d/c.csv", "{\"x\": 1}");
    let error = read_files(&folder.path("d"), &Format::default()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("files of several kinds"), "{error}");
    let error = read_files(&folder.path("d/*.tsv"), &Format::default()).map(|_| ()).unwrap_err().to_string();
    assert!(error.ends_with("matches no file"), "{error}");
}

#[test]
fn merged_cells_and_formulas_of_workbooks() {
    let table = read("x1_merged_group.xlsx");
    let shops: Vec<String> = (0..300).map(|row| cell(&table, "shop", row)).collect();
    let second = &shops[100];
    assert!(shops[..100].iter().all(|shop| shop == "north"), "{shops:?}");
    assert!(second != "-" && shops[100..200].iter().all(|shop| shop == second) && shops[299] != "-", "{shops:?}");
    assert!(notes(&table).contains("column \"shop\": merged cells give their value to each of their rows"));

    let message = fails("x5_formulas_no_cache.xlsx", "--target y --features total");
    assert!(message.contains("column \"total\": holds formulas without stored values"), "{message}");
    let begin = start(&Folder::new(), "x5_formulas_no_cache.xlsx", "--target y");
    assert!(warned(&begin).contains("holds formulas without stored values"), "{begin}");
    let message = fails("x3_hidden_first.xlsx", "--target z");
    assert!(message.contains("the sheets are \"_lookup\", \"data\", of which sheet names one"), "{message}");
}

#[test]
fn a_model_knows_the_layout_of_its_table() {
    let folder = Folder::new();
    folder.write("t.csv", std::fs::read_to_string(path("r09_pipe.csv")).unwrap().replacen('a', "x\ny\na", 1));
    folder.told(&format!("train t.csv --target y {QUICK} --skip 2 --out m"));
    let rows = "a|b|c\n0.5|0.25|red\n";
    folder.write("new.csv", format!("; made by\n{rows}"));
    let output = folder.mero("predict m new.csv --header-row 2 --with-inputs --device cpu");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(out.starts_with("a|b|c|prediction"), "{out}");
    assert_eq!(out.lines().count(), 2, "{out}");
    folder.write("like.csv", format!("x\ny\n{rows}"));
    let output = folder.mero("predict m like.csv --with-inputs --device cpu");
    assert_eq!(String::from_utf8_lossy(&output.stdout), out);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("is read like the table of training: skip 2"), "{said}");
}

#[test]
fn predictions_stand_beside_the_rows_that_were_read() {
    let folder = Folder::new();
    let file = path("r09_pipe.csv").display().to_string();
    folder.told(&format!("train {file} --target y {QUICK} --out m"));
    folder.write("trail.csv", "a,b,c\n0.5,0.25,red,\n0.1,0.2,blue,\n");
    let output = folder.mero("predict m trail.csv --with-inputs --device cpu");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0][..4], ["a", "b", "c", "prediction"], "{out}");
    assert_eq!((&lines[1][..3], lines[1].len()), (&["0.5", "0.25", "red"][..], lines[0].len()), "{out}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("mero predict: trail.csv: each row ends in a delimiter more"), "{said}");
    folder.write("short.csv", "a,b,c\n0.5,0.25,red\n0.1\n");
    let output = folder.mero("predict m short.csv --with-inputs --device cpu --bad-rows fill");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(out.lines().nth(2).is_some_and(|line| line.starts_with("0.1,,,")), "{out}");
}

#[test]
fn encodings_have_many_names() {
    let folder = Folder::new();
    let rows: String = (0..30).map(|row| format!("gr\u{fc}n {},{row}.5\n", row % 3)).collect();
    let bytes: Vec<u8> = format!("k,y\n{rows}").chars().map(|letter| letter as u8).collect();
    folder.write("a.csv", bytes);
    let output = folder.mero(&format!("train a.csv --target y {QUICK} --out m --encoding ISO-8859-1"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (code, message) =
        folder.refused(&format!("train a.csv --target y {QUICK} --out m --force --encoding shift_jis"));
    let expected = "encoding: \"shift_jis\" is not read here; convert the file to UTF-8: iconv -f SHIFT-JIS -t UTF-8";
    assert!(code == Some(2) && message.contains(expected), "{message}");
}

#[test]
fn a_row_of_several_files_is_named_by_its_own() {
    let folder = Folder::new();
    folder.write("d/a.csv", "x,y\n1,2\n2,4\n");
    folder.write("d/b.csv", "x,y\n5,1\nred,6\n");
    let (table, _) = read_files(&folder.path("d/*.csv"), &Format::default()).unwrap();
    let error = table.numbers("x").unwrap_err().to_string();
    assert!(error.ends_with("b.csv: row 2, column \"x\": \"red\" is not a number"), "{error}");
}
