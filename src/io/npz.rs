//! Reads numpy's archive of named arrays as a table: features `X` with target `y`, or any arrays of equal length.

use super::npy::Array;
use super::table::{Column, Table};
use super::zip::{self, Member};
use crate::error::{Error, Result};

/// Common names of features and target; if there is such a pair, other arrays are ignored.
const PAIRS: [[&str; 2]; 4] = [["X", "y"], ["x", "y"], ["X", "Y"], ["data", "target"]];

/// Reads an archive, stored or compressed.
///
/// With a pair `X`, `y` (or `data`, `target`): columns `x0`, `x1`, … and the target under its own name. Otherwise every
/// array is used, 1-D as a column of its name, 2-D as columns `name_0`, `name_1`, …; all must have as many rows.
pub fn read(bytes: &[u8], source: &str) -> Result<Table> {
    let members = zip::members(bytes, source)?;
    let find = |name: &str| members.iter().find(|member| array_name(member) == Some(name));
    let pair = PAIRS.iter().find_map(|[x, y]| Some((find(x)?, find(y)?, *y)));
    let mut columns = Vec::new();
    if let Some((x, y, target)) = pair {
        columns.extend(unpack(x, source, |j, _| format!("x{j}"))?);
        columns.extend(unpack(y, source, |j, width| numbered(target, j, width))?);
        return Table::new(source, columns);
    }
    for member in &members {
        let Some(name) = array_name(member) else {
            let other = member.name;
            return Err(Error::new(format!("{source}: member {other} is not an array (.npy)")));
        };
        columns.extend(unpack(member, source, |j, width| numbered(name, j, width))?);
    }
    Table::new(source, columns)
}

fn array_name<'a>(member: &Member<'a>) -> Option<&'a str> {
    member.name.strip_suffix(".npy")
}

fn numbered(name: &str, j: usize, width: usize) -> String {
    if width == 1 { name.to_string() } else { format!("{name}_{j}") }
}

fn unpack(member: &Member<'_>, source: &str, name: impl Fn(usize, usize) -> String) -> Result<Vec<Column>> {
    let bytes = member.unpack(source)?;
    let place = format!("{source}: {}", member.name);
    let array = Array::parse(&bytes, &place)?;
    let width = array.shape.get(1).copied().unwrap_or(1);
    array.columns(&place, |j| name(j, width))
}

#[cfg(test)]
#[path = "npz_tests.rs"]
mod tests;
