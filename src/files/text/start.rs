//! Where the table of a text starts: its delimiter, the line of its names, its first row; what is left out around them, and how that is said.

use super::cause::{SPACED, cause, has_row_names};
use super::cell::Meaning;
use super::delimiter::{is_spaced, sniff_delimiter};
use super::format::{Format, Header, SPACES};
use super::hash::{Hash, hash};
use super::layout::BadRows;
use super::missing::trimmed;
use super::reading::Warning;
use super::records::{RawCell, Records, Rules};
use super::rows::Rows;
use super::sample::Sample;
use crate::error::{Error, Result};
use crate::files::names::{make_distinct, on_one_line};

/// The start of a table.
pub(crate) struct Start<'a> {
    pub(crate) names: Vec<String>,
    /// The rows, from the first on.
    pub(crate) rows: Rows<'a>,
    /// The record of the names, if the text has them.
    pub(crate) header: Option<Records<'a>>,
    /// What a person should know.
    pub(crate) notes: Vec<Warning>,
}

pub(crate) const NOT_UTF8: &str = "is not UTF-8 text; save the file as UTF-8, or name its encoding, such as encoding latin1, which is only for Western European letters; iconv -f SHIFT-JIS -t UTF-8 converts others";

/// Finds the start of the table in a text, which is UTF-8 without a mark. `source` and `format` are those of [`super::csv::read`].
pub(crate) fn start<'a>(text: &'a [u8], source: &'a str, format: &'a Format) -> Result<Start<'a>> {
    format.check()?;
    let mut notes = Vec::new();
    let records = ruled(text, source, format, &mut notes)?;
    if records.rules().is_spaced && format.layout.bad_rows == BadRows::Fill {
        return Err(Error::usage(format!("{source}: bad_rows: got fill, expected refuse or skip: {SPACED}")));
    }
    let sample = Sample::of(&records);
    let is_open = format.layout.lines_before() == 0 && format.header != Header::No;
    let at = if is_open { sample.names_at(format) } else { None };
    let mut rows = records.clone();
    if let Some(at) = at {
        rows = sample.records[at].records.clone();
        notes.push(before(&sample, at));
    }
    let header = rows.clone();
    let is_named = at.is_some() || format.layout.header_row.is_some();
    let mut names = read_names(&mut rows, source, format, is_named)?;
    let has_names = rows.start() != header.start();
    let first = at.unwrap_or(0) + usize::from(has_names);
    if has_names {
        let below = sample.records.get(first).map_or(names.len(), |record| record.cells.len());
        if below < names.len() && sample.records[first..].iter().all(|record| record.cells.len() == below) {
            drop_unnamed(&mut names, below, &header, &mut notes);
        }
        let units = sample.units(first, format);
        if units > 0 {
            rows = sample.records[first + units].records.clone();
            notes.push(units_note(&sample, first, units));
        }
    }
    if has_names && has_row_names(&sample.records[first.min(sample.records.len())..], names.len(), format) {
        names.insert(0, String::new());
        let message = "every row has a cell more than the line of names; the first column, which has no name, is read as \"c0\", as names of rows";
        notes.push(Warning::of_table(message));
    }
    let mut names: Vec<String> = names.into_iter().enumerate().map(named).collect();
    notes.extend(make_distinct(names.iter_mut()));
    let width = names.len();
    let below = &sample.records[first.min(sample.records.len())..];
    let is_longer = |record: &super::sample::Record<'_>| {
        record.cells.len() == width + 1 && record.cells.last().is_some_and(String::is_empty)
    };
    let drops_last = has_names && !below.is_empty() && below.iter().all(is_longer);
    if drops_last {
        let message = "each row ends in a delimiter more than the line of names; the empty cell behind it is left out";
        notes.push(Warning::of_table(message));
    }
    // Where rows may lack the value of the last column, a cell too many may also be one with a delimiter in it.
    let shortens = below.iter().all(|record| record.cells.len() != width || !record.cells[width - 1].is_empty());
    let cause = cause(&sample, first, width, has_names);
    let bad_rows = format.layout.bad_rows;
    let rows = Rows {
        records: rows,
        width,
        source,
        drops_last,
        shortens,
        bad_rows,
        cause,
        row: 0,
        bad: super::rows::Bad::default(),
    };
    Ok(Start { names, rows, header: has_names.then_some(header), notes })
}

fn named((at, name): (usize, String)) -> String {
    if name.is_empty() { format!("c{at}") } else { name }
}

/// The records behind what is skipped, by the rules of the format and those that are found.
fn ruled<'a>(text: &'a [u8], source: &'a str, format: &'a Format, notes: &mut Vec<Warning>) -> Result<Records<'a>> {
    let layout = &format.layout;
    let escape = layout.escape.as_ref().map(|text| text.as_bytes()[0]);
    let comment = layout.comment.as_ref().map(String::as_bytes);
    let mut records = Records::new(text, Rules { comment, escape, ..b','.into() }, source);
    let declared = declared(text);
    let before = layout.lines_before();
    let lines = if before == 0 { usize::from(declared.is_some()) } else { before };
    if !records.skip_lines(lines) {
        let options = if layout.header_row.is_some() { "header_row" } else { "skip" };
        return Err(Error::new(format!(
            "{source}: has no rows behind its first {lines} lines, which {options} leaves out"
        )));
    }
    let given = delimiter(text, source, format).or(declared);
    if before == 0 && comment.is_none() && format.header != Header::No {
        match hash(&records, given, format) {
            Hash::None => {}
            Hash::Comments { lines, is_everywhere } => {
                notes.push(hash_note(lines, false));
                if is_everywhere {
                    records = records.ruled(Rules { comment: Some(b"#"), ..records.rules() });
                }
                skip_hashes(&mut records, lines);
            }
            Hash::Names { lines } => {
                notes.extend((lines > 0).then(|| hash_note(lines, true)));
                skip_hashes(&mut records, lines);
                records.skip_to_line();
                if records.skip_mark(b'#', given) {
                    let message = "the line of names begins with #, which is left out of the first name";
                    notes.push(Warning::of_table(message));
                }
            }
        }
    }
    records.skip_to_record();
    let rules = records.rules();
    Ok(match given {
        Some(b' ') if format.delimiter.as_deref() == Some(SPACES) => {
            records.ruled(Rules { delimiter: b' ', is_spaced: true, ..rules })
        }
        Some(delimiter) => records.ruled(Rules { delimiter, ..rules }),
        None => sniffed(&records, format, notes),
    })
}

fn skip_hashes(records: &mut Records<'_>, lines: usize) {
    for _ in 0..lines {
        // Empty lines between comments are none of them.
        records.skip_to_line();
        records.skip_lines(1);
    }
}

/// The delimiter that is given, or that the name of the file says.
fn delimiter(text: &[u8], source: &str, format: &Format) -> Option<u8> {
    match format.delimiter.as_deref() {
        Some(SPACES) => return Some(b' '),
        Some(given) => return Some(given.as_bytes()[0]),
        None => {}
    }
    let name = source.to_ascii_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    ([".tsv", ".tab"].iter().any(|end| name.ends_with(end)) && !has_other(text)).then_some(b'\t')
}

/// Whether the first lines of a text have no tab, but all as many of another delimiter: its name says otherwise, but its cells decide.
fn has_other(text: &[u8]) -> bool {
    const LINES: usize = 20;
    let lines = || text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(LINES);
    let count = |line: &[u8], mark: u8| line.split(|byte| *byte == mark).count() - 1;
    let is_even = |mark: u8| {
        let mut counts = lines().map(|line| count(line, mark));
        counts.next().is_some_and(|first| first > 0 && counts.all(|count| count == first))
    };
    lines().all(|line| !line.contains(&b'\t')) && [b',', b';', b'|'].into_iter().any(is_even)
}

/// The delimiter that the first line declares for Excel: `sep=;`.
fn declared(text: &[u8]) -> Option<u8> {
    let line = text.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', mark] if !mark.is_ascii_alphanumeric() => Some(*mark),
        _ => None,
    }
}

/// The records by the delimiter of the first one, or by another one where that leaves records of different lengths.
fn sniffed<'a>(records: &Records<'a>, format: &Format, notes: &mut Vec<Warning>) -> Records<'a> {
    let ruled = |delimiter: u8| records.ruled(Rules { delimiter, ..records.rules() });
    let usual = ruled(sniff_delimiter(records.rest()));
    let sample = Sample::of(&usual);
    let is_even =
        |sample: &Sample<'_>| sample.records.iter().all(|record| record.cells.len() == sample.records[0].cells.len());
    if sample.width() > 1 && (is_even(&sample) || sample.names_at(format).is_some()) {
        return usual;
    }
    let others =
        [b';', b'\t', b'|', b','].into_iter().map(ruled).filter(|other| other.delimiter() != usual.delimiter());
    let other = others
        .map(|other| (Sample::of(&other), other))
        .filter(|(other, _)| {
            other.width() > 1 && (is_even(other) && sample.width() > 1 || other.names_at(format).is_some())
        })
        .max_by_key(|(other, _)| other.width());
    if let Some((_, other)) = other {
        return other;
    }
    if sample.width() <= 1 && is_spaced(&usual, format) {
        notes.push(Warning::of_table("cells are apart by spaces; a delimiter declares another character"));
        return records.ruled(Rules { delimiter: b' ', is_spaced: true, ..records.rules() });
    }
    let rare = RARE.into_iter().map(ruled).find(|other| {
        let other = Sample::of(other);
        other.records.len() > 2
            && other.width() > 1
            && is_even(&other)
            && other.are_names(0, format)
            && other.has_numbers(1, format)
    });
    let Some(rare) = rare.filter(|_| sample.width() == 1) else { return usual };
    let mark = char::from(rare.delimiter());
    let mark = if mark.is_control() { format!("the character {}", u32::from(mark)) } else { format!("\"{mark}\"") };
    notes.push(Warning::of_table(format!("cells are apart by {mark}; a delimiter declares another character")));
    rare
}

/// Characters that are rarely between cells: only if each record has as many.
const RARE: [u8; 5] = [b'^', b'~', 0x01, 0x1f, b':'];

/// The names of the columns, empty where there is none. Leaves `records` at the first record behind them.
fn read_names(records: &mut Records<'_>, source: &str, format: &Format, is_named: bool) -> Result<Vec<String>> {
    let mut after = records.clone();
    let mut cells: Vec<RawCell<'_>> = Vec::new();
    if after.next(&mut cells)?.is_none() {
        return Err(Error::new(format!("{source}: is empty")));
    }
    let has_names = match format.header {
        Header::Auto => is_named || !cells.iter().any(|cell| matches!(format.meaning(cell), Meaning::Number(_))),
        Header::Yes => true,
        Header::No => false,
    };
    if !has_names {
        return Ok(vec![String::new(); cells.len()]);
    }
    *records = after;
    let name = |cell: &RawCell<'_>| {
        let text = std::str::from_utf8(trimmed(cell)).ok();
        text.map(on_one_line).ok_or_else(|| Error::new(format!("{source}: the header {NOT_UTF8}")))
    };
    cells.iter().map(name).collect()
}

/// Drops empty names behind the cells that every row has.
fn drop_unnamed(names: &mut Vec<String>, width: usize, header: &Records<'_>, notes: &mut Vec<Warning>) {
    if names[width..].iter().all(String::is_empty) && width > 0 {
        names.truncate(width);
        let line = header.line();
        let message = format!("line {line} ends in delimiters without names, which no row has; they are left out");
        notes.push(Warning::of_table(message));
    }
}

fn before(sample: &Sample<'_>, at: usize) -> Warning {
    let [first, names] = [0, at].map(|at| sample.records[at].line);
    let cells = sample.records[..at].iter().take(5).map(|record| record.cells.join(" ").trim().to_owned()).collect();
    let what =
        if first + 1 == names { format!("line {first} is") } else { format!("lines {first} to {} are", names - 1) };
    let message = format!("{what} above the table and left out; skip and header_row declare another start");
    Warning { column: String::new(), message, cells }
}

fn units_note(sample: &Sample<'_>, first: usize, units: usize) -> Warning {
    let lines: Vec<String> = (first..first + units).map(|at| sample.records[at].line.to_string()).collect();
    let cells = sample.records[first].cells.iter().filter(|cell| !cell.is_empty()).take(5).cloned().collect();
    let what = if units == 1 { "line" } else { "lines" };
    let message = format!(
        "{what} {} below the names: texts where all other rows have numbers, such as units; left out",
        lines.join(" and ")
    );
    Warning { column: String::new(), message, cells }
}

fn hash_note(lines: usize, has_names: bool) -> Warning {
    let what = if lines == 1 {
        "the first line begins with # and is taken as a comment, which is left out".to_owned()
    } else {
        format!("the first {lines} lines begin with # and are taken as comments, which are left out")
    };
    let names = if has_names { "; the last line with # holds the names" } else { "" };
    Warning::of_table(format!("{what}{names}; skip or no header declares another start"))
}

#[cfg(test)]
#[path = "start_tests.rs"]
mod tests;
