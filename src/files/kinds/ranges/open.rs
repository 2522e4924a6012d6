//! Opens a file by ranges of rows, whatever its kind.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::files::RowSource;
use crate::files::kinds::compressed::is_compressed;
use crate::files::kinds::kind::{Opened, START_BYTES};
use crate::files::kinds::start::check_bytes;
use crate::files::kinds::{check_options, hdf5, kind_of, text};
use crate::files::text::Format;
use crate::host::RangeFile;

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
/// use meromorph::files::{Format, open_rows};
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
    let (kind, open) = kind_of(&start, |kind| kind.open);
    check_options(kind, file.name(), &format)?;
    if let Some(within) = within.as_ref().filter(|_| kind.name != hdf5::KIND.name) {
        let name = file.name();
        return Err(Error::usage(format!(
            "{name}: {within}: only HDF5 files have paths within them, this is {}",
            kind.name
        )));
    }
    open(&Opened { file: Arc::new(file), start, within, check_text }, &format)
}

/// Whether the first bytes of a file are of a kind that is read by ranges of rows, and not as a whole table.
pub fn is_read_by_ranges_only(path: &Path) -> Result<bool> {
    let start = RangeFile::open(path)?.part(0, START_BYTES)?;
    Ok(kind_of(&start, |kind| Some(kind.read.is_none())).1)
}

/// Errors if a file that begins with `start`, perhaps unpacked, is not text.
fn check_text(start: &[u8], source: &str) -> Result<()> {
    let refused = |what: &str| Err(Error::new(format!("{source}: {what}")));
    check_bytes(start).or_else(|what| refused(&what))?;
    let (kind, _) = kind_of(start, |kind| kind.open);
    if kind.name != text::KIND.name {
        return refused(&format!("is {} in a compressed file; unpack it first", kind.name));
    }
    if is_compressed(start) { refused("is compressed twice; unpack it once") } else { Ok(()) }
}
