//! ZIP archives in memory and in files, by the crate `zip`: members stored or deflated. Before anything is unpacked, the size a member declares is checked against
//! what its packed bytes can hold, so that no file makes the program allocate more than it can explain.

use std::io::{BufReader, Cursor, Read, Seek, Write};
use std::ops::Range;

use zip::read::ZipFile;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{RangeFile, RangeReader, Spool, has_room, reserve};
use crate::error::{Error, Result};

/// The first four bytes of an archive that is not empty.
pub const ARCHIVE_MAGIC: &[u8] = b"PK\x03\x04";

/// No deflated stream expands more (RFC 1951: 258 bytes from two bits at best).
const DEFLATE_EXPANSION: u64 = 1032;

/// Bytes that are unpacked at once to a file.
const PART_BYTES: usize = 256 << 10;

/// An archive and the name it has in messages.
pub struct Archive<'a, R = Cursor<&'a [u8]>> {
    zip: ZipArchive<R>,
    source: &'a str,
}

impl<'a> Archive<'a> {
    /// Reads the directory of an archive in memory. Errors if members share a name or bytes.
    pub fn open(bytes: &'a [u8], source: &'a str) -> Result<Self> {
        Self::of(Cursor::new(bytes), source)
    }
}

impl<'a> Archive<'a, BufReader<RangeReader<'a>>> {
    /// The same of an archive in a file.
    pub fn open_file(file: &'a RangeFile) -> Result<Self> {
        Self::of(BufReader::new(file.reader()), file.name())
    }
}

impl<'a, R: Read + Seek> Archive<'a, R> {
    fn of(from: R, source: &'a str) -> Result<Self> {
        let refused = |what: &str| Error::new(format!("{source}: {what}"));
        let broken = |error| refused(&format!("is not a complete ZIP archive: {}", reason(&error)));
        let mut zip = ZipArchive::new(from).map_err(broken)?;
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
        let source = self.source;
        let refused = |what: &str| refused(source, name, what);
        self.check_memory(name)?;
        let file = self.member(name)?;
        let (size, mut bytes) = (file.size(), Vec::new());
        reserve(&mut bytes, size as usize + 1, || "its unpacked bytes".into()).map_err(|what| refused(&what))?;
        // One byte more shows a member that is longer than declared.
        let read = file.take(size + 1).read_to_end(&mut bytes);
        read.map_err(|error| refused(&format!("does not unpack: {error}")))?;
        if bytes.len() as u64 != size {
            return Err(refused(&format!("does not unpack to the {size} bytes it declares")));
        }
        Ok(bytes)
    }

    /// Errors if the member called `name` does not fit in memory.
    pub fn check_memory(&mut self, name: &str) -> Result<()> {
        let (source, size) = (self.source, self.member(name)?.size());
        has_room(size, || "its unpacked bytes".into()).map_err(|what| refused(source, name, &what))
    }

    /// The same as [`Archive::unpack`], written to a temporary file.
    pub fn unpack_to(&mut self, name: &str, spool: &mut Spool) -> Result<()> {
        let source = self.source;
        let refused = |what: &str| refused(source, name, what);
        let mut file = self.member(name)?;
        let (size, mut part, mut written) = (file.size(), vec![0; PART_BYTES], 0);
        loop {
            let length = file.read(&mut part).map_err(|error| refused(&format!("does not unpack: {error}")))?;
            written += length as u64;
            if written > size || length == 0 && written < size {
                return Err(refused(&format!("does not unpack to the {size} bytes it declares")));
            }
            if length == 0 {
                return Ok(());
            }
            spool.write(&part[..length])?;
        }
    }

    /// The first bytes of the member called `name`, at most `length`, and how many it declares.
    pub fn start(&mut self, name: &str, length: usize) -> Result<(Vec<u8>, u64)> {
        let source = self.source;
        let file = self.member(name)?;
        let (size, mut bytes) = (file.size(), Vec::new());
        let read = file.take(length as u64).read_to_end(&mut bytes);
        read.map_err(|error| refused(source, name, &format!("does not unpack: {error}")))?;
        Ok((bytes, size))
    }

    /// Reads the member called `name` once, in parts, and errors if its bytes do not have its checksum.
    pub fn check(&mut self, name: &str) -> Result<()> {
        let source = self.source;
        let (mut file, mut part) = (self.member(name)?, vec![0; PART_BYTES]);
        loop {
            match file.read(&mut part) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(refused(source, name, &format!("does not unpack: {error}"))),
            }
        }
    }

    /// Where the bytes of the member called `name` lie in the archive; `None` if they are packed.
    pub fn place(&mut self, name: &str) -> Result<Option<Range<u64>>> {
        let source = self.source;
        let file = self.member(name)?;
        if file.compression() != CompressionMethod::Stored {
            return Ok(None);
        }
        let end = file.data_start().and_then(|start| Some(start..start.checked_add(file.size())?));
        match end.filter(|_| file.size() == file.compressed_size()) {
            Some(place) => Ok(Some(place)),
            None => Err(refused(source, name, "declares two sizes, though it is not packed")),
        }
    }

    /// A member that may be unpacked.
    fn member(&mut self, name: &str) -> Result<ZipFile<'_, R>> {
        let source = self.source;
        let refused = |what: &str| refused(source, name, what);
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
        Ok(file)
    }
}

fn refused(source: &str, name: &str, what: &str) -> Error {
    Error::new(format!("{source}: member {name} {what}"))
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
