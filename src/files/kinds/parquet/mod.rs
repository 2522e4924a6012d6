//! Reads a Parquet file as a table. The members of records become columns such as `pos.x`; columns of lists or of bytes are not read, which
//! matters only if they are used. Pages may be compressed with snappy, gzip, zstd, Brotli or LZ4, in every encoding that programs write. Dates become texts of ISO 8601, truth values `true` and `false`, and decimal numbers keep their digits.
//!
//! Written here for its bounds: nothing is allocated because a header says so. The crate `parquet` would also be 1.8 MB of code.

mod column;
mod encoding;
mod pages;
mod schema;
mod thrift;

use super::kind::Kind;
use super::memory::has_memory;
use crate::error::{Error, Result};
use crate::files::names::make_distinct;
use crate::files::text::Format;
use crate::files::text::reading::Unread;
use crate::files::{Column, Table};
use schema::Entry;

pub(crate) static KIND: Kind = Kind {
    name: "a Parquet file",
    magic: schema::MAGIC,
    is: |_| true,
    options: &["na", "keep_na"],
    read: Some(read),
    open: Some(|opened, _| opened.refused("is a Parquet file")),
};

fn read(bytes: &[u8], source: &str, format: &Format) -> Result<Table> {
    let mut footer = schema::Footer::read(bytes, source)?;
    let renamed = make_distinct(footer.entries.iter_mut().map(Entry::name_mut));
    let cells = (footer.rows as u64).saturating_mul(footer.entries.len() as u64);
    has_memory(cells, 0).map_err(|what| Error::new(format!("{source}: {what}")))?;
    let column = |entry: &Entry| match entry {
        Entry::Field(field) => column::read(bytes, &footer, field, source, format),
        Entry::Unread(name, why) => Ok(Column::unread(name, footer.rows, Unread { why: why.clone(), is_error: false })),
    };
    Ok(Table::new(source, footer.entries.iter().map(column).collect::<Result<_>>()?)?.noting(renamed))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

#[cfg(test)]
#[path = "written_tests.rs"]
mod written_tests;
