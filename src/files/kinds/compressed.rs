//! Unpacks gzip (RFC 1952) and Zstandard (RFC 8878) files, of any number of members. The unpacked bytes are checked as they come, as those of
//! a file are, so a small file cannot fill the memory.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::check_bytes;
use crate::error::Result;
use crate::host;

pub(crate) const GZIP: &[u8] = b"\x1f\x8b";
pub(crate) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// The bytes of a file, unpacked if they are compressed.
pub fn unpack(bytes: Vec<u8>, source: &str) -> Result<Vec<u8>> {
    Ok(unpacked(Cow::Owned(bytes), source)?.into_owned())
}

/// The same; bytes that are not compressed are not copied.
pub(crate) fn unpacked<'a>(bytes: Cow<'a, [u8]>, source: &str) -> Result<Cow<'a, [u8]>> {
    if !is_compressed(&bytes) {
        return Ok(bytes);
    }
    let from = unpacking(&bytes[..], bytes.starts_with(GZIP));
    let unpacked = host::read_unpacked(from, source, |start| {
        if is_compressed(start) {
            return Err("is compressed twice; unpack it once".into());
        }
        check_bytes(start)
    })?;
    Ok(Cow::Owned(unpacked))
}

/// Whether a file that begins with `bytes` is compressed.
pub(crate) fn is_compressed(bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP) || bytes.starts_with(ZSTD)
}

/// The unpacked bytes of a compressed file, as they come.
pub(crate) fn unpacking<'a>(from: impl BufRead + 'a, is_gzip: bool) -> Box<dyn Read + 'a> {
    if is_gzip { Box::new(MultiGzDecoder::new(from)) } else { Box::new(Frames::new(from)) }
}

/// The frames of a Zstandard file, one after another.
struct Frames<R> {
    from: R,
    decoder: FrameDecoder,
    is_open: bool,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            while self.is_open && self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let outcome = self.decoder.decode_blocks(&mut self.from, BlockDecodingStrategy::UptoBlocks(1));
                outcome.map_err(|error| io::Error::other(error.to_string()))?;
            }
            if self.is_open {
                let length = self.decoder.read(out)?;
                if length > 0 || out.is_empty() {
                    return Ok(length);
                }
                self.end()?;
            }
            if self.from.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.next()?;
        }
    }
}

impl<R: BufRead> Frames<R> {
    fn new(from: R) -> Self {
        Self { from, decoder: FrameDecoder::new(), is_open: false }
    }

    /// Begins the next frame, or skips one that is to be skipped.
    fn next(&mut self) -> io::Result<()> {
        match self.decoder.reset(&mut self.from) {
            Ok(()) => self.is_open = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let skipped = io::copy(&mut self.from.by_ref().take(u64::from(length)), &mut io::sink())?;
                if skipped < u64::from(length) {
                    return Err(io::Error::other("is cut short in a frame to skip"));
                }
            }
            Err(error) => return Err(io::Error::other(error.to_string())),
        }
        Ok(())
    }

    /// Ends a frame: its checksum, if it has one, must be that of its content.
    fn end(&mut self) -> io::Result<()> {
        self.is_open = false;
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(wanted), Some(got)) if wanted != got => {
                Err(io::Error::other(format!("its checksum is {got:08x}, expected {wanted:08x}")))
            }
            _ => Ok(()),
        }
    }
}

/// The bytes of one Zstandard page, which must be `size`.
pub(crate) fn zstd(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    whole(Frames::new(packed), size)
}

/// The bytes of one gzip page, which must be `size`.
pub(crate) fn gzip(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    whole(MultiGzDecoder::new(packed), size)
}

/// Exactly `size` bytes; memory grows with what is unpacked, not with what is declared.
fn whole(from: impl Read, size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    from.take(size as u64 + 1).read_to_end(&mut out).ok()?;
    (out.len() == size).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn zst(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn files_of_several_members_are_unpacked() {
        let text = b"a,b\n1,2\n";
        for packed in [gz(text), zst(text)] {
            let two = [&packed[..], &packed].concat();
            assert_eq!(unpack(packed, "a").unwrap(), text);
            assert_eq!(unpack(two, "a").unwrap(), [text, &text[..]].concat());
        }
        let skip = b"\x50\x2a\x4d\x18\x02\0\0\0xx";
        assert_eq!(unpack([&zst(text)[..], skip].concat(), "a").unwrap(), text);
        assert_eq!(unpack(text.to_vec(), "a").unwrap(), text);
    }

    #[test]
    fn damaged_and_nested_files_are_errors() {
        let error = |bytes: Vec<u8>| unpack(bytes, "a").unwrap_err().to_string();
        let text = b"a,b\n1,2\n";
        for packed in [gz(text), zst(text)] {
            for length in 4..packed.len() {
                assert!(unpack(packed[..length].to_vec(), "a").is_err(), "{length}");
            }
            let mut wrong = packed.clone();
            let last = wrong.len() - 7;
            wrong[last] ^= 1;
            assert!(error(wrong).starts_with("a: cannot be unpacked: "));
            assert_eq!(error(gz(&packed)), "a: is compressed twice; unpack it once");
        }
        assert!(error(gz(b"\xd0\xcf\x11\xe0")).contains("is an Excel workbook (.xls)"));
    }

    #[test]
    fn every_member_of_a_file_is_unpacked() {
        let pieces = [&b"a,b\n"[..], b"1,2\n", b"", b"33,44\n", b"5,6\n"];
        for pack in [gz, zst] {
            let packed = pieces.map(pack).concat();
            let text = String::from_utf8(unpack(packed.clone(), "a").unwrap()).unwrap();
            assert_eq!(text, "a,b\n1,2\n33,44\n5,6\n");
            // The end of the last member is checked as that of the first one.
            assert!(unpack(packed[..packed.len() - 1].to_vec(), "a").is_err());
        }
    }
}
