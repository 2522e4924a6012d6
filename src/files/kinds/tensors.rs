//! A safetensors file, by ranges of rows: 1-D tensors under their names, 2-D ones as `name_0`, `name_1`, …, in the order of their names.

use super::kind::{Kind, Opened};
use super::ranges::arrays::{Arrays, Grid, Part};
use crate::error::{Error, Result};
use crate::files::RowSource;
use crate::files::npy::Dtype;
use crate::files::tensors::{Entry, check_start, entries, header_bytes};
use crate::files::text::Format;

pub(crate) static KIND: Kind = Kind {
    name: "a safetensors file",
    magic: b"",
    is: |start| check_start(start).is_ok(),
    options: &[],
    read: None,
    open: Some(open),
};

/// Types of the format and the same types in numpy's notation.
const TYPES: [(&str, &str); 11] = [
    ("F64", "<f8"),
    ("F32", "<f4"),
    ("I64", "<i8"),
    ("I32", "<i4"),
    ("I16", "<i2"),
    ("I8", "|i1"),
    ("U64", "<u8"),
    ("U32", "<u4"),
    ("U16", "<u2"),
    ("U8", "|u1"),
    ("BOOL", "|b1"),
];

fn open(opened: &Opened, _format: &Format) -> Result<Box<dyn RowSource>> {
    let file = &opened.file;
    let start = header_bytes(&opened.start, file.bytes(), file.name())?;
    let mut entries = entries(&file.part(0, start)?, file.bytes(), file.name())?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let parts = entries.into_iter().map(|entry| {
        let place = format!("{}: tensor \"{}\"", file.name(), entry.name);
        let ([rows, width], dtype) = checked(&entry).map_err(|what| Error::new(format!("{place} {what}")))?;
        let grid = Grid { start: (start + entry.range.start) as u64, rows, width, is_by_column: false, dtype };
        let name = |j: usize, width: usize| match (entry.shape.len(), width) {
            (1, _) => entry.name.clone(),
            _ => format!("{}_{j}", entry.name),
        };
        Part::new(file.clone(), grid, &place, name)
    });
    Ok(Box::new(Arrays::new(file.clone(), parts.collect::<Result<_>>()?)?))
}

/// Rows, columns and type of a tensor, whose bytes must be as many as these need.
fn checked(entry: &Entry) -> std::result::Result<([usize; 2], Dtype), String> {
    let known = TYPES.iter().find(|(name, _)| *name == entry.dtype).and_then(|(_, numpy)| Dtype::parse(numpy));
    let dtype = known.ok_or_else(|| {
        format!("has dtype {}; F32, F64, I8 to I64, U8 to U64 and BOOL are read by ranges of rows", entry.dtype)
    })?;
    let shape = match entry.shape[..] {
        [rows] => [rows, 1],
        [rows, width] => [rows, width],
        _ => return Err(format!("has shape {:?}, which is not a column [n] or a table [n, k]", entry.shape)),
    };
    let expected = shape[0].checked_mul(shape[1]).and_then(|count| count.checked_mul(dtype.bytes()));
    if expected != Some(entry.range.len()) {
        return Err(format!("has shape {:?} and {} bytes of {}", entry.shape, entry.range.len(), entry.dtype));
    }
    // Without rows there are no bytes that bound the number of columns.
    Ok((if shape[0] == 0 { [0, 0] } else { shape }, dtype))
}
