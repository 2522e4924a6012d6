//! A kind of file as data: how it is recognised, which options apply, how it is read.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::files::text::Format;
use crate::files::{RowSource, Table};
use crate::host::RangeFile;

/// The bytes that determine the kind of a file.
pub(crate) const START_BYTES: usize = 64 << 10;

/// One kind of file.
pub(crate) struct Kind {
    /// What it is, with an article.
    pub name: &'static str,
    /// Its first bytes; empty if they vary.
    pub magic: &'static [u8],
    /// Whether bytes that begin with `magic` are of this kind, if they are of none before.
    pub is: fn(&[u8]) -> bool,
    /// The options of [`Format`] that apply, by name.
    pub options: &'static [&'static str],
    /// Reads the table in all bytes of a file; absent if no file is read so.
    pub read: Option<Read>,
    /// Opens a file whose first bytes are of this kind by ranges of rows, or says that it is not read so; absent if the first bytes do not suffice.
    pub open: Option<Open>,
}

/// Reads a table from bytes, with the user's name for them.
pub(crate) type Read = fn(&[u8], &str, &Format) -> Result<Table>;

/// Opens a file by ranges of rows.
pub(crate) type Open = fn(&Opened, &Format) -> Result<Box<dyn RowSource>>;

/// A file that is to be read by ranges of rows.
pub(crate) struct Opened {
    pub file: Arc<RangeFile>,
    /// The first bytes.
    pub start: Vec<u8>,
    /// The path within the file, if one is given.
    pub within: Option<String>,
    /// Errors if what begins so, perhaps unpacked, is no text; with the user's name for it.
    pub check_text: fn(&[u8], &str) -> Result<()>,
}

impl Kind {
    /// Whether bytes are of this kind, if they are of none before.
    pub(crate) fn has(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(self.magic) && (self.is)(bytes)
    }
}

impl Opened {
    /// The error about a kind of file that is not read by ranges of rows.
    pub(crate) fn refused(&self, what: &str) -> Result<Box<dyn RowSource>> {
        let name = self.file.name();
        Err(Error::new(format!(
            "{name}: {what}, which is not read by ranges of rows; save it as NPY, NPZ, safetensors, HDF5 or CSV"
        )))
    }
}
