//! Records and their cells.

use super::*;

fn all(text: &str, delimiter: u8) -> Result<Vec<Vec<String>>> {
    let mut records = Records::new(text.as_bytes(), delimiter, "a.csv");
    let (mut cells, mut out) = (Vec::new(), Vec::new());
    while records.next(&mut cells)?.is_some() {
        out.push(cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect());
    }
    Ok(out)
}

#[test]
fn texts_and_their_cells() {
    let cases: &[(&str, &[&[&str]])] = &[
        ("", &[]),
        ("\n\r\n\n", &[]),
        ("a,b\n1,2\n", &[&["a", "b"], &["1", "2"]]),
        ("a,b\r\n1,2", &[&["a", "b"], &["1", "2"]]),
        ("a,b\r1,2\r", &[&["a", "b"], &["1", "2"]]),
        ("a\n\n\nb\n", &[&["a"], &["b"]]),
        (",\n,,\n", &[&["", ""], &["", "", ""]]),
        ("\"a,b\",\"c\nd\"\n", &[&["a,b", "c\nd"]]),
        ("\"say \"\"hi\"\"\",\"\"\n", &[&["say \"hi\"", ""]]),
        ("\"\"\"\",\"\"\"x\"", &[&["\"", "\"x"]]),
        ("1, \"a\" ,2", &[&["1", "a", "2"]]),
        ("5\" pipe, b", &[&["5\" pipe", " b"]]),
    ];
    for (text, expected) in cases {
        assert_eq!(&all(text, b',').unwrap(), expected, "{text:?}");
    }
}

#[test]
fn a_cell_ends_at_the_first_delimiter_or_line_end() {
    let texts = [
        "",
        "a",
        "abcdefgh",
        "abcdefg,",
        "abcdefgh,",
        "\u{7f}\u{80}\u{ff}-.+\u{b}\u{c}\u{e}\u{9}, ",
        "1234567\r\n,",
        "12345678901;2\n",
    ];
    for text in texts {
        for delimiter in [b',', b';', b'\t'] {
            let is_end = |b: &u8| [delimiter, b'\n', b'\r'].contains(b);
            let expected = text.as_bytes().iter().position(is_end).unwrap_or(text.len());
            assert_eq!(end_of_cell(text.as_bytes(), delimiter), expected, "{text:?}");
        }
    }
}

fn ruled(text: &str, rules: Rules<'_>) -> Vec<Vec<String>> {
    let mut records = Records::new(text.as_bytes(), rules, "a.csv");
    let (mut cells, mut out) = (Vec::new(), Vec::new());
    while records.next(&mut cells).unwrap().is_some() {
        out.push(cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect());
    }
    out
}

#[test]
fn blanks_comments_and_escapes() {
    let spaced = Rules { is_spaced: true, ..b' '.into() };
    assert_eq!(ruled("  a \t b\n\n  \n1   \"x y\"\t\r\n2 3", spaced), [["a", "b"], ["1", "x y"], ["2", "3"]]);
    let commented = Rules { comment: Some(b"#"), ..b','.into() };
    assert_eq!(ruled("#x\n # y,\"\na,b\n#\n1,#2\n#", commented), [["a", "b"], ["1", "#2"]]);
    let escaped = Rules { escape: Some(b'\\'), ..b','.into() };
    assert_eq!(
        ruled("\"say \\\"hi\\\", \"\"ok\"\"\",\"c:\\\\\",\"\\n\"\n", escaped),
        [["say \"hi\", \"ok\"", "c:\\", "\\n"]]
    );
    assert_eq!(ruled("\"a\" b \n", b' '.into()), [["a", "b", ""]]);
}

#[test]
fn lines_are_skipped_whatever_is_in_them() {
    let mut records = Records::new(b"\"a\r\n\nb,c\n1,2", b',', "a.csv");
    assert!(records.skip_lines(2));
    assert_eq!((records.line(), records.next(&mut Vec::new()).unwrap()), (3, Some(3)));
    assert!(!records.skip_lines(2));
}

#[test]
fn messages() {
    let cases = [
        ("a,b\n1,\"2\n3,4\n", "a.csv: line 2: a quote is opened and never closed"),
        (
            "\"x\ny\"z,1",
            "a.csv: line 2: text follows a closing quote; a quote inside a cell is doubled, or follows the character that escape names",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(all(text, b',').unwrap_err().to_string(), expected);
    }
}
