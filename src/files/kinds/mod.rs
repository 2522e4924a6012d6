//! Every kind of file that the native program reads: one record per kind, each in a file of its own. The first bytes determine the kind, never
//! the name. Nothing is allocated because a file says so: sizes are checked against its bytes and against the memory before.
//!
//! To add a kind: one file with its record, and one word in `KINDS`.

mod blocks;
mod compressed;
mod cube;
mod excel;
mod foreign;
mod given;
mod grid;
mod hdf5;
mod iso;
mod joined;
mod json;
mod kind;
mod many;
mod memory;
mod npy;
mod npz;
mod parquet;
pub mod ranges;
mod start;
mod tensors;
mod text;
mod unpack;
mod whole;

pub use many::{TableBytes, read_files, read_files_like};
pub use ranges::{is_read_by_ranges_only, open_rows};
pub use start::check_bytes;
pub use unpack::unpack;
pub use whole::{ReadLike, is_text, read_table, read_table_like, read_texts};

use super::text::Format;
use crate::error::{Error, Result};
pub use given::Given;
use given::OPTIONS;
use kind::Kind;

/// Every kind, in the order in which they are recognised; the one that takes any bytes last.
static KINDS: [&Kind; 8] =
    [&npy::KIND, &excel::KIND, &npz::KIND, &hdf5::KIND, &tensors::KIND, &parquet::KIND, &json::KIND, &text::KIND];

/// The kind of bytes among those that have what `way` takes from their record, and that.
fn kind_of<F>(bytes: &[u8], way: impl Fn(&Kind) -> Option<F>) -> (&'static Kind, F) {
    let mut all = KINDS.iter().filter_map(|kind| Some((*kind, way(kind)?)));
    all.find(|(kind, _)| kind.has(bytes)).expect("the last kind takes any bytes, and can be read in every way")
}

/// Errors if `format` sets an option that is not among those of a kind of file.
fn check_options(kind: &Kind, source: &str, format: &Format) -> Result<()> {
    let unused = OPTIONS.iter().find(|option| option.is_set(format) && !kind.options.contains(&option.name));
    let Some(name) = unused.map(|option| option.name) else { return Ok(()) };
    let others = KINDS.iter().filter(|other| other.options.contains(&name)).map(|other| other.name);
    let others = others.collect::<Vec<_>>().join(", ");
    Err(Error::usage(format!("{source}: {name} does not apply to {}, only to {others}", kind.name)))
}
