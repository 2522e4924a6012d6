//! Every kind of file that the native program reads: one record per kind, each in a file of its own. The first bytes determine the kind, never
//! the name. Nothing is allocated because a file says so: sizes are checked against its bytes and against the memory before.
//!
//! To add a kind: one file with its record, and one word in `KINDS`.

mod compressed;
mod excel;
mod grid;
mod hdf5;
mod iso;
mod json;
mod kind;
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

pub use ranges::{is_read_by_ranges_only, open_rows};
pub use start::check_bytes;
pub use unpack::unpack;
pub use whole::{is_text, read_table};

use super::text::{Format, Header};
use crate::error::{Error, Result};
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
    let given = [
        ("header", format.header != Header::Auto),
        ("delimiter", format.delimiter.is_some()),
        ("decimal", format.decimal != "."),
        ("thousands", format.thousands.is_some()),
        ("na", !format.missing.is_empty()),
        ("sheet", format.sheet.is_some()),
    ];
    let unused = given.into_iter().find(|(name, is_given)| *is_given && !kind.options.contains(name));
    let Some((name, _)) = unused else { return Ok(()) };
    let others = KINDS.iter().filter(|other| other.options.contains(&name)).map(|other| other.name);
    let others = others.collect::<Vec<_>>().join(", ");
    Err(Error::usage(format!("{source}: {name} does not apply to {}, only to {others}", kind.name)))
}
