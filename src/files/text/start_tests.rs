//! Where a table starts, and what is left out around it.

use crate::files::Table;
use crate::files::csv::{Values, append, read};
use crate::files::text::{BadRows, Format, Header};

/// Names, rows of cells and notes of a text.
fn shown(text: &str, format: &Format) -> String {
    let table = match read(text.as_bytes(), "a.csv", format) {
        Ok(table) => table,
        Err(error) => return error.to_string(),
    };
    let cell = |column: usize, row| {
        table.columns()[column].as_category().text(row).map_or("-".into(), std::borrow::Cow::into_owned)
    };
    let row = |row| (0..table.columns().len()).map(|column| cell(column, row)).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = (0..table.rows()).map(row).collect();
    format!("{}: {}", names(&table), rows.join(", "))
}

fn names(table: &Table) -> String {
    table.names().collect::<Vec<_>>().join(" ")
}

fn notes(text: &str) -> Vec<String> {
    read(text.as_bytes(), "a.csv", Header::Auto).unwrap().notes().iter().map(ToString::to_string).collect()
}

fn set(change: impl Fn(&mut Format)) -> Format {
    let mut format = Format::default();
    change(&mut format);
    format
}

#[test]
fn a_table_is_found_below_what_is_above_it() {
    let rows = "1,x,3\n4,y,6\n7,z,9\n";
    let expected = "a b c: 1 x 3, 4 y 6, 7 z 9";
    let cases = [
        format!("a,b,c\n{rows}"),
        format!("Export of 2024\nStation: Nord\n\na,b,c\n{rows}"),
        format!("Export of 2024,,\n,,\na,b,c\n{rows}"),
        format!("Station,Nord\na,b,c\n{rows}"),
        format!("\"TOA5\",\"6843\",\"x\"\na,b,c\n{rows}"),
        format!("TOA5,6843,x,y,z,1\na,b,c\n{rows}"),
        format!("a,b,c\nmm,,kPa\nAvg,Smp,Max\n{rows}"),
        format!("a,b,c\n[mm],[-],[kPa]\n{rows}"),
        format!("# made by tool, 1.2\n# seed 5\na,b,c\n{rows}# end\n"),
        format!("#made by tool\n\na,b,c\n# \"middle\n{rows}"),
        format!("sep=,\na,b,c\n{rows}"),
        format!("a,b,c\n{}", rows.replace('\n', ",\n")),
        format!("a,b,c,,\n{rows}"),
    ];
    for text in &cases {
        assert_eq!(shown(text, &Format::default()), expected, "{text:?}");
    }
    assert!(notes(&cases[0]).is_empty() && notes(&cases[10]).is_empty());
    for text in [&cases[1..10], &cases[11..]].concat() {
        assert_eq!(notes(&text).len(), 1, "{text:?}: {:?}", notes(&text));
    }
    let said = "lines 1 to 3 are above the table and left out; skip and header_row declare another start: \"Export of 2024\", \"Station: Nord\"";
    assert_eq!(notes(&cases[1]), [said]);
    assert_eq!(shown(&format!("sep=;\n{}", cases[0].replace(',', ";")), &Format::default()), expected);
    assert_eq!(shown(&format!("Title, of it\n{}", cases[0].replace(',', ";")), &Format::default()), expected);
    assert_eq!(shown(&cases[0].replace(',', "|"), &Format::default()), expected);
    assert_eq!(shown(&cases[0].replace(',', "   "), &Format::default()), expected);
}

#[test]
fn a_first_line_with_a_hash_may_hold_the_names() {
    let plain = Format::default();
    assert_eq!(shown("#id,name\n1,x\n2,y\n", &plain), "id name: 1 x, 2 y");
    assert_eq!(shown("# id,name\nk,x\nl,y\n", &plain), "id name: k x, l y");
    assert_eq!(shown("# v a\n1 2\n3 4\n5 6\n", &plain), "v a: 1 2, 3 4, 5 6");
    assert_eq!(shown("##one\n##two\n#id\tname\n1\tx\n2\ty\n", &plain), "id name: 1 x, 2 y");
    assert_eq!(notes("#id,name\n1,x\n2,y\n"), ["the line of names begins with #, which is left out of the first name"]);
    assert_eq!(shown("#,name\n1,x\n2,y\n", &plain), "# name: 1 x, 2 y");
    assert!(notes("#,name\n1,x\n2,y\n").is_empty());
    assert!(
        notes("# x\na,b\n1,2\n")[0]
            .starts_with("the first line begins with # and is taken as a comment, which is left out;")
    );
    assert_eq!(shown("# colours\nc,n\n#ff0000,1\n#00ff00,2\n", &plain), "c n: #ff0000 1, #00ff00 2");
    let commented = set(|format| format.layout.comment = Some("#".into()));
    assert_eq!(shown("# colours\nc,n\n#ff0000,1\nred,2\n", &commented), "c n: red 2");
}

#[test]
fn names_behind_a_hash_as_numpy_writes_them_are_names() {
    let plain = Format::default();
    let rows = "1.0e+00 2.0e+00 3.0e+00\n4.0e+00 5.0e+00 6.0e+00\n7.0e+00 8.0e+00 9.0e+00\n";
    for text in [format!("# a b c\n{rows}"), format!("# a,b,c\n{}", rows.replace(' ', ","))] {
        assert_eq!(shown(&text, &plain), "a b c: 1 2 3, 4 5 6, 7 8 9", "{text:?}");
    }
}

#[test]
fn tables_that_are_clear_are_read_as_before() {
    let plain = Format::default();
    for text in
        ["name\nAnna Smith\nBob Jones\n", "a,b,c\nx,,\ny,1,2\n", "a,b\nmm,kPa\n1,2\n", "when\n2024-03-01 12:30\n"]
    {
        assert!(notes(text).is_empty(), "{text:?}");
    }
    assert_eq!(shown("a,b\nmm,x\n1,2\n3,4\n", &plain), "a b: mm x, 1 2, 3 4");
    assert_eq!(shown("5.1,setosa,1\n4,b,2\n5,c,3\n6,d,4\n", &plain), "c0 c1 c2: 5.1 setosa 1, 4 b 2, 5 c 3, 6 d 4");
}

#[test]
fn lines_are_skipped_as_declared() {
    let text = "1,2\n\"broken\n\nx,y\n1,2\n3,4\n";
    assert_eq!(shown(text, &set(|format| format.layout.skip = 2)), "x y: 1 2, 3 4");
    assert_eq!(shown(text, &set(|format| format.layout.header_row = Some(4))), "x y: 1 2, 3 4");
    assert_eq!(shown("1,2\n3,4\n5,6\n", &set(|format| format.layout.header_row = Some(2))), "3 4: 5 6");
    assert_eq!(
        shown("x,y\n1,2\n", &set(|format| format.layout.skip = 9)),
        "a.csv: has no rows behind its first 9 lines, which skip leaves out"
    );
    let refused = |change: fn(&mut Format)| set(change).check().unwrap_err().to_string();
    assert_eq!(
        refused(|format| format.layout.header_row = Some(0)),
        "header_row: got \"0\", expected the number of a line, from 1"
    );
    assert!(refused(|format| format.layout.encoding = Some("utf-17".into())).contains("did you mean \"utf-"));
    assert!(refused(|format| format.layout.escape = Some("ab".into())).starts_with("escape: got \"ab\""));
    assert!(refused(|format| format.layout.comment = Some(" ".into())).starts_with("comment: got \" \""));
}

#[test]
fn a_refusal_names_the_cause() {
    let plain = Format::default();
    let cases = [
        (
            "Title\n1,2,3\n4,5,6\n7,8,9\n",
            "row 1 (line 2): got 3 cells, expected 1; line 1 has 1 cell, most lines have 3: is it a title above the table? skip 1 leaves out the lines before line 2",
        ),
        (
            "a,b\n7,x,3\n9,y,4\n5,z,5\n",
            "row 1 (line 2): got 3 cells, expected 2; every row has a cell more than the line of names: has the first column no name? skip 1 and no header name the columns c0, c1, …",
        ),
        (
            "a,y\n0,0,5\n1,1,5\n2,2,5\n",
            "row 1 (line 2): got 3 cells, expected 2; are the numbers written with decimal commas? they look the same as commas between cells: save the file with ; between cells, or with decimal points",
        ),
        (
            "n,v,y\n'a, b0',0.0,0.0\n'a, b1',37.1,1.5\n",
            "row 1 (line 2): got 4 cells, expected 3; cells are in single quotes, within which a delimiter counts: put them in double quotes",
        ),
        (
            "a,b,c\n1,2,3\n# pause\n4,5,6\n",
            "row 2 (line 3): got 1 cells, expected 3; is it a comment? comment # leaves such lines out",
        ),
        (
            "a,b,c\n1,2,3\nSource: x\n\n",
            "row 2 (line 3): got 1 cells, expected 3; is it a line of text below the table? bad_rows skip leaves such rows out",
        ),
        (
            "a,b,c\n1,2,3\n4,5\n6,7,8\n",
            "row 2 (line 3): got 2 cells, expected 3; bad_rows skip leaves such rows out, and fill takes the cells that lack as missing",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text, &plain), format!("a.csv: {expected}"), "{text:?}");
    }
}

#[test]
fn empty_cells_among_spaces_are_never_filled() {
    let text = "  v    a    y\n0.0  1.5  7.6\n3.1  5.3\n1.2  4.0  2.2\n";
    let spaced = |bad_rows| {
        set(|format| {
            format.delimiter = Some("spaces".into());
            format.layout.bad_rows = bad_rows;
        })
    };
    let cannot = "cells that are apart by spaces cannot be distinguished where one is empty";
    assert_eq!(
        shown(text, &spaced(BadRows::Refuse)),
        format!("a.csv: row 2 (line 3): got 2 cells, expected 3; {cannot}; bad_rows skip leaves such rows out")
    );
    assert_eq!(
        shown(text, &spaced(BadRows::Fill)),
        format!("a.csv: bad_rows: got fill, expected refuse or skip: {cannot}")
    );
    assert_eq!(shown(text, &spaced(BadRows::Skip)), "v a y: 0 1.5 7.6, 1.2 4 2.2");
}

#[test]
fn single_rows_may_end_in_a_delimiter_more() {
    let text = "v,a,y\n1,2,3,\n4,5,6\n7,8,9,\n";
    assert_eq!(shown(text, &Format::default()), "v a y: 1 2 3, 4 5 6, 7 8 9");
    assert_eq!(
        notes(text),
        [
            "2 rows have another number of cells than there are columns; they are read without the empty cell at the end: lines 2, 4"
        ]
    );
    let out = append(text.as_bytes(), "a.csv", Header::Auto, &[("p", Values::F64(&[0.5; 3]))]).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "v,a,y,p\n1,2,3,0.5\n4,5,6,0.5\n7,8,9,0.5\n");
    // The last column may be empty, so a cell may have a delimiter in it.
    assert!(shown("n,x,note\nAnna,1,\nSmith, Bob,2,\n", &Format::default()).contains("row 2 (line 3): got 4 cells"));
}

#[test]
fn names_of_rows_by_r_are_a_column_without_a_name() {
    let plain = Format::default();
    let said = "every row has a cell more than the line of names; the first column, which has no name, is read as \"c0\", as names of rows";
    for text in
        ["\"a\" \"y\"\n\"1\" 2 0.5\n\"2\" 3 1.5\n", "a,y\n1,2,0.5\n2,3,1.5\n", "a\ty\n\"1\"\t2\t0.5\n\"2\"\t3\t1.5\n"]
    {
        assert_eq!(shown(text, &plain), "c0 a y: 1 2 0.5, 2 3 1.5", "{text}");
        assert!(notes(text).contains(&said.to_owned()), "{text}");
    }
    assert_eq!(shown("a,y\nMazda,2,3\nFiat,4,5\n", &plain), "c0 a y: Mazda 2 3, Fiat 4 5");
    // A name is lacking at another place, or commas are decimal marks.
    for text in ["a,y\n0.5,2,3\n1.5,4,5\n", "a,y\n1,2,5\n2,3,5\n", "a,y\nx,2,3\nx,4,5\n"] {
        assert!(shown(text, &plain).contains("got 3 cells, expected 2"), "{text}");
    }
}

#[test]
fn names_that_are_there_twice_get_a_number() {
    assert_eq!(shown("a,a,y\n1,2,3\n", &Format::default()), "a a.1 y: 1 2 3");
    assert_eq!(shown("\"y\n(s)\",b\n1,2\n", &Format::default()), "y (s) b: 1 2");
}

#[test]
fn lines_of_blanks_are_empty() {
    let plain = Format::default();
    assert_eq!(shown("a,b\n   \n1,2\n\x0c\n \t\n3,4\n \n", &plain), "a b: 1 2, 3 4");
    assert_eq!(shown("a\tb\n\t\n1\t2\n", &plain), "a b: - -, 1 2");
    assert!(notes("a,b\n   \n1,2\n").is_empty());
}

#[test]
fn rare_delimiters_are_found() {
    for mark in ["^", "~", ":", "\u{1}", "\u{1f}"] {
        let text = "v,a,y\n1,2,3\n4,5,6\n".replace(',', mark);
        assert_eq!(shown(&text, &Format::default()), "v a y: 1 2 3, 4 5 6", "{mark:?}");
        assert!(notes(&text)[0].ends_with("; a delimiter declares another character"), "{mark:?}");
    }
    assert_eq!(notes("v\u{1}a\n1\u{1}2\n3\u{1}4\n")[0].split(';').next(), Some("cells are apart by the character 1"));
    for text in ["time\n12:30\n12:31\n", "at:on\nx:y\nz:w\n", "a^b\n1^2\n3\n"] {
        assert!(notes(text).is_empty(), "{text}");
    }
}

#[test]
fn cells_decide_over_the_name_of_a_file() {
    let names_of = |text: &str| names(&read(text.as_bytes(), "a.tsv", Header::Auto).unwrap());
    assert_eq!(names_of("v,a,y\n1,2,3\n"), "v a y");
    assert_eq!(names_of("v,a\ty\n1\t3\n"), "v,a y");
    assert_eq!(names_of("name\nSmith, Anna\n"), "name");
}

#[test]
fn rows_of_another_length_are_left_out_or_filled() {
    let text = "a,b\n1,2\n3\n4,5,6\n7,8\n";
    let skip = set(|format| format.layout.bad_rows = BadRows::Skip);
    let fill = set(|format| format.layout.bad_rows = BadRows::Fill);
    assert_eq!(shown(text, &skip), "a b: 1 2, 7 8");
    assert_eq!(shown(text, &fill), "a b: 1 2, 3 -, 7 8");
    let said = |format| {
        read(text.as_bytes(), "a.csv", format).unwrap().notes().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let same = "another number of cells than there are columns";
    assert_eq!(said(&skip), [format!("2 rows have {same}; they are left out: lines 3, 4")]);
    assert_eq!(
        said(&fill),
        [
            format!("1 row has {same}; it is left out: line 4"),
            format!("1 row has {same}; it is filled up with missing cells: line 3")
        ]
    );
    let beside = |text: &str, format: &Format, values: &[f64]| {
        String::from_utf8(append(text.as_bytes(), "a.csv", format, &[("p", Values::F64(values))]).unwrap()).unwrap()
    };
    assert_eq!(beside(text, &skip, &[0.5, 1.5]), "a,b,p\n1,2,0.5\n7,8,1.5\n");
    assert_eq!(beside(text, &fill, &[0.5, 1.5, 2.5]), "a,b,p\n1,2,0.5\n3,,1.5\n7,8,2.5\n");
    let trailing = "Title\n\na\tb,c\td\n1\t2\t3\t\n4\t5\t6\t\n7\t8\t9\t\n";
    assert_eq!(
        beside(trailing, &Format::default(), &[0.5; 3]),
        "a\tb,c\td\tp\n1\t2\t3\t0.5\n4\t5\t6\t0.5\n7\t8\t9\t0.5\n"
    );
    assert_eq!(beside("a,b,,\n1,2\n", &Format::default(), &[0.5]), "a,b,p\n1,2,0.5\n");
    assert_eq!(beside("a  b\n1  2\n3  4\n", &Format::default(), &[0.5; 2]), "a  b p\n1  2 0.5\n3  4 0.5\n");
}

#[test]
fn a_text_in_another_encoding_is_read_by_its_name_or_unused() {
    let bytes = b"a,s,y\n1,gr\xfcn,2\n3,rot,4\n";
    let western = set(|format| format.layout.encoding = Some("latin1".into()));
    let table = read(bytes, "a.csv", &western).unwrap();
    assert_eq!(table.columns()[1].cells.text(0).as_deref(), Some("grün"));
    let table = read(bytes, "a.csv", Header::Auto).unwrap();
    assert_eq!(table.numbers("y").unwrap(), [2.0, 4.0]);
    let message = table.readable("s").unwrap_err().to_string();
    assert_eq!(
        message,
        "a.csv: column \"s\": row 1 is not UTF-8 text; save the file as UTF-8, or name its encoding, such as encoding latin1, which is only for Western European letters; iconv -f SHIFT-JIS -t UTF-8 converts others"
    );
}
