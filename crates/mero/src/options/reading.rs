//! How a table's file is read, as the command line gives it, and its reading.

use std::path::Path;

use clap::Args;

use crate::options::flags::{Flags, Text};
use crate::terminal::console::complain;
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::files::{Format, Given, Header, ReadLike, Table, TableBytes};
use meromorph::files::{check_bytes, read_files, read_files_like, read_table, read_table_like, unpack};
use meromorph::internal::host;
use meromorph::model::Model;
use meromorph::{Error, Result};

/// Options of lists of names besides those of training, which are read as names.
pub(crate) const NAMES: [&str; 2] = ["na", "partial"];

/// How a table's file is read.
#[derive(Args, Clone)]
#[command(next_help_heading = "Reading the table")]
pub(crate) struct Reading {
    /// The first record holds names; by default, it does if none of its cells is a number
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first record is data; columns are named c0, c1, …
    #[arg(long, conflicts_with = "header_row")]
    no_header: bool,
    #[command(flatten)]
    flags: Flags<Text>,
    /// Sheet of an Excel workbook; by default, the first that is not hidden
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
}

impl Reading {
    /// Errors if the marks contradict each other.
    pub(crate) fn format(&self) -> Answer<Format> {
        Ok(self.given()?.format)
    }

    /// What was said, for a table that is else written like another one. Errors if the marks contradict each other.
    pub(crate) fn given(&self) -> Answer<Given> {
        let mut format = self.flags.apply(Format::default())?;
        format.header = match (self.header, self.no_header) {
            (true, _) => Header::Yes,
            (_, true) => Header::No,
            _ => Header::Auto,
        };
        format.sheet.clone_from(&self.sheet);
        format.check().map_err(|error| Failure::usage(error.to_string()))?;
        let others = [("header", self.header || self.no_header), ("sheet", self.sheet.is_some())];
        let others = others.into_iter().filter_map(|(name, is_given)| is_given.then_some(name));
        Ok(Given { format, names: self.flags.names().chain(others).collect() })
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
