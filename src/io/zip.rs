//! The part of the ZIP format that `numpy.savez` writes: members stored or deflated, found through the central directory.
//! Every size is checked against the number of bytes before anything is allocated.

use crate::error::{Error, Result};
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use std::borrow::Cow;

/// The first four bytes of an archive that is not empty.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

const END: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;
const ENTRY: &[u8] = b"PK\x01\x02";
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;
/// The maximal expansion of a deflated stream (RFC 1951: 258 bytes from two bits).
const DEFLATE_EXPANSION: usize = 1032;

/// One file of an archive.
pub(super) struct Member<'a> {
    /// Its name in the archive.
    pub(super) name: &'a str,
    method: u16,
    crc: u32,
    size: usize,
    packed: &'a [u8],
}

/// The members of an archive in the order of its directory.
pub(super) fn members<'a>(bytes: &'a [u8], source: &str) -> Result<Vec<Member<'a>>> {
    directory(bytes).map_err(|what| Error::new(format!("{source}: {what}")))
}

type Found<T> = std::result::Result<T, String>;

fn directory(bytes: &[u8]) -> Found<Vec<Member<'_>>> {
    let end = find_end(bytes).ok_or("is cut short or not a ZIP archive: it has no directory at its end")?;
    let (count, at) = (u16_at(end, 10), u32_at(end, 16));
    if count == u16::MAX || at == u32::MAX {
        return Err("is a ZIP64 archive; archives under 4 GiB are read".into());
    }
    let mut rest = bytes.get(at as usize..).ok_or_else(|| beyond("directory", u64::from(at), bytes))?;
    let mut members = Vec::new();
    for _ in 0..count {
        if rest.len() < ENTRY_BYTES || !rest.starts_with(ENTRY) {
            return Err("has a broken directory".into());
        }
        let [name, extra, comment] = [28, 30, 32].map(|i| usize::from(u16_at(rest, i)));
        let next = rest.get(ENTRY_BYTES + name + extra + comment..).ok_or("has a broken directory")?;
        members.push(member(bytes, rest, &rest[ENTRY_BYTES..][..name])?);
        rest = next;
    }
    Ok(members)
}

/// The end record: the last one whose comment reaches exactly to the end of the file.
fn find_end(bytes: &[u8]) -> Option<&[u8]> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    let is_end = |record: &[u8]| record.starts_with(END) && usize::from(u16_at(record, 20)) == record.len() - END_BYTES;
    (first..=last).rev().map(|at| &bytes[at..]).find(|record| is_end(record))
}

fn member<'a>(bytes: &'a [u8], entry: &[u8], name: &'a [u8]) -> Found<Member<'a>> {
    let name = std::str::from_utf8(name).map_err(|_| "has a member whose name is not text")?;
    let (flags, method, crc) = (u16_at(entry, 8), u16_at(entry, 10), u32_at(entry, 16));
    let [packed, size, at] = [20, 24, 42].map(|i| u32_at(entry, i) as usize);
    if flags & 1 != 0 {
        return Err(format!("member {name} is encrypted"));
    }
    if !matches!(method, 0 | 8) {
        return Err(format!("member {name} is packed by method {method}; stored (0) and deflated (8) are read"));
    }
    // The local header repeats the entry, but its name and extra field may have other lengths.
    let local = bytes.get(at..).filter(|local| local.len() >= LOCAL_BYTES && local.starts_with(MAGIC));
    let local = local.ok_or_else(|| format!("member {name} is not at the position in the directory"))?;
    let start = LOCAL_BYTES + usize::from(u16_at(local, 26)) + usize::from(u16_at(local, 28));
    let data = local.get(start..).and_then(|data| data.get(..packed));
    let data = data.ok_or_else(|| beyond(&format!("member {name}"), packed as u64, bytes))?;
    let most = if method == 0 { packed } else { packed.saturating_mul(DEFLATE_EXPANSION) };
    if size > most || method == 0 && size != packed {
        return Err(format!("member {name} says {size} bytes, its {packed} packed bytes cannot hold them"));
    }
    Ok(Member { name, method, crc, size, packed: data })
}

fn beyond(what: &str, says: u64, bytes: &[u8]) -> String {
    format!("{what} says {says} bytes, file has {}", bytes.len())
}

impl<'a> Member<'a> {
    /// Unpacks the member and verifies its length and checksum.
    pub(super) fn unpack(&self, source: &str) -> Result<Cow<'a, [u8]>> {
        let name = self.name;
        let error = |what: &str| Error::new(format!("{source}: member {name} {what}"));
        let bytes = match self.method {
            0 => Cow::Borrowed(self.packed),
            _ => {
                Cow::Owned(decompress_to_vec_with_limit(self.packed, self.size).map_err(|_| error("does not unpack"))?)
            }
        };
        if bytes.len() != self.size {
            return Err(error(&format!(
                "unpacks to the wrong size: got {} bytes, expected {}",
                bytes.len(),
                self.size
            )));
        }
        if crc32(&bytes) != self.crc {
            return Err(error("is damaged: its checksum differs"));
        }
        Ok(bytes)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

/// CRC-32 as ZIP uses it (ISO 3309, reflected polynomial), four bits at a time from a table of sixteen.
fn crc32(bytes: &[u8]) -> u32 {
    const NIBBLES: [u32; 16] = {
        let (mut table, mut i) = ([0; 16], 0);
        while i < 16 {
            let (mut word, mut bit) = (i as u32, 0);
            while bit < 4 {
                word = if word & 1 == 1 { word >> 1 ^ 0xEDB8_8320 } else { word >> 1 };
                bit += 1;
            }
            table[i] = word;
            i += 1;
        }
        table
    };
    let step = |crc: u32, nibble: u32| NIBBLES[((crc ^ nibble) & 15) as usize] ^ crc >> 4;
    !bytes.iter().fold(!0, |crc, &byte| step(step(crc, u32::from(byte)), u32::from(byte) >> 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_standard_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
