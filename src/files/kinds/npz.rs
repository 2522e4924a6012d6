//! Numpy's archive of named arrays: features `X` with target `y`, or any arrays of equal length.
//!
//! By ranges of rows, members that are stored (`numpy.savez`) are read where they lie; packed ones (`numpy.savez_compressed`) are unpacked once to a
//! temporary file. Either way all bytes of a member are read once when it is opened, and its checksum is verified.

use std::io::{Read, Seek};
use std::sync::Arc;

use super::excel;
use super::kind::{Kind, Opened};
use super::memory::has_memory;
use super::ranges::arrays::{Arrays, Part};
use crate::error::{Error, Result};
use crate::files::npy::{Array, Layout, MOST_HEADER_BYTES};
use crate::files::text::Format;
use crate::files::{RowSource, Table};
use crate::host::{ARCHIVE_MAGIC, Archive, RangeFile, Spool};

pub(crate) static KIND: Kind = Kind {
    name: "an archive of arrays (NPZ)",
    magic: ARCHIVE_MAGIC,
    is: |_| true,
    options: &[],
    read: Some(read),
    open: Some(open),
};

/// Common names of features and target; if there is such a pair, other arrays are ignored.
const PAIRS: [[&str; 2]; 4] = [["X", "y"], ["x", "y"], ["X", "Y"], ["data", "target"]];

/// Members by which other kinds of archives are recognised, and what these are.
const OTHERS: [(&str, &str); 3] = [
    ("xl/workbook.bin", "an Excel workbook (.xlsb)"),
    ("content.xml", "an OpenDocument file (.ods)"),
    ("word/document.xml", "a Word document (.docx)"),
];

/// Reads an archive, stored or compressed.
///
/// With a pair `X`, `y` (or `data`, `target`): columns `x0`, `x1`, … and the target under its own name. Otherwise every
/// array is used, 1-D as a column of its name, 2-D as columns `name_0`, `name_1`, …; all must have as many rows.
fn read(bytes: &[u8], source: &str, _format: &Format) -> Result<Table> {
    let mut archive = Archive::open(bytes, source)?;
    let mut columns = Vec::new();
    for member in members(&archive.names()?, source)? {
        let place = format!("{source}: {}", member.file);
        archive.check_memory(&member.file)?;
        check_header(&mut archive, &member.file, &place)?;
        let bytes = archive.unpack(&member.file)?;
        let array = Array::parse(&bytes, &place)?;
        has_memory(array.numbers(), 0).map_err(|what| Error::new(format!("{source}: {what}")))?;
        let width = array.layout.shape.get(1).copied().unwrap_or(1);
        columns.extend(array.columns(&place, |j| member.column(j, width))?);
    }
    Table::new(source, columns)
}

fn open(opened: &Opened, _format: &Format) -> Result<Box<dyn RowSource>> {
    let file = &opened.file;
    let source = file.name();
    let mut archive = Archive::open_file(file)?;
    let names = archive.names()?;
    if names.iter().any(|name| name == excel::WORKBOOK) {
        return opened.refused("is an Excel workbook");
    }
    let mut parts = Vec::new();
    for member in members(&names, source)? {
        let place = format!("{source}: {}", member.file);
        let (held, start, bytes) = match archive.place(&member.file)? {
            Some(range) if range.end > file.bytes() => {
                let (got, expected) = (file.bytes(), range.end);
                return Err(Error::new(format!("{place}: is cut short: got {got} bytes, expected {expected}")));
            }
            Some(range) => {
                archive.check(&member.file)?;
                (file.clone(), range.start, range.end - range.start)
            }
            None => {
                check_header(&mut archive, &member.file, &place)?;
                let held = Arc::new(unpacked(&mut archive, &member.file, &place)?);
                let bytes = held.bytes();
                (held, 0, bytes)
            }
        };
        let header = held.part(start, MOST_HEADER_BYTES.min(bytes as usize))?;
        let layout = Layout::parse(&header, bytes, &place)?;
        parts.push(Part::of_npy(held, start, &layout, &place, |j, width| member.column(j, width))?);
    }
    Ok(Box::new(Arrays::new(file.clone(), parts)?))
}

/// Errors if a member declares other bytes than its header needs, before all of it is unpacked.
fn check_header<R: Read + Seek>(archive: &mut Archive<'_, R>, member: &str, place: &str) -> Result<()> {
    let (start, bytes) = archive.start(member, MOST_HEADER_BYTES)?;
    Layout::parse(&start, bytes, place).map(drop)
}

fn unpacked<R: Read + Seek>(archive: &mut Archive<'_, R>, member: &str, place: &str) -> Result<RangeFile> {
    let mut spool = Spool::new(place)?;
    archive.unpack_to(member, &mut spool)?;
    spool.finish()
}

/// A member whose array is read, and the name of its columns.
struct Member {
    file: String,
    name: String,
    /// Whether its columns are `x0`, `x1`, ….
    is_features: bool,
}

impl Member {
    /// The name of column `j` of so many.
    fn column(&self, j: usize, width: usize) -> String {
        match (self.is_features, width) {
            (true, _) => format!("x{j}"),
            (false, 1) => self.name.clone(),
            (false, _) => format!("{}_{j}", self.name),
        }
    }
}

/// The arrays that are columns, of an archive with these members.
fn members(files: &[String], source: &str) -> Result<Vec<Member>> {
    if let Some((_, kind)) = OTHERS.iter().find(|(part, _)| files.iter().any(|file| file == part)) {
        return Err(Error::new(format!("{source}: is {kind}; save it as CSV or XLSX")));
    }
    let find = |name: &str| files.iter().find(|file| array_name(file) == Some(name));
    let member = |file: &str, name: &str| Member { file: file.to_owned(), name: name.to_owned(), is_features: false };
    if let Some((x, y, target)) = PAIRS.iter().find_map(|[x, y]| Some((find(x)?, find(y)?, *y))) {
        return Ok(vec![Member { is_features: true, ..member(x, "x") }, member(y, target)]);
    }
    let all = files.iter().map(|file| match array_name(file) {
        Some(name) => Ok(member(file, name)),
        None => Err(Error::new(format!("{source}: member {file} is not an array (.npy)"))),
    });
    all.collect()
}

fn array_name(member: &str) -> Option<&str> {
    member.strip_suffix(".npy")
}

#[cfg(test)]
#[path = "npz_tests.rs"]
mod tests;
