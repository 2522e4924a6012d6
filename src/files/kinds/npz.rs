//! Numpy's archive of named arrays: features `X` with target `y`, or any arrays of equal length.
//!
//! By ranges of rows, members that are stored (`numpy.savez`) are read where they lie; packed ones (`numpy.savez_compressed`) are unpacked once to a
//! temporary file. Either way all bytes of a member are read once when it is opened, and its checksum is verified.

use std::io::{Read, Seek};
use std::sync::Arc;

use super::kind::{Kind, Opened};
use super::memory::has_memory;
use super::ranges::arrays::{Arrays, Part};
use super::{cube, excel};
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

/// Common names of features and target; if there is such a pair, other arrays are ignored, except with `x` and `y` those that are as long.
const PAIRS: [[&str; 2]; 4] = [["X", "y"], ["x", "y"], ["X", "Y"], ["data", "target"]];

/// Members by which other kinds of archives are recognised, and what these are.
const OTHERS: [(&str, &str); 3] = [
    ("xl/workbook.bin", "an Excel workbook (.xlsb)"),
    ("content.xml", "an OpenDocument file (.ods)"),
    ("word/document.xml", "a Word document (.docx)"),
];

/// Reads an archive, stored or compressed.
///
/// With a pair `X`, `y` (or `data`, `target`): columns `x0`, `x1`, … and the target under its own name. With a pair `x`, `y` the first is a column `x` if
/// it is 1-D, and other arrays that are 1-D and as long are columns between the two. Otherwise every array is used, 1-D as a column of its name, 2-D as
/// columns `name_0`, `name_1`, …; all must have as many rows. An array [frames, rows, columns] is a row of the table for each of its numbers, see
/// [`cube`](super::cube).
fn read(bytes: &[u8], source: &str, _format: &Format) -> Result<Table> {
    let mut archive = Archive::open(bytes, source)?;
    let mut unpacked = Vec::new();
    for member in members(&archive.names()?, source)? {
        let place = format!("{source}: {}", member.file);
        archive.check_memory(&member.file)?;
        let layout = check_header(&mut archive, &member.file, &place)?;
        if !member.is_optional || layout.shape.len() == 1 {
            unpacked.push((archive.unpack(&member.file)?, member, place));
        }
    }
    let mut arrays = Vec::new();
    for (bytes, member, place) in &unpacked {
        let array = Array::parse(bytes, place)?;
        has_memory(array.numbers(), 0).map_err(|what| Error::new(format!("{source}: {what}")))?;
        arrays.push((array, member, place));
    }
    let rows = arrays.iter().find(|(_, member, _)| !member.is_optional).map(|(array, ..)| array.layout.shape.clone());
    let rows = rows.and_then(|shape| shape.first().copied());
    arrays.retain(|(array, member, _)| !member.is_optional || array.layout.shape.first().copied() == rows);
    if arrays.iter().any(|(array, ..)| array.layout.shape.len() == 3) {
        let named = arrays.iter().map(|(array, member, place)| (member.name.as_str(), array, place.as_str()));
        return Table::new(source, cube::columns(&named.collect::<Vec<_>>())?);
    }
    let mut columns = Vec::new();
    for (array, member, place) in &arrays {
        columns.extend(array.columns(place, |j| member.column(j, &array.layout.shape))?);
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
    let mut rows: Option<usize> = None;
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
        let is_alike = || layout.shape.len() == 1 && layout.shape.first() == rows.as_ref();
        if member.is_optional && !is_alike() {
            continue;
        }
        rows = rows.or(layout.shape.first().copied());
        parts.push(Part::of_npy(held, start, &layout, &place, |j, _| member.column(j, &layout.shape))?);
    }
    Ok(Box::new(Arrays::new(file.clone(), parts)?))
}

/// Errors if a member declares other bytes than its header needs, before all of it is unpacked.
fn check_header<R: Read + Seek>(archive: &mut Archive<'_, R>, member: &str, place: &str) -> Result<Layout> {
    let (start, bytes) = archive.start(member, MOST_HEADER_BYTES)?;
    Layout::parse(&start, bytes, place)
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
    /// Whether it is a column only if it has as many rows as others.
    is_optional: bool,
}

impl Member {
    /// The name of column `j` of an array of this shape.
    fn column(&self, j: usize, shape: &[usize]) -> String {
        let is_one = shape.len() == 1;
        match (self.is_features, shape.get(1).copied().unwrap_or(1)) {
            (true, _) if is_one && self.file.starts_with('x') => self.name.clone(),
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
    let member = |file: &str, name: &str| Member {
        file: file.to_owned(),
        name: name.to_owned(),
        is_features: false,
        is_optional: false,
    };
    if let Some((x, y, target)) = PAIRS.iter().find_map(|[x, y]| Some((find(x)?, find(y)?, *y))) {
        let others = files.iter().filter(|file| *file != x && *file != y && array_name(x) == Some("x"));
        let others = others.filter_map(|file| Some(Member { is_optional: true, ..member(file, array_name(file)?) }));
        let first = Member { is_features: true, ..member(x, "x") };
        return Ok([first].into_iter().chain(others).chain([member(y, target)]).collect());
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
