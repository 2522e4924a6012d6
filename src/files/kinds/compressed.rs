//! Compressed bytes: gzip (RFC 1952) and Zstandard (RFC 8878), of any number of members.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

pub(crate) const GZIP: &[u8] = b"\x1f\x8b";
pub(crate) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

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
            (Some(expected), Some(got)) if expected != got => {
                Err(io::Error::other(format!("its checksum is {got:08x}, expected {expected:08x}")))
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

/// The bytes of one Brotli page, which must be `size`.
pub(crate) fn brotli(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    const BUFFER_BYTES: usize = 64 << 10;
    whole(brotli_decompressor::Decompressor::new(packed, BUFFER_BYTES), size)
}

/// Exactly `size` bytes; memory grows with what is unpacked, not with what is declared.
fn whole(from: impl Read, size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    from.take(size as u64 + 1).read_to_end(&mut out).ok()?;
    (out.len() == size).then_some(out)
}
