//! ZIP archives in memory, by the crate `zip`: members stored or deflated. Before anything is unpacked, the size a member declares is checked against
//! what its packed bytes can hold, so that no file makes the program allocate more than it can explain.

use std::io::{Cursor, Read, Write};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{gib, memory_bytes};
use crate::error::{Error, Result};

/// No deflated stream expands more (RFC 1951: 258 bytes from two bits at best).
const DEFLATE_EXPANSION: u64 = 1032;

/// An archive and the name it has in messages.
pub struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    source: &'a str,
}

impl<'a> Archive<'a> {
    /// Reads the directory. Errors if members share a name or bytes.
    pub fn open(bytes: &'a [u8], source: &'a str) -> Result<Self> {
        let refused = |what: &str| Error::new(format!("{source}: {what}"));
        let broken = |error| refused(&format!("is not a complete ZIP archive: {}", reason(&error)));
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
        if zip.has_duplicate_names() {
            return Err(refused("has two members of the same name"));
        }
        if zip.has_overlapping_files().map_err(broken)? {
            return Err(refused("has members that overlap"));
        }
        Ok(Self { zip, source })
    }

    /// The names of the members, in the order of the directory.
    pub fn names(&self) -> Result<Vec<String>> {
        let unreadable = |_| Error::new(format!("{}: has a member whose name is not text", self.source));
        self.zip.file_names().map(|name| name.map(Into::into).map_err(unreadable)).collect()
    }

    /// The bytes of the member called `name`, with length and checksum verified.
    pub fn unpack(&mut self, name: &str) -> Result<Vec<u8>> {
        let refused = |what: &str| Error::new(format!("{}: member {name} {what}", self.source));
        let file = self.zip.by_name(name).map_err(|error| match error {
            ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => refused("is encrypted"),
            error => refused(&format!("cannot be read: {}", reason(&error))),
        })?;
        let method = file.compression();
        if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(refused(&format!("is packed by method {method}; stored and deflated members are read")));
        }
        let (size, packed) = (file.size(), file.compressed_size());
        if size > packed.saturating_mul(DEFLATE_EXPANSION) {
            return Err(refused(&format!("declares {size} bytes; its {packed} packed bytes cannot hold them")));
        }
        let most = memory_bytes();
        if size > most {
            let [size, most] = [size, most].map(gib);
            return Err(refused(&format!(
                "does not fit in memory: unpacked it has {size}, this process may use {most}"
            )));
        }
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size as usize).is_err() {
            return Err(refused(&format!("does not fit in memory: unpacked it has {}", gib(size))));
        }
        // One byte more shows a member that is longer than declared.
        let read = file.take(size + 1).read_to_end(&mut bytes);
        read.map_err(|error| refused(&format!("does not unpack: {error}")))?;
        if bytes.len() as u64 != size {
            return Err(refused(&format!("does not unpack to the {size} bytes it declares")));
        }
        Ok(bytes)
    }
}

/// A member to write: its name and a function that makes its bytes when they are written.
pub type Member<'m> = (&'m str, Box<dyn Fn() -> Vec<u8> + 'm>);

/// The bytes of an archive of members, which are stored, as numpy's `savez` does.
pub fn pack(members: &[Member<'_>]) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let failed = |error: String| Error::new(format!("archive: member {name} cannot be written: {error}"));
        let bytes = bytes();
        let is_large = bytes.len() as u64 >= u64::from(u32::MAX);
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(is_large);
        zip.start_file(name, options).map_err(|error| failed(reason(&error)))?;
        zip.write_all(&bytes).map_err(|error| failed(error.to_string()))?;
    }
    let failed = |error| Error::new(format!("archive: cannot be finished: {}", reason(&error)));
    Ok(zip.finish().map_err(failed)?.into_inner())
}

/// The reason without the class of the error, which the message around it gives.
fn reason(error: &ZipError) -> String {
    let text = error.to_string();
    text.split_once(": ").map_or(text.clone(), |(_, reason)| reason.to_owned())
}
