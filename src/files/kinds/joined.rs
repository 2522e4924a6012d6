//! Several texts of the same columns as one.

use crate::error::{Error, Result};
use crate::files::Warning;
use crate::files::text::encoding::decoded;
use crate::files::text::records::RawCell;
use crate::files::text::start::{Start, start};
use crate::files::text::{Format, Header, Layout};

/// How the text of several files is read: with names, commas and nothing else around it.
pub(crate) fn joined_format(format: &Format) -> Format {
    Format { header: Header::Yes, delimiter: Some(",".into()), layout: Layout::default(), ..format.clone() }
}

/// The options that [`joined_format`] sets.
pub(crate) const JOINED: [&str; 8] =
    ["header", "delimiter", "encoding", "comment", "skip", "header_row", "bad_rows", "escape"];

/// Several texts as one.
pub(crate) struct Joined {
    pub(crate) text: Vec<u8>,
    /// What a person should know.
    pub(crate) notes: Vec<Warning>,
    /// The files, and how many rows each has.
    pub(crate) parts: Vec<(String, usize)>,
}

/// One text of all rows of several named texts, with the columns of the first. Errors if another one has other columns.
pub(crate) fn joined(files: &[(String, Vec<u8>)], format: &Format) -> Result<Joined> {
    let (mut out, mut notes, mut first): (Vec<u8>, Vec<Warning>, Option<Vec<String>>) = Default::default();
    let mut parts = Vec::new();
    for (source, bytes) in files {
        let (text, found) = decoded(bytes, source, format)?;
        let Start { names, mut rows, notes: more, .. } = start(&text, source, format)?;
        let order = match &first {
            None => {
                let order = (0..names.len()).collect();
                line(&mut out, names.iter().map(String::as_bytes));
                first = Some(names);
                order
            }
            Some(first) => order(first, [&files[0].0, source], &names)?,
        };
        let (mut cells, mut count): (Vec<RawCell<'_>>, usize) = Default::default();
        while rows.next(&mut cells)?.is_some() {
            count += 1;
            line(&mut out, order.iter().map(|at: &usize| &*cells[*at]));
        }
        parts.push((source.clone(), count));
        let bad = rows.into_bad().notes();
        let named = |note: Warning| Warning { message: format!("{source}: {}", note.message), ..note };
        notes.extend(found.into_iter().chain(more).chain(bad).map(named));
    }
    Ok(Joined { text: out, notes, parts })
}

/// Where the columns of the first file are in another one.
fn order(first: &[String], sources: [&str; 2], names: &[String]) -> Result<Vec<usize>> {
    let [all, others] = [first, names].map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
    check_names(sources, &all, &others)?;
    Ok(first.iter().filter_map(|name| names.iter().position(|other| other == name)).collect())
}

/// Errors if two files have other columns.
pub(crate) fn check_names([first, other]: [&str; 2], names: &[&str], others: &[&str]) -> Result<()> {
    let refused = |what: String| Err(Error::new(format!("{other}: {what}; files of one table have the same columns")));
    if let Some(name) = names.iter().find(|name| !others.contains(name)) {
        return refused(format!("lacks the column \"{name}\" of {first}"));
    }
    match others.iter().find(|name| !names.contains(name)) {
        Some(name) => refused(format!("has the column \"{name}\", which {first} lacks")),
        None => Ok(()),
    }
}

/// Appends a line of cells.
fn line<'a>(out: &mut Vec<u8>, cells: impl Iterator<Item = &'a [u8]>) {
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        let has_blanks = cell.trim_ascii().len() < cell.len();
        if !has_blanks && !cell.is_empty() && !cell.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
            out.extend(cell);
            continue;
        }
        out.push(b'"');
        for byte in cell {
            out.extend(if *byte == b'"' { &b"\"\""[..] } else { std::slice::from_ref(byte) });
        }
        out.push(b'"');
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(texts: &[&str]) -> Vec<(String, Vec<u8>)> {
        texts.iter().enumerate().map(|(at, text)| (format!("{at}.csv"), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn rows_of_all_files_have_the_columns_of_the_first() {
        let texts = ["a,b\n1,\"x, \"\"y\"\"\"\n", "b;a\n z;2\n;3\n"];
        let Joined { text, notes, parts } = joined(&files(&texts), &Format::default()).unwrap();
        assert_eq!(parts, [("0.csv".to_owned(), 1), ("1.csv".into(), 2)]);
        assert_eq!(String::from_utf8(text).unwrap(), "a,b\n1,\"x, \"\"y\"\"\"\n2,\" z\"\n3,\"\"\n");
        assert!(notes.is_empty());
    }

    #[test]
    fn a_file_that_differs_is_named() {
        let error = |texts: &[&str]| joined(&files(texts), &Format::default()).map(|_| ()).unwrap_err().to_string();
        let same = "files of one table have the same columns";
        assert_eq!(error(&["a,b\n1,2\n", "a,c\n1,2\n"]), format!("1.csv: lacks the column \"b\" of 0.csv; {same}"));
        let message = format!("2.csv: has the column \"c\", which 0.csv lacks; {same}");
        assert_eq!(error(&["a,b\n1,2\n", "b,a\n1,2\n", "a,b,c\n1,2,3\n"]), message);
    }
}
