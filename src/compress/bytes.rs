//! Numbers in little-endian bytes, and a frame around them: magic, contents, checksum (CRC-32 of everything before it).

use crate::error::{Error, Result};

/// Bytes of the checksum.
pub(super) const CHECKSUM: usize = 4;

/// Appends numbers to `out`.
pub(super) fn put_floats(out: &mut Vec<u8>, values: impl IntoIterator<Item = f32>) {
    values.into_iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

/// The numbers in `bytes`, 4 bytes each.
pub(super) fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word))
}

/// The unsigned numbers in `bytes`, 4 bytes each.
pub(super) fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word))
}

/// An error that names the first number that is not finite, if any, by `place`.
pub(super) fn check_finite(values: impl Iterator<Item = f32>, place: impl FnOnce(usize) -> String) -> Result<()> {
    let odd = values.enumerate().find(|(_, value)| !value.is_finite());
    odd.map_or(Ok(()), |(at, value)| Err(Error::new(format!("{}: got {value}, expected a finite number", place(at)))))
}

/// Appends the checksum of what is there.
pub(super) fn seal(mut out: Vec<u8>) -> Vec<u8> {
    out.extend_from_slice(&crc32fast::hash(&out).to_le_bytes());
    out
}

/// The contents between magic and checksum, if both are right.
pub(super) fn open(bytes: &[u8], magic: [u8; 4]) -> Result<&[u8]> {
    let shown = |bytes: &[u8]| bytes.escape_ascii().to_string();
    if !bytes.starts_with(&magic) {
        let got = &bytes[..bytes.len().min(magic.len())];
        return Err(Error::new(format!("first bytes: got \"{}\", expected \"{}\"", shown(got), shown(&magic))));
    }
    let least = magic.len() + CHECKSUM;
    if bytes.len() < least {
        return Err(Error::new(format!("size: got {} bytes, expected at least {least}", bytes.len())));
    }
    let (contents, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
    let (got, expected) = (words(checksum).next().unwrap_or_default(), crc32fast::hash(contents));
    if got != expected {
        return Err(Error::new(format!(
            "checksum: got {got:08x}, expected {expected:08x} of {} bytes",
            contents.len()
        )));
    }
    Ok(&contents[magic.len()..])
}

/// The bytes of a number, and what follows them.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    part(bytes, N as u64).map(|part| part.try_into().expect("a part of N bytes"))
}

/// The next `size` bytes; `bytes` then begins behind them.
pub(super) fn part<'a>(bytes: &mut &'a [u8], size: u64) -> Result<&'a [u8]> {
    let parts = usize::try_from(size).ok().and_then(|size| bytes.split_at_checked(size));
    let (part, rest) =
        parts.ok_or_else(|| Error::new(format!("size: got {} more bytes, expected {size}", bytes.len())))?;
    *bytes = rest;
    Ok(part)
}
