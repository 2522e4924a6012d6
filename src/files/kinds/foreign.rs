//! Kinds of file that are not read, besides those of [`FOREIGN`](crate::files::FOREIGN): what each is and what to do.

use crate::files::text::begins_json;

/// The first bytes of binary files.
const BINARY: [(&[u8], &str); 12] = [
    (b"\xd0\xcf\x11\xe0", "is an Excel workbook (.xls); save it as .xlsx or CSV"),
    (b"SQLite format 3\0", "is an SQLite database; export the table as CSV"),
    (b"%PDF", "is a PDF; tables are read from CSV, JSON lines, Parquet, XLSX, NPY and NPZ"),
    (b"BZh", "is compressed with bzip2; unpack it first: bunzip2"),
    (b"\xfd7zXZ\0", "is compressed with xz; unpack it first: unxz"),
    (b"\x04\x22\x4d\x18", "is compressed with LZ4; unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7-Zip archive; unpack it first"),
    (b"Rar!\x1a\x07", "is a RAR archive; unpack it first"),
    (b"PK\x05\x06", "is a ZIP archive without files"),
    (b"ORC", "is an ORC file; save it as Parquet or CSV"),
    (b"ARROW1", "is an Arrow file (Feather); save it as Parquet or CSV"),
    (b"FEA1", "is a Feather file; save it as Parquet or CSV"),
];

/// What begins a text of another kind, in small letters, and what to do.
const TEXT: [(&str, &str); 18] = [
    ("<!doctype html", HTML),
    ("<html", HTML),
    ("<head", HTML),
    ("<body", HTML),
    ("<table", HTML),
    ("<div", HTML),
    ("<?xml", XML),
    ("version https://git-lfs", "is a pointer of Git LFS, not the file itself; fetch that with git lfs pull"),
    ("-- mysql dump", SQL),
    ("-- mariadb dump", SQL),
    ("--\n-- postgresql database dump", SQL),
    ("--\r\n-- postgresql database dump", SQL),
    ("pragma foreign_keys", SQL),
    ("begin transaction;", SQL),
    ("create table ", SQL),
    ("insert into ", SQL),
    ("drop table ", SQL),
    ("{\\rtf", "is a document in Rich Text Format; save it as CSV"),
];

const HTML: &str = "is HTML, a web page, whatever its name is; save its table as CSV or .xlsx, or fetch the file itself, not the page about it";
const XML: &str = "is XML; save it as CSV, JSON or .xlsx";
const SPREADSHEET: &str = "is an Excel workbook in XML (2003); save it as .xlsx or CSV";
const SQL: &str = "is a dump of a database (SQL); load it into the database and export the table as CSV";

/// What a file is that begins with `bytes`, and what to do, if it is of a kind that is not read.
pub(super) fn foreign(bytes: &[u8]) -> Option<String> {
    if let Some((_, what)) = BINARY.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        // A text can begin with the letters of a binary file, which has zeros soon.
        let is_text = magic_is_text(bytes) && !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
        return (!is_text).then(|| (*what).to_owned());
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return Some("is a tar archive; unpack it, and name a file or the folder".into());
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins = |start: &str| text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start.as_bytes()));
    if let Some((start, what)) = TEXT.iter().find(|(start, _)| begins(start)) {
        let holds = |part: &[u8]| bytes[..bytes.len().min(4096)].windows(part.len()).any(|window| window == part);
        let is_workbook = *start == "<?xml" && holds(b"urn:schemas-microsoft-com:office:spreadsheet");
        let is_page = *start == "<?xml" && holds(b"<html");
        return Some(
            if is_workbook {
                SPREADSHEET
            } else if is_page {
                HTML
            } else {
                *what
            }
            .to_owned(),
        );
    }
    arff(text).or_else(|| before_json(text))
}

fn magic_is_text(bytes: &[u8]) -> bool {
    [&b"BZh"[..], b"ORC", b"FEA1", b"ARROW1"].iter().any(|magic| bytes.starts_with(magic))
}

/// What is said of a file of Weka: names and kinds of columns in lines with `@` above the rows.
fn arff(text: &[u8]) -> Option<String> {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.clone().find(|line| !line.is_empty() && !line.starts_with(b"%"))?;
    if !first.get(..9)?.eq_ignore_ascii_case(b"@relation") {
        return None;
    }
    let data = lines.position(|line| line.eq_ignore_ascii_case(b"@data"));
    let rows = data.map_or(String::new(), |at| {
        format!(", or read its rows with skip {} and no header, which name the columns c0, c1, …", at + 1)
    });
    Some(format!("is an ARFF file (Weka), whose names are in the lines with @attribute; save it as CSV{rows}"))
}

/// What is said of JSON behind something else: a comment, or the variable of a script.
fn before_json(text: &[u8]) -> Option<String> {
    let line = &text[..text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len())];
    let expected = "expected the JSON alone: leave out what is before it";
    let is_comment = [&b"//"[..], b"#", b"/*"].iter().any(|mark| text.starts_with(mark));
    if is_comment {
        let is_block = text.starts_with(b"/*");
        let end = text.windows(2).position(|pair| is_block && pair == b"*/").map_or(line.len(), |at| at + 2);
        let what = format!("is JSON behind a comment; {expected}");
        return begins_json(&text[end..]).then_some(what);
    }
    let opens = line.iter().position(|byte| b"[{".contains(byte))?;
    let before = line[..opens].trim_ascii();
    let is_script = before.ends_with(b"=") || before.ends_with(b"(");
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b" ._$=(".contains(byte);
    let is_json = is_script && before.len() > 1 && before.iter().all(is_name) && begins_json(&text[opens..]);
    is_json.then(|| format!("is JSON behind \"{}\"; {expected}", String::from_utf8_lossy(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begins(bytes: &[u8]) -> String {
        let said = foreign(bytes).unwrap_or_default();
        said.split([';', ',']).next().unwrap_or_default().to_owned()
    }

    #[test]
    fn other_kinds_are_named_by_their_first_bytes() {
        let mut tar = vec![0; 512];
        tar[..5].copy_from_slice(b"a.csv");
        tar[257..262].copy_from_slice(b"ustar");
        let cases: &[(&[u8], &str)] = &[
            (b"BZh91AY&SY\0", "is compressed with bzip2"),
            (b"\xfd7zXZ\0\0", "is compressed with xz"),
            (b"7z\xbc\xaf\x27\x1c", "is a 7-Zip archive"),
            (b"Rar!\x1a\x07\x01\0", "is a RAR archive"),
            (b"PK\x05\x06\0\0", "is a ZIP archive without files"),
            (b"ORC\n\0", "is an ORC file"),
            (b"FEA1\0", "is a Feather file"),
            (&tar, "is a tar archive"),
            (b"\n <HTML><table>", "is HTML"),
            (b"\xef\xbb\xbf<!DOCTYPE html>", "is HTML"),
            (b"<?xml version=\"1.0\"?><html>", "is HTML"),
            (b"<?xml version=\"1.0\"?><r/>", "is XML"),
            (
                b"<?xml?><Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">",
                "is an Excel workbook in XML (2003)",
            ),
            (b"version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS"),
            (b"-- MySQL dump 10.13\n", "is a dump of a database (SQL)"),
            (b"CREATE TABLE t (a int);\n", "is a dump of a database (SQL)"),
            (b"ORC,BZh\n1,2\n", ""),
            (b"<5,>5\n1,2\n", ""),
            (b"version,b\n1,2\n", ""),
        ];
        for (bytes, expected) in cases {
            assert_eq!(begins(bytes), *expected, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn what_is_before_json_is_named() {
        let expected = "expected the JSON alone: leave out what is before it";
        let comment = format!("is JSON behind a comment; {expected}");
        for text in ["// made by x\n[{\"a\": 1}]", "/* made\n by x */ {\"a\": 1}", "# x\n{\"a\": 1}\n{\"a\": 2}"] {
            assert_eq!(foreign(text.as_bytes()), Some(comment.clone()), "{text}");
        }
        let script = |text: &str| foreign(text.as_bytes()).unwrap();
        assert_eq!(script("var data = [{\"a\": 1}];"), format!("is JSON behind \"var data =\"; {expected}"));
        assert_eq!(script("callback([[1]])"), format!("is JSON behind \"callback(\"; {expected}"));
        for text in ["# made by x\na,b\n1,2\n", "f(x) = [a],b\n1,2\n", "a=[b],c\n"] {
            assert_eq!(foreign(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_file_of_weka_is_named() {
        let said = foreign(b"% x\n@RELATION r\n@attribute a numeric\n@data\n1\n").unwrap();
        assert_eq!(
            said,
            "is an ARFF file (Weka), whose names are in the lines with @attribute; save it as CSV, or read its rows with skip 4 and no header, which name the columns c0, c1, …"
        );
        assert_eq!(foreign(b"@a,b\n1,2\n"), None);
    }
}
