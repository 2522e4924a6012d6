//! Files that are read by ranges of bytes, by any number of threads at a time, and temporary ones that are written before.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::files::{read_at, reason};
use crate::error::{Error, Result};

/// A file that is read by ranges of bytes. Every read fails once the file has another length than when it was opened.
#[derive(Debug)]
pub struct RangeFile {
    file: File,
    name: String,
    bytes: u64,
}

/// A [`RangeFile`] from its start to its end.
#[derive(Debug)]
pub struct RangeReader<'a> {
    file: &'a RangeFile,
    at: u64,
}

/// A nameless temporary file: written once, then read by ranges. The system removes it when it is closed, also after a crash.
#[derive(Debug)]
pub struct Spool {
    out: BufWriter<File>,
    name: String,
}

/// The blocks of a fingerprint, and the bytes of each.
const BLOCKS: u64 = 64;
const BLOCK_BYTES: u64 = 4 << 10;

impl RangeFile {
    /// Opens a regular file. Errors on others: a pipe, for example, has no ranges.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let unreadable = |e: io::Error| Error::new(format!("{name}: cannot be read: {}", reason(&e)));
        let file = File::open(path).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() {
            return Err(Error::new(format!("{name}: is not a regular file; only these are read by ranges of rows")));
        }
        Ok(Self { file, name, bytes: found.len() })
    }

    /// The user's name of the file, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills `into` with the bytes from `at` on.
    pub fn read(&self, mut into: &mut [u8], mut at: u64) -> Result<()> {
        let unreadable = |e: io::Error| Error::new(format!("{}: cannot be read: {}", self.name, reason(&e)));
        let end = at.saturating_add(into.len() as u64);
        self.check_length().map_err(unreadable)?;
        while !into.is_empty() {
            match read_at(&self.file, into, at) {
                Ok(0) => {
                    self.check_length().map_err(unreadable)?;
                    let (name, bytes) = (&self.name, self.bytes);
                    return Err(Error::new(format!("{name}: is cut short: got {bytes} bytes, expected {end}")));
                }
                Ok(length) => (into, at) = (&mut into[length..], at + length as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
        Ok(())
    }

    /// At most `length` bytes from `at` on; fewer if the file ends before.
    pub fn part(&self, at: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.bytes.saturating_sub(at).min(length as u64) as usize];
        self.read(&mut bytes, at)?;
        Ok(bytes)
    }

    /// All bytes, one after another.
    pub fn reader(&self) -> RangeReader<'_> {
        RangeReader { file: self, at: 0 }
    }

    /// The length and a SHA-256 of 64 blocks spread over the file and of `use_of`, which tells uses of the same file from each other. Reads at most
    /// 256 KiB, so changes between the blocks are not seen.
    pub fn fingerprint(&self, use_of: &str) -> Result<String> {
        let mut sum = Sha256::new();
        sum.update((use_of.len() as u64).to_le_bytes());
        sum.update(use_of);
        let last = self.bytes.saturating_sub(BLOCK_BYTES);
        for block in 0..BLOCKS {
            let at = u128::from(last) * u128::from(block) / u128::from(BLOCKS - 1);
            sum.update(self.part(at as u64, BLOCK_BYTES as usize)?);
        }
        let digits = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Ok(format!("{}-{digits}", self.bytes))
    }

    fn check_length(&self) -> io::Result<()> {
        let (got, expected) = (self.file.metadata()?.len(), self.bytes);
        if got == expected {
            return Ok(());
        }
        Err(io::Error::other(format!("its length changed while it was read: got {got} bytes, expected {expected}")))
    }
}

impl Read for RangeReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.file.check_length()?;
        let length = read_at(&self.file.file, into, self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}

impl Seek for RangeReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.file.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

impl Spool {
    /// A file in the folder for temporary files, for data that come from the file called `name`.
    pub fn new(name: &str) -> Result<Self> {
        let file = tempfile::tempfile().map_err(|e| unwritable(name, &e))?;
        Ok(Self { out: BufWriter::with_capacity(1 << 20, file), name: name.to_owned() })
    }

    /// Appends `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|e| unwritable(&self.name, &e))
    }

    /// The file, complete.
    pub fn finish(self) -> Result<RangeFile> {
        let Self { out, name } = self;
        let file = out.into_inner().map_err(|e| unwritable(&name, e.error()))?;
        let bytes = file.metadata().map_err(|e| unwritable(&name, &e))?.len();
        Ok(RangeFile { file, name, bytes })
    }
}

fn unwritable(name: &str, error: &io::Error) -> Error {
    let (folder, reason) = (std::env::temp_dir(), reason(error));
    let folder = folder.display();
    Error::new(format!(
        "{name}: its numbers cannot be written to a temporary file in {folder}: {reason}; TMPDIR names another folder"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn ranges_are_read_by_several_threads() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|at| (at % 251) as u8).collect();
        let (_folder, path) = file(&bytes);
        let opened = RangeFile::open(&path).unwrap();
        assert_eq!(opened.bytes(), 100_000);
        std::thread::scope(|scope| {
            for thread in 0..4_usize {
                let (opened, bytes) = (&opened, &bytes);
                scope.spawn(move || {
                    for start in (thread..99_000).step_by(977) {
                        assert_eq!(opened.part(start as u64, 1000).unwrap(), bytes[start..start + 1000]);
                    }
                });
            }
        });
        assert_eq!(opened.part(99_999, 10).unwrap(), bytes[99_999..]);
        let mut all = Vec::new();
        opened.reader().read_to_end(&mut all).unwrap();
        assert_eq!(all, bytes);
    }

    #[test]
    fn a_file_that_changes_its_length_is_an_error() {
        let (_folder, path) = file(&[7; 100]);
        let opened = RangeFile::open(&path).unwrap();
        let name = path.display();
        let error = |at| opened.read(&mut [0; 10], at).unwrap_err().to_string();
        assert_eq!(error(95), format!("{name}: is cut short: got 100 bytes, expected 105"));
        for (length, text) in [(50, "got 50 bytes, expected 100"), (200, "got 200 bytes, expected 100")] {
            fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
            assert_eq!(error(0), format!("{name}: cannot be read: its length changed while it was read: {text}"));
            assert!(opened.fingerprint("").is_err());
            assert!(opened.reader().read(&mut [0; 10]).is_err());
        }
        let folder = RangeFile::open(path.parent().unwrap()).unwrap_err().to_string();
        assert!(folder.ends_with("is not a regular file; only these are read by ranges of rows"), "{folder}");
    }

    #[test]
    fn a_fingerprint_tells_contents_lengths_and_uses_apart() {
        let fingerprint = |bytes: &[u8], use_of| {
            let (_folder, path) = file(bytes);
            RangeFile::open(&path).unwrap().fingerprint(use_of).unwrap()
        };
        let bytes = vec![1; 1 << 20];
        let mut other = bytes.clone();
        other[(1 << 20) - 1] = 2;
        let whole = fingerprint(&bytes, "x");
        assert!(whole.starts_with("1048576-") && whole.len() == 8 + 64, "{whole}");
        assert_eq!(whole, fingerprint(&bytes, "x"));
        for changed in [fingerprint(&other, "x"), fingerprint(&bytes[1..], "x"), fingerprint(&bytes, "y")] {
            assert_ne!(whole, changed);
        }
        // All bytes of a small file count.
        for at in [0, 4095, 4096, 9000, 9999] {
            let mut small = vec![0; 10_000];
            let before = fingerprint(&small, "");
            small[at] = 1;
            assert_ne!(before, fingerprint(&small, ""), "{at}");
        }
        assert_eq!(fingerprint(b"", "").len(), 2 + 64);
    }

    #[test]
    fn a_spool_is_written_and_read() {
        let mut spool = Spool::new("a.csv").unwrap();
        for part in [&b"abc"[..], b"", b"defg"] {
            spool.write(part).unwrap();
        }
        let file = spool.finish().unwrap();
        assert_eq!((file.name(), file.bytes()), ("a.csv", 7));
        assert_eq!(file.part(2, 3).unwrap(), b"cde");
    }
}
