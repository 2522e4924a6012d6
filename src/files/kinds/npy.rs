//! An array of numpy (NPY), in full or by ranges of rows.

use super::cube;
use super::kind::{Kind, Opened};
use super::memory::has_memory;
use super::ranges::arrays::{Arrays, Part};
use crate::error::{Error, Result};
use crate::files::text::Format;
use crate::files::{RowSource, Table, npy};

pub(crate) static KIND: Kind = Kind {
    name: "an array of numpy (NPY)",
    magic: npy::MAGIC,
    is: |_| true,
    options: &[],
    read: Some(read),
    open: Some(open),
};

fn read(bytes: &[u8], source: &str, _format: &Format) -> Result<Table> {
    let array = npy::Array::parse(bytes, source)?;
    has_memory(array.numbers(), 0).map_err(|what| Error::new(format!("{source}: {what}")))?;
    if array.layout.shape.len() == 3 {
        return Table::new(source, cube::columns(&[("value", &array, source)])?);
    }
    npy::read(bytes, source)
}

fn open(opened: &Opened, _format: &Format) -> Result<Box<dyn RowSource>> {
    let file = &opened.file;
    let layout = npy::Layout::parse(&file.part(0, npy::MOST_HEADER_BYTES)?, file.bytes(), file.name())?;
    let part = Part::of_npy(file.clone(), 0, &layout, file.name(), |j, _| format!("c{j}"))?;
    Ok(Box::new(Arrays::new(file.clone(), vec![part])?))
}
