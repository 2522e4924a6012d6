//! Unpacks gzip (RFC 1952) and Zstandard (RFC 8878) files, of any number of members. The unpacked bytes are checked as they come, as those of
//! a file are, so a small file cannot fill the memory.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::check_bytes;
use crate::error::Result;
use crate::host;

pub(super) const GZIP: &[u8] = b"\x1f\x8b";
pub(super) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// The bytes of a file, unpacked if they are compressed.
pub fn unpack(bytes: Vec<u8>, source: &str) -> Result<Vec<u8>> {
    Ok(unpacked(Cow::Owned(bytes), source)?.into_owned())
}

/// The same; bytes that are not compressed are not copied.
pub(super) fn unpacked<'a>(bytes: Cow<'a, [u8]>, source: &str) -> Result<Cow<'a, [u8]>> {
    let from: Box<dyn Read> = if bytes.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(&bytes[..]))
    } else if bytes.starts_with(ZSTD) {
        Box::new(Frames { rest: &bytes, current: None })
    } else {
        return Ok(bytes);
    };
    let unpacked = host::read_unpacked(from, source, |start| {
        if start.starts_with(GZIP) || start.starts_with(ZSTD) {
            return Err("is compressed twice; unpack it once".into());
        }
        check_bytes(start)
    })?;
    Ok(Cow::Owned(unpacked))
}

/// The frames of a Zstandard file, one after another.
struct Frames<'a> {
    rest: &'a [u8],
    current: Option<StreamingDecoder<&'a [u8], FrameDecoder>>,
}

impl Read for Frames<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.current {
                let length = frame.read(out)?;
                if length > 0 || out.is_empty() {
                    return Ok(length);
                }
            }
            if let Some(frame) = self.current.take() {
                let sums = (frame.decoder.get_checksum_from_data(), frame.decoder.get_calculated_checksum());
                if let (Some(wanted), Some(got)) = sums
                    && wanted != got
                {
                    return Err(io::Error::other(format!("its checksum is {got:08x}, expected {wanted:08x}")));
                }
                self.rest = frame.into_inner();
            }
            if self.rest.is_empty() {
                return Ok(0);
            }
            self.current = self.next()?;
        }
    }
}

impl<'a> Frames<'a> {
    /// The next frame; none if it is one to skip.
    fn next(&mut self) -> io::Result<Option<StreamingDecoder<&'a [u8], FrameDecoder>>> {
        match StreamingDecoder::new(self.rest) {
            Ok(frame) => Ok(Some(frame)),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let rest = self.rest.get(8 + length as usize..);
                self.rest = rest.ok_or_else(|| io::Error::other("is cut short in a frame to skip"))?;
                Ok(None)
            }
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }
}

/// The bytes of one Zstandard page, which must be `size`.
pub(super) fn zstd(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    whole(Frames { rest: packed, current: None }, size)
}

/// The bytes of one gzip page, which must be `size`.
pub(super) fn gzip(packed: &[u8], size: usize) -> Option<Vec<u8>> {
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
}
