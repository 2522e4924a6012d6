//! Files whose columns of numbers are read by ranges of rows in constant memory, so that data may be larger than memory. `KINDS` has one record per
//! kind of file; the first bytes determine the kind, never the name. To add a kind: one file here with an `open` function, and one record.

mod arrays;
mod cached;
mod generated;
mod hdf5;
mod npz;
mod number;
mod tensors;
mod text;

use crate::files;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use cached::Cached;
pub use generated::Generated;

use super::{check_options, compressed, json, npz as whole_npz, parquet};
use crate::error::{Error, Result};
use crate::files::tensors::check_start;
use crate::files::text::Format;
use crate::files::{RowSource, npy};
use crate::host::RangeFile;

/// One kind of file.
struct Kind {
    /// What it is, with an article.
    name: &'static str,
    /// Whether the first bytes of a file are of this kind, if they are of none before.
    is: fn(&[u8]) -> bool,
    /// The options of [`Format`] that apply, by name.
    options: &'static [&'static str],
    open: fn(&Opened, &Format) -> Result<Box<dyn RowSource>>,
}

/// A file that is to be read.
struct Opened {
    file: Arc<RangeFile>,
    /// The first bytes.
    start: Vec<u8>,
    /// The path within the file, if one is given.
    within: Option<String>,
}

/// Every kind, the one that takes any bytes last.
static KINDS: [Kind; 7] = [
    Kind { name: "an array of numpy (NPY)", is: |start| start.starts_with(npy::MAGIC), options: &[], open: open_npy },
    Kind {
        name: "an archive of arrays (NPZ)",
        is: |start| start.starts_with(files::kinds::npz::MAGIC),
        options: &[],
        open: npz::open,
    },
    Kind { name: "an HDF5 file", is: |start| start.starts_with(hdf5::MAGIC), options: &[], open: hdf5::open },
    Kind { name: "a safetensors file", is: |start| check_start(start).is_ok(), options: &[], open: tensors::open },
    Kind {
        name: "a Parquet file",
        is: |start| start.starts_with(parquet::MAGIC),
        options: &["na"],
        open: |opened, _| refused(opened, "is a Parquet file"),
    },
    Kind { name: "JSON", is: json::is_json, options: &["na"], open: |opened, _| refused(opened, "is JSON") },
    Kind {
        name: "delimited text (CSV)",
        is: |_| true,
        options: &["header", "delimiter", "decimal", "thousands", "na"],
        open: text::open,
    },
];

/// The bytes that determine the kind.
const START_BYTES: usize = 64 << 10;

/// More columns than a table of rows has; an array with so many is probably transposed.
const MOST_COLUMNS: usize = 1 << 20;

/// Opens a file whose columns of numbers are read by ranges of rows, in constant memory and by any number of threads.
///
/// | kind | columns |
/// | --- | --- |
/// | NPY | `c0`, `c1`, … |
/// | NPZ | as [`crate::files::read_table`] names them; a packed member is unpacked once to a temporary file |
/// | safetensors | a 1-D tensor under its name, a 2-D one as `name_0`, `name_1`, … |
/// | HDF5 | the 1-D datasets of a group under their names, or a 2-D dataset as `c0`, `c1`, … |
/// | CSV, TSV, also compressed with gzip or Zstandard | as [`crate::files::read_table`] names them; parsed once, to a temporary file |
///
/// In an HDF5 file, `data.h5:/path` names a group or a dataset, and `data.h5:/path/t,y` datasets of a group; without it the root group is read.
/// Temporary files are in the system's folder for them, which `TMPDIR` names.
///
/// A column of text with a cell that is no number is an error when it is read, with row and column. Errors if the file is of another kind, cut short
/// or inconsistent, if columns differ in length, and if an option is set that does not apply. A file that changes its length while it is read is
/// an error of the read.
///
/// ```
/// use meromorph::files::text::Format;
/// use meromorph::files::open_rows;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("decay.csv");
/// std::fs::write(&path, "t,y\n0,1\n1,0.5\n2,0.25\n").unwrap();
/// let rows = open_rows(&path, Format::default())?;
/// assert_eq!((rows.rows(), rows.columns()), (3, &["t".to_owned(), "y".to_owned()][..]));
/// let mut y = [0.0; 2];
/// rows.read(1..3, &[1], &mut [&mut y])?;
/// assert_eq!(y, [0.5, 0.25]);
/// # Ok::<(), meromorph::Error>(())
/// ```
pub fn open_rows(path: &Path, format: impl Into<Format>) -> Result<Box<dyn RowSource>> {
    let format = format.into();
    let (path, within) = hdf5::split(path);
    let file = RangeFile::open(&path)?;
    let start = file.part(0, START_BYTES)?;
    let kind = KINDS.iter().find(|kind| (kind.is)(&start)).unwrap_or(&KINDS[KINDS.len() - 1]);
    check_options(kind.name, kind.options, file.name(), &format)?;
    let is_hdf5 = start.starts_with(hdf5::MAGIC);
    if let Some(within) = within.as_ref().filter(|_| !is_hdf5) {
        let name = file.name();
        return Err(Error::usage(format!(
            "{name}: {within}: only HDF5 files have paths within them, this is {}",
            kind.name
        )));
    }
    (kind.open)(&Opened { file: Arc::new(file), start, within }, &format)
}

fn refused(opened: &Opened, what: &str) -> Result<Box<dyn RowSource>> {
    let name = opened.file.name();
    Err(Error::new(format!(
        "{name}: {what}, which is not read by ranges of rows; save it as NPY, NPZ, safetensors, HDF5 or CSV"
    )))
}

fn open_npy(opened: &Opened, _format: &Format) -> Result<Box<dyn RowSource>> {
    let file = &opened.file;
    let layout = npy::Layout::parse(&file.part(0, npy::MOST_HEADER_BYTES)?, file.bytes(), file.name())?;
    let part = arrays::Part::of_npy(file.clone(), 0, &layout, file.name(), |j, _| format!("c{j}"))?;
    Ok(Box::new(arrays::Arrays::new(file.clone(), vec![part])?))
}

/// Errors on a table without columns or rows, and on a repeated name.
fn check_columns(source: &str, names: &[String], rows: usize) -> Result<()> {
    let refused = |what: &str| Err(Error::new(format!("{source}: {what}")));
    if rows == 0 {
        return refused("has no rows");
    }
    if names.is_empty() {
        return refused("has no columns");
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => refused(&format!("two columns are named \"{}\"", pair[0])),
        None => Ok(()),
    }
}

/// Errors on too many columns, before their names are made.
fn check_width(source: &str, width: usize) -> Result<()> {
    if width <= MOST_COLUMNS {
        return Ok(());
    }
    Err(Error::new(format!("{source}: has {width} columns, expected at most {MOST_COLUMNS}; is it transposed?")))
}

/// Asserts what every source may expect of a call of [`RowSource::read`].
#[track_caller]
fn check_request(source: &dyn RowSource, range: &Range<usize>, places: &[usize], into: &[&mut [f64]]) {
    let (rows, width) = (source.rows(), source.columns().len());
    assert!(range.start <= range.end && range.end <= rows, "rows {range:?} of {rows}");
    assert!(places.iter().all(|place| *place < width), "columns {places:?} of {width}");
    assert_eq!(places.len(), into.len(), "a buffer per column");
    assert!(into.iter().all(|buffer| buffer.len() == range.len()), "buffers as long as the range");
}
