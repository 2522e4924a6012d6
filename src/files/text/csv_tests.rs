//! Tables read from text, and error messages.

use super::*;
use crate::files::MISSING_CODE;
use std::borrow::Cow;

fn table(text: &str) -> Table {
    read(text.as_bytes(), "a.csv", Header::Auto).unwrap()
}

fn texts(table: &Table, name: &str) -> Vec<String> {
    let cells = &table.columns()[table.position(name).unwrap()].cells;
    (0..table.rows()).map(|row| cells.text(row).map_or("-".into(), Cow::into_owned)).collect()
}

/// A text, the names of its columns, then the cells of every column.
type Case = (&'static str, &'static [&'static str], &'static [&'static [&'static str]]);

#[test]
fn cells_become_columns() {
    let cases: &[Case] = &[
        ("a,b\n1,2\n3,4\n", &["a", "b"], &[&["1", "3"], &["2", "4"]]),
        ("\u{feff}a,b\r\n1,2\r\n", &["a", "b"], &[&["1"], &["2"]]),
        ("1,2\n3,4\n", &["c0", "c1"], &[&["1", "3"], &["2", "4"]]),
        ("5.1,setosa\n", &["c0", "c1"], &[&["5.1"], &["setosa"]]),
        ("\"fixed acidity\";\"pH\"\n7.4;3.51\n", &["fixed acidity", "pH"], &[&["7.4"], &["3.51"]]),
        ("a\tb\n1\t2\n", &["a", "b"], &[&["1"], &["2"]]),
        (",b\n1,2\n", &["c0", "b"], &[&["1"], &["2"]]),
        ("a,b\n red , +1.5e1 \nblue,.5\n", &["a", "b"], &[&["red", "blue"], &["15", "0.5"]]),
        ("a\nNA\nn/a\nNaN\nNULL\n?\n1\n", &["a"], &[&["-", "-", "-", "-", "-", "1"]]),
        ("a,b\n1,\n,x\n-nan,\"\"\n", &["a", "b"], &[&["1", "-", "-"], &["-", "x", "-"]]),
        ("a\nNA\nx\n\"\"\n", &["a"], &[&["NA", "x", "-"]]),
        ("a\nred\u{a0}\nred\n", &["a"], &[&["red", "red"]]),
        ("a\n01\n1.0\nz\n", &["a"], &[&["01", "1.0", "z"]]),
        ("a\n1e999\n-inf\n2\n", &["a"], &[&["inf", "-inf", "2"]]),
        ("a\n1\n\n2\n", &["a"], &[&["1", "2"]]),
    ];
    for (text, names, columns) in cases {
        let table = table(text);
        assert_eq!(table.names().collect::<Vec<_>>(), *names, "{text:?}");
        for (name, cells) in names.iter().zip(*columns) {
            assert_eq!(texts(&table, name), *cells, "{text:?} {name}");
        }
    }
}

#[test]
fn the_header_can_be_given() {
    let names = |text: &str, header| {
        let table = read(text.as_bytes(), "a.csv", header).unwrap();
        (table.names().collect::<Vec<_>>().join(" "), table.rows())
    };
    assert_eq!(names("2019,2020\n1,2\n", Header::Yes), ("2019 2020".into(), 1));
    assert_eq!(names("2019,2020\n1,2\n", Header::Auto), ("c0 c1".into(), 2));
    assert_eq!(names("red,big\nblue,small\n", Header::No), ("c0 c1".into(), 2));
}

#[test]
fn a_tabbed_file_is_known_by_its_name() {
    let table = read(b"a,b\tc\n1\t2\n", "A.TSV", Header::Auto).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["a,b", "c"]);
}

#[test]
fn levels_are_sorted_whatever_the_order_of_rows() {
    let levels = |text: &str| match &table(text).columns()[0].cells {
        Cells::Categorical { codes, levels } => (codes.clone(), levels.clone()),
        Cells::Numeric(_) => panic!("text was read as numbers"),
    };
    let (codes, sorted) = levels("a\nred\nblue\n\ngreen\nred\n?\n");
    assert_eq!(sorted, ["blue", "green", "red"]);
    assert_eq!(codes, [2, 0, 1, 2, MISSING_CODE]);
    assert_eq!(levels("a\ngreen\nred\nblue\n").1, sorted);
}

#[test]
fn messages() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "a.csv: is empty"),
        (b"\xef\xbb\xbf\n\n", "a.csv: is empty"),
        (b"a,b\n", "a.csv: has no rows"),
        (
            b"a,b\n1,2\n3\n",
            "a.csv: row 2 (line 3): got 1 cells, expected 2; is it a line of text below the table? bad_rows skip leaves such rows out",
        ),
        (
            b"a,b\n1,\"x\ny\"\n3,4,5\n",
            "a.csv: row 2 (line 4): got 3 cells, expected 2; a cell with the delimiter is put in quotes; bad_rows skip leaves such rows out",
        ),
        (
            b"a,caf\xe9\n1,2\n",
            "a.csv: the header is not UTF-8 text; save the file as UTF-8, or name its encoding, such as encoding latin1, which is only for Western European letters; iconv -f SHIFT-JIS -t UTF-8 converts others",
        ),
        (b"a,b\n1,\"2\n", "a.csv: line 2: a quote is opened and never closed"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(read(bytes, "a.csv", Header::Auto).unwrap_err().to_string(), *expected);
    }
}

#[test]
fn cells_and_names_that_need_quotes_are_quoted() {
    let words = ["plain", "a,b", "a;b", "a\tb", "a\nb", "a\rb", "\r", "say \"hi\"", "\"", " a", "a ", ""];
    let expected = "\"a\rb\"\nplain\n\"a,b\"\n\"a;b\"\n\"a\tb\"\n\"a\nb\"\n\"a\rb\"\n\"\r\"\n\"say \"\"hi\"\"\"\n\"\"\"\"\n\" a\"\n\"a \"\n\n";
    assert_eq!(String::from_utf8(write(&[("a\rb", Values::Text(&words))])).unwrap(), expected);
    let back = read(expected.as_bytes(), "a.csv", Header::Yes).unwrap();
    assert_eq!(back.names().collect::<Vec<_>>(), ["a b"]);
    assert_eq!(texts(&back, "a\rb")[5], "a\rb");
}

#[test]
fn written_text_is_read_back() {
    let numbers = [1.0, -0.1, f64::NAN, 1e300, 5e-324, 123456789.123];
    let single: Vec<f32> =
        numbers.iter().map(|&x| x as f32 * 0.5).map(|x| if x.is_infinite() { 7.25 } else { x }).collect();
    let words = ["plain", "a,b", "say \"hi\"", "two\nlines", " spaced", "semi;colon"];
    let bytes = write(&[("n", Values::F64(&numbers)), ("s", Values::F32(&single)), ("w,x", Values::Text(&words))]);
    let back = read(&bytes, "a.csv", Header::Auto).unwrap();
    assert_eq!(back.names().collect::<Vec<_>>(), ["n", "s", "w,x"]);
    for (got, expected) in back.numbers("n").unwrap().iter().zip(&numbers) {
        assert_eq!(got.to_bits(), expected.to_bits());
    }
    for (got, expected) in back.numbers("s").unwrap().iter().zip(&single) {
        assert_eq!((*got as f32).to_bits(), expected.to_bits());
    }
    assert_eq!(texts(&back, "w,x"), ["plain", "a,b", "say \"hi\"", "two\nlines", "spaced", "semi;colon"]);
    assert!(String::from_utf8(bytes).unwrap().starts_with("n,s,\"w,x\"\n1,0.5,plain\n-0.1,-0.05,\"a,b\"\n,,\"say"));
}

/// Arbitrary bytes give a table or an error, with memory bounded by the size of the file.
#[test]
fn noise_gives_a_table_or_an_error() {
    const ALPHABET: &[u8] = b"0123,;\t\"\n\r .-eaN?/\xff";
    let mut state = 1_u64;
    for length in (0..400).map(|i| i % 40) {
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ALPHABET[(state >> 33) as usize % ALPHABET.len()]
        };
        let bytes: Vec<u8> = (0..length).map(|_| next()).collect();
        for header in [Header::Auto, Header::Yes, Header::No] {
            if let Ok(table) = read(&bytes, "noise", header) {
                assert!(table.rows() * table.columns().len() <= bytes.len() + 1);
            }
        }
    }
}

/// The cells of one column and its warning.
fn column(cells: &[&str]) -> (Column, String) {
    let table = read(format!("x\n{}\n", cells.join("\n")).as_bytes(), "a.tsv", Header::Yes).unwrap();
    let column = table.columns()[0].clone();
    let warning = column.warning().map_or_else(String::new, ToString::to_string);
    (column, warning)
}

#[test]
fn a_few_odd_cells_do_not_turn_numbers_into_categories() {
    let numbers = ["1"; 18];
    let with = |odd: &[&'static str]| column(&[&numbers[..], odd].concat());
    let values = |column: &Column| match &column.cells {
        Cells::Numeric(values) => values[18..].to_vec(),
        Cells::Categorical { .. } => panic!("numbers were read as texts"),
    };
    let shown = |odd: &[&'static str]| {
        let (column, warning) = with(odd);
        (format!("{:?}", values(&column)), warning)
    };
    let missing = "1 cell is no number and counts as missing; name the column under categorical to keep texts";
    for (odd, expected) in [("abc", missing), ("12.5%", missing)] {
        assert_eq!(shown(&[odd]), ("[NaN]".into(), format!("column \"x\": {expected}: \"{odd}\"")));
    }
    let sign = "1 cell counts as missing; name the column under categorical if they mean something";
    for odd in ["-", ".", "None"] {
        assert_eq!(shown(&[odd]), ("[NaN]".into(), format!("column \"x\": {sign}: \"{odd}\"")));
    }
    for (odd, value) in [
        ("$1,234", "[1234.0]"),
        ("1 000", "[1000.0]"),
        ("1_000", "[1000.0]"),
        ("5.25D+01", "[52.5]"),
        ("−2.5", "[-2.5]"),
    ] {
        let expected = format!("column \"x\": cells such as these are read as numbers: \"{odd}\"");
        assert_eq!(shown(&[odd]), (value.into(), expected));
    }
    assert_eq!(shown(&["NA", "?"]), ("[NaN, NaN]".into(), String::new()));
    let (texts, warning) = with(&["a", "b", "a"]);
    assert!(!texts.is_numeric());
    let expected = "column \"x\": 18 of 21 cells are numbers, the others are not, so the column is a category; \
                  the option na declares texts that mean a missing cell: \"a\", \"b\"";
    assert_eq!(warning, expected);
    let codes = "cells such as these are read as numbers; name the column under categorical if they are codes";
    assert_eq!(with(&["02139"]).1, format!("column \"x\": {codes}: \"02139\""));
    // A comma is an error where the column is used (comma.rs).
    assert!(!with(&["1,5"]).0.is_numeric());
}

#[test]
fn whole_columns_in_another_notation_are_numbers() {
    let (percents, warning) = column(&["12.5%", "3 %", "NA"]);
    assert_eq!(percents.cells.text(0).as_deref(), Some("12.5"));
    assert_eq!(warning, "column \"x\": cells such as these are read as numbers: \"12.5%\", \"3 %\"");
    let (mixed, warning) = column(&["$1,234.50", "-$3", "€ 7"]);
    assert!(!mixed.is_numeric() && warning.contains("different units ($, €)"), "{warning}");
    let (prices, _) = column(&["$1,234.50", "-$3", "$ 7"]);
    let texts: Vec<_> = (0..3).map(|row| prices.cells.text(row).unwrap().into_owned()).collect();
    assert_eq!(texts, ["1234.5", "-3", "7"]);
    assert!(!column(&["-", "-"]).0.is_numeric());
    assert!(!column(&["red", "1"]).0.is_numeric());
}

#[test]
fn a_column_shows_how_its_numbers_are_written() {
    let values = |cells: &[&str]| match column(cells).0.cells {
        Cells::Numeric(values) => format!("{values:?}"),
        Cells::Categorical { levels, .. } => format!("{levels:?}"),
    };
    let cases: [(&[&str], &str); 16] = [
        (&["1.234.567", "2.726", "11"], "[1234567.0, 2726.0, 11.0]"),
        (&["1.234.567", "2.72", "11"], "[\"1.234.567\", \"11\", \"2.72\"]"),
        (&["10.100.100.101", "10.100.100.102"], "[\"10.100.100.101\", \"10.100.100.102\"]"),
        (&["2.726", "12.000"], "[2.726, 12.0]"),
        (&["1,234,567", "2,726"], "[1234567.0, 2726.0]"),
        (&["1,234", "2,726"], "[\"1,234\", \"2,726\"]"),
        (&["4.3M", "812.0K", "5"], "[4300000.0, 812000.0, 5.0]"),
        (&["300 K", "301 K"], "[300.0, 301.0]"),
        (&["5m", "7m"], "[5.0, 7.0]"),
        (&["5m", "7k"], "[5000000.0, 7000.0]"),
        (&["<0.1", "0.5", "0.25"], "[0.1, 0.5, 0.25]"),
        (&[">50K", "<=50K"], "[\"<=50K\", \">50K\"]"),
        (&["25:30:00", "01:00:00"], "[25.5, 1.0]"),
        (&["23:30", "01:00"], "[\"01:00\", \"23:30\"]"),
        (&["1 year", "2 years", "10+ years"], "[1.0, 2.0, 10.0]"),
        (&["12 Main St", "13 Side St"], "[\"12 Main St\", \"13 Side St\"]"),
    ];
    for (cells, expected) in cases {
        assert_eq!(values(cells), expected, "{cells:?}");
    }
}

#[test]
fn numbers_with_a_unit_are_noticed() {
    let expected = "column \"x\": numbers with the unit mm are read without it; name the column under categorical to keep texts: \"-3 mm\", \"5.25 mm\", \"7mm\"";
    let (lengths, warning) = column(&["5.25 mm", "7mm", "-3 mm", ""]);
    let texts: Vec<_> = (0..3).map(|row| lengths.cells.text(row).unwrap().into_owned()).collect();
    assert_eq!(texts, ["5.25", "7", "-3"]);
    assert_eq!(lengths.as_category().text(1).as_deref(), Some("7mm"), "a category keeps the texts");
    assert_eq!(warning, expected);
    let (_, mixed) = column(&["5.25 mm", "7cm", "-3 mm", ""]);
    assert!(mixed.contains("different units (mm, cm)"), "{mixed}");
    for categories in [&["2nd", "3rd", "5th"][..], &["5A", "5B", "red"], &["red", "mm", "1"]] {
        assert_eq!(column(categories).1, "", "{categories:?}");
    }
}

#[test]
fn columns_are_appended_to_cells_that_stay_as_they_are() {
    let text = "id;\"na;me\";x\r\n00501;\" a\"\"b \";1,50\r\n\r\n9007199254740993;NA;?\n1;\"two\nlines\";0";
    let expected = "id;\"na;me\";x;p\r\n00501;\" a\"\"b \";1,50;1\r\n9007199254740993;NA;?;2\n1;\"two\nlines\";0;3\n";
    let appended = append(text.as_bytes(), "a.csv", Header::Auto, &[("p", Values::F64(&[1.0, 2.0, 3.0]))]).unwrap();
    assert_eq!(String::from_utf8(appended).unwrap(), expected);
    let appended = append(b"1,2\n3,4\n", "a.csv", Header::No, &[("p", Values::Text(&["a", "b,c"]))]).unwrap();
    assert_eq!(String::from_utf8(appended).unwrap(), "c0,c1,p\n1,2,a\n3,4,\"b,c\"\n");
    let appended = append(b"p,p_2\n1,2\n", "a.csv", Header::Yes, &[("p", Values::F64(&[1.0]))]).unwrap();
    assert_eq!(String::from_utf8(appended).unwrap(), "p,p_2,p_3\n1,2,1\n");
}

#[test]
fn a_format_can_be_given() {
    let format =
        Format { delimiter: Some("|".into()), decimal: ",".into(), missing: vec!["-9".into()], ..Format::default() };
    let table = read(b"a|b\n1,5|x,y\n-9|z\n", "a.csv", &format).unwrap();
    assert_eq!(texts(&table, "a"), ["1.5", "-"]);
    assert_eq!(texts(&table, "b"), ["x,y", "z"]);
}

/// A quote in the header makes the reader take all records at once.
#[test]
fn texts_in_parts_are_read_as_in_one() {
    let texts = |i: usize| match i {
        7 | 90_000 => "odd".to_owned(),
        _ if i.is_multiple_of(50) => "-".to_owned(),
        _ => format!("0{i}"),
    };
    let row = |i: usize| {
        format!("{}.{},name {},{},{}\r\n", i, i % 97, i * i % 1009, texts(i), ["3", "z"][usize::from(i > 60_000)])
    };
    let rows: String = (0..120_000).map(row).collect();
    let table = |header: &str, rows: &str| read(format!("{header}\r\n{rows}").as_bytes(), "t", Header::Yes);
    let (parts, whole) = (table("a,b,c,d", &rows).unwrap(), table("\"a\",b,c,d", &rows).unwrap());
    assert!(rows.len() > 2 << 20);
    // Missing numbers are NaN, which equals nothing.
    assert_eq!(format!("{parts:?}"), format!("{whole:?}"));
    assert!(parts.columns()[2].warning().is_some() && !parts.columns()[3].is_numeric());
    for bad in ["1,2,3\n", "1,\u{fffd},2,3,4\n"] {
        let wrong = format!("{rows}{bad}");
        assert_eq!(table("a,b,c,d", &wrong).unwrap_err(), table("\"a\",b,c,d", &wrong).unwrap_err());
    }
}
