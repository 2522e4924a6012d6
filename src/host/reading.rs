//! Reading whole files within bounds: of the memory, and of what the kind of a file can need.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::files::{file_bytes, reason};
use super::reserve;
use crate::error::{Error, Result};

/// The bytes that are read before `check` judges what they begin.
const START_BYTES: u64 = 64 << 10;

/// All bytes of the file at `path`. The error names the path and the system's reason.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_checked(path, |_| Ok(()))
}

/// The same if `check` accepts the bytes: it gets the first 64 KiB, and more each time that twice as many are read. Its error is the message
/// after the path.
///
/// Errors if the file has more bytes than there is memory, before it is read. A pipe or a device may never end: it is read up to half of that, since a
/// vector that grows needs its old and its new place at once.
pub fn read_checked(path: &Path, check: impl Fn(&[u8]) -> std::result::Result<(), String>) -> Result<Vec<u8>> {
    let name = path.display().to_string();
    let unreadable = |e: io::Error| Error::new(format!("{name}: cannot be read: {}", reason(&e)));
    let file = File::open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    read_from(file, if found.is_file() { found.len() } else { 0 }, &name, check)
}

/// All bytes of the file at `path`, which is a kind of file that has at most so many. Errors if there are more, before they are read.
pub fn read_within(path: &Path, most: u64, kind: &str) -> Result<Vec<u8>> {
    let name = path.display().to_string();
    let unreadable = |e: io::Error| Error::new(format!("{name}: cannot be read: {}", reason(&e)));
    let file = File::open(path).map_err(unreadable)?;
    let size = file_bytes(path).unwrap_or(0);
    let mut bytes = Vec::new();
    if size <= most {
        file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if size.max(bytes.len() as u64) <= most {
        return Ok(bytes);
    }
    let got = if size > most { size.to_string() } else { "more".to_owned() };
    Err(Error::new(format!("{name}: got {got} bytes, expected at most {most}, as {kind} has")))
}

/// All bytes of standard input, as [`read_checked`] reads a file.
pub fn read_stdin(check: impl Fn(&[u8]) -> std::result::Result<(), String>) -> Result<Vec<u8>> {
    read_from(io::stdin().lock(), 0, "standard input", check)
}

/// All bytes that `from` unpacks, as [`read_stdin`] reads; their number is not known before.
pub fn read_unpacked(
    from: impl Read,
    name: &str,
    check: impl Fn(&[u8]) -> std::result::Result<(), String>,
) -> Result<Vec<u8>> {
    read_from(from, 0, name, check).map_err(|error| {
        // What cannot be read has been read: it does not unpack.
        let message = error.to_string();
        Error::new(message.replacen(": cannot be read: ", ": cannot be unpacked: ", 1))
    })
}

/// `size` is 0 if it is unknown; some files of `/proc` have more bytes than they claim.
fn read_from(
    mut from: impl Read,
    size: u64,
    name: &str,
    check: impl Fn(&[u8]) -> std::result::Result<(), String>,
) -> Result<Vec<u8>> {
    let refused = |what: String| Error::new(format!("{name}: {what}"));
    let unreadable = |e: io::Error| refused(format!("cannot be read: {}", reason(&e)));
    let mut bytes = Vec::new();
    from.by_ref().take(START_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    check(&bytes).map_err(refused)?;
    // One byte more, so that the end is found in place.
    let more = (size as usize + 1).saturating_sub(bytes.len());
    reserve(&mut bytes, more, || "its bytes".into()).map_err(refused)?;
    loop {
        if bytes.capacity() == bytes.len() {
            let more = bytes.len();
            reserve(&mut bytes, more, || "its bytes".into()).map_err(refused)?;
        }
        let part = (bytes.capacity() - bytes.len()) as u64;
        if from.by_ref().take(part).read_to_end(&mut bytes).map_err(unreadable)? == 0 {
            return Ok(bytes);
        }
        check(&bytes).map_err(refused)?;
    }
}
