//! JSON in the shapes that programs write, and damaged JSON.

use super::*;
use crate::files::Cells;

fn open(text: &str) -> Result<Table> {
    read(text.as_bytes(), "a.jsonl", &Format::default())
}

#[test]
fn lines_and_lists_of_objects() {
    let rows =
        [r#"{"a": 1, "b": "x", "c": true}"#, r#"{"b":"y\u00e9\"","a":-2.5e-1,"c":null}"#, r#"{"d": 9007199254740993}"#];
    for text in [rows.join("\n"), rows.join("\r\n\r\n") + "\n", format!("\u{feff}[{}]", rows.join(" ,\n"))] {
        let table = open(&text).unwrap();
        assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(table.numbers("a").unwrap()[..2], [1.0, -0.25]);
        let text =
            |column: usize, row| table.columns()[column].as_category().text(row).map(std::borrow::Cow::into_owned);
        assert_eq!([text(1, 0), text(1, 1), text(1, 2)], [Some("x".into()), Some("yé\"".into()), None]);
        assert_eq!([text(2, 0), text(2, 1), text(0, 2)], [Some("true".into()), None, None]);
        assert_eq!(text(3, 2).as_deref(), Some("9007199254740993"));
    }
    assert!(matches!(open("{\"a\": NaN}{\"a\":-Infinity}").unwrap().columns()[0].cells, Cells::Numeric(_)));
}

#[test]
fn kinds_of_text() {
    for text in ["{\"a\": 1}", " { }", "[{\"a\": 1}]", "[\n [1]]", "[[1, 2]]", "[\"a\", 1]"] {
        assert!(begins_json(text.as_bytes()), "{text}");
    }
    for text in ["{a},b\n", "[1],[2]\n", "a,b\n", "", "["] {
        assert!(!begins_json(text.as_bytes()), "{text}");
    }
}

#[test]
fn messages() {
    let cases = [
        ("{\"a\": {}}", "has no columns"),
        ("{\"a\": 1}\n{\"b\": [1}", "row 2 (line 2): got \"}\", expected a comma or the end of the list"),
        ("{\"a\": 1, \"a\": 2}", "row 1 (line 1): field \"a\" is there twice"),
        ("{\"a\": 01}", "row 1 (line 1): got \"0\", expected a number, a text, true, false or null"),
        ("{\"a\" 1}", "row 1 (line 1): got \"1\", expected a colon"),
        ("{\"a\": 1 2}", "row 1 (line 1): got \"2\", expected a comma or the end of the object"),
        ("{\"a\": 1,}", "row 1 (line 1): got \"}\", expected the name of a field"),
        ("{\"a\": \"x\ny\"}", "row 1 (line 1): got \"\"\", expected a quote that ends the text"),
        ("[{\"a\": 1},\n{\"a\": \"x", "row 2 (line 2): the file ends within a text: is it cut short?"),
        ("{\"a\": \"\\x\"}", "row 1 (line 1): the text \"\\x\" has an escape that JSON does not know"),
        ("{\"a\": 1}\n\n{", "row 2 (line 3): got the end, expected the name of a field"),
        ("[{\"a\": 1}\n{}]", "row 2 (line 2): got \"{\", expected a comma or the end of the list"),
        ("[{\"a\": 1}] 2", "row 2 (line 1): got \"2\", expected nothing after the list"),
        ("[[1, 2], [3]]", "row 2 (line 1): got 1 cells, expected 2"),
        ("[[1, 2], [3, 4, 5]]", "row 2 (line 1): got more than 2 cells, expected 2"),
        ("{\"a\": [1, 2], \"b\": [3]}", "column \"b\" has 1 rows, column \"a\" has 2"),
        (
            "{\"more\": {\"train\": [{\"a\": 1}], \"test\": [{\"a\": 1}]}}",
            "has several lists of records, in the fields \"more.train\", \"more.test\"; expected one: save the list with the rows as a file of its own",
        ),
        ("{}", "has no columns"),
    ];
    for (text, expected) in cases {
        assert_eq!(open(text).unwrap_err().to_string(), format!("a.jsonl: {expected}"), "{text}");
    }
    let error = read(b"{\"a\": 1}\n{\"a\": \"\xff\"}", "a", &Format::default()).unwrap_err();
    assert!(error.to_string().starts_with("a: line 2: is not UTF-8 text; save the file as UTF-8"), "{error}");
}

#[test]
fn infinities_of_python_keep_their_sign() {
    let table = open("{\"a\": -Infinity}\n{\"a\": 1}\n{\"a\": Infinity}\n{\"a\": NaN}\n").unwrap();
    let a = table.numbers("a").unwrap();
    assert_eq!(a[..3], [f64::NEG_INFINITY, 1.0, f64::INFINITY]);
    assert!(a[3].is_nan() && a.len() == 4, "{a:?}");
}

/// The rows of a table, with cells as they are written and a dash for a missing one.
fn rows(table: &Table) -> Vec<String> {
    let cell = |column: &crate::files::Column, row| column.as_category().text(row).unwrap_or("-".into()).into_owned();
    let row = |row| table.columns().iter().map(|column| cell(column, row)).collect::<Vec<_>>().join(" ");
    (0..table.rows()).map(row).collect()
}

#[test]
fn objects_within_objects_become_columns() {
    let text = r#"{"pos": {"x": 1, "in": {"d\u00e9": "e"}}, "c": "red", "none": null}
                  {"c": "blue", "pos": null, "none": {}} {"pos": {"y": 7, "x": 2}, "none": null}"#;
    let table = open(text).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["pos.x", "pos.in.d\u{e9}", "c", "none", "pos.y"]);
    assert_eq!(rows(&table), ["1 e red - -", "- - blue - -", "2 - - - 7"]);
    assert!(open(&"{\"a\":".repeat(1000)).unwrap_err().to_string().contains("nested more than 128 deep"));
    assert!(
        open(&format!("{{\"a\": {}", "[".repeat(1000))).unwrap_err().to_string().contains("nested more than 128 deep")
    );
}

#[test]
fn a_column_of_lists_is_not_read_and_stops_nothing() {
    let table = open(r#"{"a": 1, "tags": null} {"a": 2, "tags": ["x", {"y": [3]}]}"#).unwrap();
    assert_eq!(table.numbers("a").unwrap(), [1.0, 2.0]);
    let message = table.readable("tags").unwrap_err().to_string();
    assert_eq!(
        message,
        "a.jsonl: column \"tags\": holds lists; expected a number, a text, true, false or null in each row"
    );
}

#[test]
fn rows_and_columns_in_every_usual_shape() {
    let cases: &[(&str, &str, &[&str])] = &[
        (r#"{"count": 2, "data": [{"a": 1, "b": "x"}, {"a": 2}]}"#, "a b", &["1 x", "2 -"]),
        (
            r#"{"ok": true, "result": {"page": [1, 2], "rows": [{"a": 1, "b": "x"}, {"b": null, "a": 2}]}}"#,
            "a b",
            &["1 x", "2 -"],
        ),
        (r#"[["a", "b"], [1, "x"], [2, null]]"#, "a b", &["1 x", "2 -"]),
        (r#"{"rows": [["a", "b"], [1, "x"], [2, null]]}"#, "a b", &["1 x", "2 -"]),
        ("[\"a\", \"b\"]\n[1, \"x\"]\n[2, null]\n", "a b", &["1 x", "2 -"]),
        ("[[1, 2], [3, 4]]", "c0 c1", &["1 2", "3 4"]),
        (r#"[["a", "a"], [1, "x"], [2, null]]"#, "a a.1", &["1 x", "2 -"]),
        (
            r#"{"meta": {"view": {"columns": [{"id": 1, "name": "a"}, {"name": "b"}]}}, "data": [[1, "x"], [2, null], [3, "z"]]}"#,
            "a b",
            &["1 x", "2 -", "3 z"],
        ),
        (r#"{"bbox": [[0, 1]], "got": {"rows": [{"a": 1, "b": "x"}, {"a": 2}]}}"#, "a b", &["1 x", "2 -"]),
        (r#"{"a": [1, 2], "b": ["x", null]}"#, "a b", &["1 x", "2 -"]),
        (r#"{"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": null}}"#, "a b", &["1 x", "2 -"]),
        (r#"{"0": {"a": 1, "b": "x"}, "1": {"a": 2, "b": null}}"#, "a b", &["1 x", "2 -"]),
        (r#"{"columns": ["a", "b"], "index": [0, 1], "data": [[1, "x"], [2, null]]}"#, "a b", &["1 x", "2 -"]),
        (r#"{"schema": {"fields": [{"name": "a"}]}, "data": [{"a": 1, "b": "x"}, {"a": 2}]}"#, "a b", &["1 x", "2 -"]),
    ];
    for (text, names, expected) in cases {
        let table = open(text).unwrap();
        assert_eq!(table.names().collect::<Vec<_>>().join(" "), *names, "{text}");
        assert_eq!(rows(&table), *expected, "{text}");
    }
    let table = open(r#"{"count": 2, "data": [{"a": 1}]}"#).unwrap();
    let notes: Vec<String> = table.notes().iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["the rows are the list in the field \"data\"; other fields beside it are not read"]);
    // One object is one row, as before.
    assert_eq!(rows(&open(r#"{"a": 1, "pos": {"x": 2}}"#).unwrap()), ["1 2"]);
}

#[test]
fn the_header_of_lists_can_be_given() {
    let read = |text: &str, header| read(text.as_bytes(), "a", &Format::from(header));
    let names = |text, header| read(text, header).unwrap().names().collect::<Vec<_>>().join(" ");
    assert_eq!(names("[[2019, 2020], [1, 2]]", Header::Yes), "2019 2020");
    assert_eq!(names("[[\"a\", \"b\"], [\"c\", \"d\"]]", Header::No), "c0 c1");
    let message = read("{\"a\": 1}", Header::Yes).unwrap_err().to_string();
    assert_eq!(message, "a: header does not apply to JSON objects, which name their fields");
}

#[test]
fn json_in_other_encodings_is_read() {
    let text = "[{\"a\": 1, \"b\": \"\u{fc}\"}]";
    let wide: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut format = Format::default();
    assert_eq!(rows(&read(&wide, "a", &format).unwrap()), ["1 \u{fc}"]);
    let error = read(&wide[2..], "a", &format).unwrap_err().to_string();
    assert!(error.ends_with("name its encoding: encoding utf-16le"), "{error}");
    format.layout.encoding = Some("utf-16le".into());
    assert_eq!(rows(&read(&wide[2..], "a", &format).unwrap()), ["1 \u{fc}"]);
    format.layout.encoding = Some("latin1".into());
    assert_eq!(rows(&read(b"[{\"a\": 1, \"b\": \"\xfc\"}]", "a", &format).unwrap()), ["1 \u{fc}"]);
}
