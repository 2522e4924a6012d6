//! How a table's file is read, as the command line gives it, and its reading.

use std::path::Path;

use clap::Args;

use crate::terminal::console::complain;
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::files::{BadRows, Format, Given, Header, Layout, ReadLike, Table, TableBytes, encoding_by_name};
use meromorph::files::{check_bytes, read_files, read_files_like, read_table, read_table_like, unpack};
use meromorph::internal::host;
use meromorph::model::Model;
use meromorph::options::names as names_of;
use meromorph::{Error, Result};

/// Options of lists of names besides those of training, which are read by [`names_of`].
pub(crate) const NAMES: [&str; 2] = ["na", "partial"];

/// How a table's file is read.
#[derive(Args, Clone)]
#[command(next_help_heading = "Reading the table")]
pub(crate) struct Reading {
    /// The first record holds names; by default, it does if none of its cells is a number
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first record is data; columns are named c0, c1, …
    #[arg(long)]
    no_header: bool,
    /// Character between cells, or "spaces" for any number of blanks; by default, the one of , ; | and tab that the first record has most often, or spaces (a tab is \t)
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// Decimal mark of numbers: . or , [default: .]
    #[arg(long, value_name = "CHAR")]
    decimal: Option<String>,
    /// Character between groups of three digits
    #[arg(long, value_name = "CHAR")]
    thousands: Option<String>,
    /// Texts that mean a missing cell, besides nothing, N/A, nan, null, ? and, among numbers and dates, NA, -, none, unknown and other usual words
    #[arg(long, value_name = "A,B", allow_hyphen_values = true)]
    na: Vec<String>,
    /// NA and the other words are texts like others; only empty cells and those of --na are missing
    #[arg(long)]
    keep_na: bool,
    /// Sheet of an Excel workbook; by default, the first that is not hidden
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// Encoding of the text: utf-8, utf-16le, utf-16be, latin1, windows-1252 or iso-8859-15; by default, UTF-8 or the one of its mark
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// Lines that begin with this text are comments; by default, those with # at the top
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// Lines before the table, which are left out
    #[arg(long, value_name = "LINES")]
    skip: Option<usize>,
    /// Line of the names, from 1; lines before it are left out
    #[arg(long, value_name = "LINE", conflicts_with = "no_header")]
    header_row: Option<usize>,
    /// What is done with rows that have too few or too many cells [default: refuse]
    #[arg(long, value_name = "HOW", value_parser = BadRows::ALL.map(|(name, _, _)| name))]
    bad_rows: Option<String>,
    /// Character before a quote within quotes, if that is not another quote
    #[arg(long, value_name = "CHAR")]
    escape: Option<String>,
}

impl Reading {
    /// Errors if the marks contradict each other.
    pub(crate) fn format(&self) -> Answer<Format> {
        Ok(self.given()?.format)
    }

    /// What was said, for a table that is else written like another one. Errors if the marks contradict each other.
    pub(crate) fn given(&self) -> Answer<Given> {
        let mut format = Format::default();
        let names = [
            ("header", self.header || self.no_header),
            ("delimiter", self.delimiter.is_some()),
            ("decimal", self.decimal.is_some()),
            ("thousands", self.thousands.is_some()),
            ("na", !self.na.is_empty()),
            ("keep_na", self.keep_na),
            ("sheet", self.sheet.is_some()),
            ("encoding", self.encoding.is_some()),
            ("comment", self.comment.is_some()),
            ("skip", self.skip.is_some()),
            ("header_row", self.header_row.is_some()),
            ("bad_rows", self.bad_rows.is_some()),
            ("escape", self.escape.is_some()),
        ];
        format.header = match (self.header, self.no_header) {
            (true, _) => Header::Yes,
            (_, true) => Header::No,
            _ => Header::Auto,
        };
        format.delimiter = self.delimiter.as_ref().map(|text| text.replace("\\t", "\t"));
        format.missing = self.na.iter().flat_map(|text| names_of(text)).collect();
        if let Some(decimal) = &self.decimal {
            format.decimal.clone_from(decimal);
        }
        format.thousands.clone_from(&self.thousands);
        format.sheet.clone_from(&self.sheet);
        format.keeps_words = self.keep_na;
        let bad_rows = self.bad_rows.as_deref().map(BadRows::by_name).transpose();
        let encoding = self.encoding.as_deref().map(encoding_by_name).transpose();
        format.layout = Layout {
            encoding: encoding.map_err(|error| Failure::usage(error.to_string()))?.map(str::to_owned),
            comment: self.comment.clone(),
            skip: self.skip.unwrap_or(0),
            header_row: self.header_row,
            bad_rows: bad_rows.map_err(|error| Failure::usage(error.to_string()))?.unwrap_or_default(),
            escape: self.escape.clone(),
        };
        format.check().map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Given { format, names: names.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect() })
    }
}

/// A table that a model is to be used on.
pub(crate) struct New {
    pub(crate) table: Table,
    pub(crate) format: Format,
    /// Its bytes, if they are in one place.
    pub(crate) bytes: Option<TableBytes>,
}

/// Reads a table for a model: as the one that it learnt from was written, except in what the command line says. What differs is said.
pub(crate) fn read_for(model: &Model, file: &Path, said: &Reading, command: &str) -> Answer<New> {
    let given = said.given()?;
    let (ReadLike { table, format, notes, taken }, bytes) = read_as(file, &given, &model.reading())?;
    let source = table.source().to_owned();
    if !taken.is_empty() {
        complain(&format!("mero {command}: {source} is read like the table of training: {}", taken.join(", ")));
    }
    say_notes(command, &table);
    let columns = model.preparation()?.differences(&table);
    for note in notes.iter().map(|note| format!("{source} {note}")).chain(columns) {
        complain(&format!("mero {command}: {note}"));
    }
    Ok(New { table, format, bytes })
}

/// The bytes of a table's file, unpacked if they are compressed, and its name. `-` is standard input.
pub(crate) fn read_bytes(file: &Path) -> Result<(Vec<u8>, String)> {
    let _progress = reading(file);
    let (bytes, source) = if file == Path::new("-") {
        (host::read_stdin(check_bytes)?, "standard input".to_owned())
    } else {
        (host::read_checked(file, check_bytes)?, file.display().to_string())
    };
    Ok((unpack(bytes, &source)?, source))
}

/// Reads a table that is written like another one, of format `own`; with what differs.
pub(crate) fn read_like(file: &Path, own: &Format) -> Result<ReadLike> {
    read_as(file, &Given::default(), own).map(|(read, _)| read)
}

/// Reads a table that is written like another one, of format `own`, except in what is given; and its bytes, if they are in one place.
fn read_as(file: &Path, given: &Given, own: &Format) -> Result<(ReadLike, Option<TableBytes>)> {
    let _progress = reading(file);
    if file != Path::new("-") {
        return read_files_like(file, given, own);
    }
    let (bytes, source) = read_bytes(file)?;
    let read = read_table_like(&bytes, &source, given, own)?;
    let format = read.format.clone();
    Ok((read, Some(TableBytes { bytes, format })))
}

/// Reads a table from a file, a folder of files, or those that match a pattern, and frees their bytes.
pub(crate) fn read(file: &Path, format: &Format) -> Result<Table> {
    read_with_bytes(file, format).map(|(table, _)| table)
}

/// The same, and its bytes, if they are in one place.
pub(crate) fn read_with_bytes(file: &Path, format: &Format) -> Result<(Table, Option<TableBytes>)> {
    let _progress = reading(file);
    if file != Path::new("-") {
        return read_files(file, format);
    }
    let (bytes, source) = read_bytes(file)?;
    let table = read_table(&bytes, &source, format)?;
    Ok((table, Some(TableBytes { bytes, format: format.clone() })))
}

/// Prints what a person should know about how a table was read.
pub(crate) fn say_notes(command: &str, table: &Table) {
    for note in table.notes() {
        complain(&format!("mero {command}: {}: {note}", table.source()));
    }
}

/// Files from this size are read for a noticeable time.
const LARGE: u64 = 32 << 20;

/// Progress for a file that takes a while, and for standard input.
pub(crate) fn reading(file: &Path) -> Option<Progress> {
    let bytes = host::file_bytes(file).unwrap_or(u64::MAX);
    let size = if bytes < u64::MAX { format!(" ({})", meromorph::report::bytes(bytes)) } else { String::new() };
    (bytes >= LARGE).then(|| Progress::open(&format!("reading {}{size}", file.display())))
}

/// Errors if a wanted column is not in a text table whose first record was read as data and has that name: years are names that look like numbers.
pub(crate) fn check_header<'a>(table: &Table, header: Header, names: impl IntoIterator<Item = &'a str>) -> Answer {
    if header != Header::Auto {
        return Ok(());
    }
    let is_first = |name: &str| table.find(name).is_none() && table.is_first_record(name);
    let Some(name) = names.into_iter().find(|name| is_first(name)) else { return Ok(()) };
    let source = table.source();
    Err(Error::new(format!(
        "column \"{name}\" not in {source}: its first record holds numbers and is read as data; --header reads it as names"
    ))
    .into())
}
