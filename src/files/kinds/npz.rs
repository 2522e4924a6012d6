//! Reads numpy's archive of named arrays as a table: features `X` with target `y`, or any arrays of equal length.

use super::start::has_memory;
use crate::error::{Error, Result};
use crate::files::Table;
use crate::files::npy::Array;
use crate::files::text::Format;
use crate::host::Archive;

/// The first four bytes of an archive that is not empty.
pub(crate) const MAGIC: &[u8] = b"PK\x03\x04";

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
pub(crate) fn read(bytes: &[u8], source: &str, _format: &Format) -> Result<Table> {
    let mut archive = Archive::open(bytes, source)?;
    // Numbers of the arrays so far, which all stay in memory.
    let mut unpacked = 0;
    let mut columns = Vec::new();
    for member in members(&archive.names()?, source)? {
        let bytes = archive.unpack(&member.file)?;
        let place = format!("{source}: {}", member.file);
        let array = Array::parse(&bytes, &place)?;
        unpacked += array.numbers();
        has_memory(unpacked, bytes.len() as u64).map_err(|what| Error::new(format!("{source}: {what}")))?;
        let width = array.layout.shape.get(1).copied().unwrap_or(1);
        columns.extend(array.columns(&place, |j| member.column(j, width))?);
    }
    Table::new(source, columns)
}

/// A member whose array is read, and the name of its columns.
pub(crate) struct Member {
    pub file: String,
    name: String,
    /// Whether its columns are `x0`, `x1`, ….
    is_features: bool,
}

impl Member {
    /// The name of column `j` of so many.
    pub(crate) fn column(&self, j: usize, width: usize) -> String {
        match (self.is_features, width) {
            (true, _) => format!("x{j}"),
            (false, 1) => self.name.clone(),
            (false, _) => format!("{}_{j}", self.name),
        }
    }
}

/// The arrays that are columns, of an archive with these members.
pub(crate) fn members(files: &[String], source: &str) -> Result<Vec<Member>> {
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
