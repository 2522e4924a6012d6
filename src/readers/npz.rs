//! Reads numpy's archive of named arrays as a table: features `X` with target `y`, or any arrays of equal length.

use super::start::has_memory;
use crate::error::{Error, Result};
use crate::host::Archive;
use crate::io::npy::Array;
use crate::io::{Format, Table};

/// The first four bytes of an archive that is not empty.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

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
pub(super) fn read(bytes: &[u8], source: &str, _format: &Format) -> Result<Table> {
    let mut archive = Archive::open(bytes, source)?;
    let members = archive.names()?;
    if let Some((_, kind)) = OTHERS.iter().find(|(part, _)| members.iter().any(|member| member == part)) {
        return Err(Error::new(format!("{source}: is {kind}; save it as CSV or XLSX")));
    }
    let find = |name: &str| members.iter().find(|member| array_name(member) == Some(name));
    let pair = PAIRS.iter().find_map(|[x, y]| Some((find(x)?, find(y)?, *y)));
    // Numbers and bytes of the arrays so far, which all stay in memory.
    let mut unpacked = 0;
    let mut unpack = |member: &str, name: &dyn Fn(usize, usize) -> String| {
        let bytes = archive.unpack(member)?;
        let place = format!("{source}: {member}");
        let array = Array::parse(&bytes, &place)?;
        unpacked += array.numbers();
        has_memory(unpacked, bytes.len() as u64).map_err(|what| Error::new(format!("{source}: {what}")))?;
        let width = array.layout.shape.get(1).copied().unwrap_or(1);
        array.columns(&place, |j| name(j, width))
    };
    let mut columns = Vec::new();
    if let Some((x, y, target)) = pair {
        columns.extend(unpack(x, &|j, _| format!("x{j}"))?);
        columns.extend(unpack(y, &|j, width| numbered(target, j, width))?);
        return Table::new(source, columns);
    }
    for member in &members {
        let Some(name) = array_name(member) else {
            return Err(Error::new(format!("{source}: member {member} is not an array (.npy)")));
        };
        columns.extend(unpack(member, &|j, width| numbered(name, j, width))?);
    }
    Table::new(source, columns)
}

fn array_name(member: &str) -> Option<&str> {
    member.strip_suffix(".npy")
}

fn numbered(name: &str, j: usize, width: usize) -> String {
    if width == 1 { name.to_string() } else { format!("{name}_{j}") }
}

#[cfg(test)]
#[path = "npz_tests.rs"]
mod tests;
