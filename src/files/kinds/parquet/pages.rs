//! The pages of a chunk: header, decompression, which rows have a value, and the values, in a dictionary or not.

use super::encoding::{self, Values};
use super::schema::{Chunk, Field, Physical};
use super::thrift::{self, Value};
use crate::files::kinds::compressed;
use crate::host::{has_room, memory_bytes};

/// Why a page cannot be read.
#[derive(Debug, PartialEq)]
pub(crate) enum Refusal {
    /// The file is not what it should be, or does not fit.
    Damaged(String),
    /// What the column holds is not read; other columns can be.
    Unread(String),
}

pub(crate) type Refused<T> = Result<T, Refusal>;

impl From<String> for Refusal {
    fn from(what: String) -> Self {
        Self::Damaged(what)
    }
}

impl From<&str> for Refusal {
    fn from(what: &str) -> Self {
        Self::Damaged(what.into())
    }
}

/// A page of rows.
pub(crate) struct Page {
    /// Whether each row has a value; empty if all have.
    pub(crate) present: Vec<u32>,
    pub(crate) rows: usize,
    pub(crate) values: Stored,
}

/// The values of a page.
pub(crate) enum Stored {
    Plain(Values),
    /// Places in the dictionary.
    Coded(Vec<u32>),
}

/// The pages of a chunk, one after another.
pub(crate) struct Pages<'a> {
    rest: &'a [u8],
    codec: i64,
    field: &'a Field,
    /// Rows that are still to come.
    left: usize,
}

/// One of these follows.
pub(crate) enum Next {
    Dictionary(Values),
    Page(Page),
}

const CUT: &str = "is damaged: a page is cut short";

impl<'a> Pages<'a> {
    pub(crate) fn new(bytes: &'a [u8], chunk: &Chunk, field: &'a Field, rows: usize) -> Self {
        Self { rest: &bytes[chunk.start..chunk.start + chunk.length], codec: chunk.codec, field, left: rows }
    }

    /// The next page; none once there is one for every row.
    pub(crate) fn next(&mut self) -> Refused<Option<Next>> {
        while self.left > 0 {
            let (header, rest) = thrift::read(self.rest).ok_or(CUT)?;
            let sizes = (size(&header, 2), size(&header, 3));
            let (Some(size), Some(packed)) = sizes else { return Err(CUT.into()) };
            let (body, rest) = rest.split_at_checked(packed).ok_or(CUT)?;
            self.rest = rest;
            check_sum(&header, body)?;
            match header.int(1) {
                Some(0) => return self.page(&header, body, size).map(|page| Some(Next::Page(page))),
                Some(2) => return self.dictionary(&header, body, size).map(|values| Some(Next::Dictionary(values))),
                Some(3) => return self.page_2(&header, body, size).map(|page| Some(Next::Page(page))),
                _ => {}
            }
        }
        Ok(None)
    }

    fn dictionary(&self, header: &Value<'_>, body: &[u8], size: usize) -> Refused<Values> {
        let count = header.field(7).and_then(|about| count(about, 1)).ok_or(CUT)?;
        let body = self.unpack(body, size)?;
        encoding::plain(&body, count, self.field.physical).ok_or_else(|| CUT.into())
    }

    /// A page of version 1: which rows have values is packed with the values.
    fn page(&mut self, header: &Value<'_>, body: &[u8], size: usize) -> Refused<Page> {
        let about = header.field(5).ok_or(CUT)?;
        let rows = self.rows(about)?;
        let body = self.unpack(body, size)?;
        let mut rest = &body[..];
        let mut present = Vec::new();
        if self.field.levels > 0 {
            let (length, behind) = rest.split_first_chunk::<4>().ok_or(CUT)?;
            let (levels, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(CUT)?;
            // Levels packed in bits alone are of an old version that nobody writes.
            if about.int(3) != Some(3) {
                let why = "marks rows without values in a way that is not read; write it by another program";
                return Err(Refusal::Unread(why.into()));
            }
            present = self.present(levels, rows)?;
            rest = behind;
        }
        self.finish(rows, present, rest, about.int(2))
    }

    /// A page of version 2: which rows have values is not compressed.
    fn page_2(&mut self, header: &Value<'_>, body: &[u8], size: usize) -> Refused<Page> {
        let about = header.field(8).ok_or(CUT)?;
        let rows = self.rows(about)?;
        let lengths = [5, 6].map(|id| count(about, id));
        let [Some(levels), Some(repeats)] = lengths else { return Err(CUT.into()) };
        let head = levels.checked_add(repeats).filter(|head| *head <= body.len().min(size)).ok_or(CUT)?;
        let present = if self.field.levels > 0 { self.present(&body[repeats..head], rows)? } else { Vec::new() };
        let packed = &body[head..];
        if about.int(7) == Some(0) {
            return self.finish(rows, present, packed, about.int(4));
        }
        let unpacked = self.unpack(packed, size - head)?;
        self.finish(rows, present, &unpacked, about.int(4))
    }

    /// For each row 1 if it has a value, else 0: neither the value nor a record around it may be missing.
    fn present(&self, levels: &[u8], rows: usize) -> Refused<Vec<u32>> {
        let all = self.field.levels;
        let mut present = encoding::runs(levels, u32::BITS - all.leading_zeros(), rows).ok_or(CUT)?;
        for level in &mut present {
            *level = u32::from(*level == all);
        }
        Ok(present)
    }

    /// The rows of a page, which must be among those that are still to come.
    fn rows(&self, about: &Value<'_>) -> Refused<usize> {
        count(about, 1).filter(|rows| *rows <= self.left).ok_or_else(|| "is damaged: it has too many values".into())
    }

    fn finish(&mut self, rows: usize, present: Vec<u32>, body: &[u8], encoding: Option<i64>) -> Refused<Page> {
        let count = if self.field.levels > 0 { present.iter().filter(|level| **level == 1).count() } else { rows };
        let values = self.values(body, count, encoding)?;
        self.left -= rows;
        Ok(Page { present, rows, values })
    }

    /// `count` values of an encoding, by its number in the format.
    fn values(&self, body: &[u8], count: usize, encoding: Option<i64>) -> Refused<Stored> {
        let physical = self.field.physical;
        let values = match (encoding, physical) {
            (Some(0), _) => encoding::plain(body, count, physical),
            (Some(2 | 8), _) => {
                let Some((&width, runs)) = body.split_first() else {
                    return if count == 0 { Ok(Stored::Coded(Vec::new())) } else { Err(CUT.into()) };
                };
                return encoding::runs(runs, u32::from(width), count).map(Stored::Coded).ok_or_else(|| CUT.into());
            }
            (Some(3), Physical::Bool) => {
                let runs = body.get(4..).and_then(|runs| encoding::runs(runs, 1, count));
                runs.map(|bits| Values::Ints(bits.into_iter().map(i64::from).collect()))
            }
            (Some(5), Physical::Int32 | Physical::Int64) => deltas(body, count, physical),
            (Some(6), Physical::Bytes) => encoding::delta_lengths(body, count),
            (Some(7), Physical::Bytes | Physical::Fixed(_)) => {
                encoding::delta_bytes(body, count, memory_bytes()).filter(|values| has_width(values, physical))
            }
            (Some(9), _) => encoding::split_bytes(body, count, physical),
            _ => {
                return Err(Refusal::Unread("uses an encoding that is not read; write it by another program".into()));
            }
        };
        values.map(Stored::Plain).ok_or_else(|| CUT.into())
    }

    /// The bytes of a page. Their number is checked before they are allocated.
    fn unpack(&self, packed: &[u8], size: usize) -> Refused<Vec<u8>> {
        has_room(size as u64, || "the bytes of a page".into())?;
        let unpacked = match self.codec {
            0 => (packed.len() == size).then(|| packed.to_vec()),
            1 => snappy(packed, size),
            2 => compressed::gzip(packed, size),
            6 => compressed::zstd(packed, size),
            4 => compressed::brotli(packed, size),
            5 => lz4_hadoop(packed, size),
            7 => lz4(packed, size),
            codec => {
                let name = if codec == 3 { "LZO" } else { "a method of number above 7" };
                let why =
                    format!("is compressed with {name}, which is not read; use snappy, gzip, zstd, Brotli or LZ4");
                return Err(Refusal::Unread(why));
            }
        };
        unpacked.ok_or_else(|| "is damaged: a page does not unpack to the bytes it declares".into())
    }
}

/// No snappy stream expands more: a copy of 64 bytes takes three.
const SNAPPY_EXPANSION: usize = 22;

fn snappy(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let declared = snap::raw::decompress_len(packed).ok()?;
    if declared != size || size > packed.len().saturating_mul(SNAPPY_EXPANSION) {
        return None;
    }
    snap::raw::Decoder::new().decompress_vec(packed).ok()
}

/// No block of LZ4 expands more: a byte of length stands for at most 255.
const LZ4_EXPANSION: usize = 255;

/// The bytes of one block of LZ4.
fn lz4(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    if size > packed.len().saturating_mul(LZ4_EXPANSION) {
        return None;
    }
    lz4_flex::block::decompress(packed, size).ok().filter(|bytes| bytes.len() == size)
}

/// Blocks of LZ4 as Hadoop frames them, each after its unpacked and its packed length; old writers left these out.
fn lz4_hadoop(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let framed = || {
        let (mut rest, mut out) = (packed, Vec::new());
        while !rest.is_empty() {
            let (unpacked, behind) = rest.split_first_chunk::<4>()?;
            let (length, behind) = behind.split_first_chunk::<4>()?;
            let [unpacked, length] = [unpacked, length].map(|bytes| u32::from_be_bytes(*bytes) as usize);
            let (block, behind) = behind.split_at_checked(length)?;
            if out.len() + unpacked > size {
                return None;
            }
            out.extend(lz4(block, unpacked)?);
            rest = behind;
        }
        (out.len() == size).then_some(out)
    };
    framed().or_else(|| lz4(packed, size))
}

fn deltas(body: &[u8], count: usize, physical: Physical) -> Option<Values> {
    let (mut values, _) = encoding::deltas(body, count)?;
    if physical == Physical::Int32 {
        for value in &mut values {
            *value = i64::from(*value as i32);
        }
    }
    Some(Values::Ints(values))
}

/// Whether values of a fixed number of bytes have it.
fn has_width(values: &Values, physical: Physical) -> bool {
    let Physical::Fixed(width) = physical else { return true };
    (0..values.len()).all(|at| values.bytes(at).len() == width)
}

/// Errors if a page has a checksum and other bytes: the CRC-32 of what is stored, as a signed number.
fn check_sum(header: &Value<'_>, body: &[u8]) -> Refused<()> {
    let Some(expected) = header.int(4) else { return Ok(()) };
    let (got, expected) = (crc32fast::hash(body), expected as u32);
    if got == expected {
        return Ok(());
    }
    Err(format!("is damaged: the checksum of a page is {got:08x}, expected {expected:08x}").into())
}

fn size(header: &Value<'_>, id: i64) -> Option<usize> {
    count(header, id)
}

fn count(value: &Value<'_>, id: i64) -> Option<usize> {
    usize::try_from(value.int(id)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_lz4_plain_and_framed() {
        // Five letters as they are; then three as they are and a copy of ten from three before, and five at the end.
        let (plain, copy) = (&b"\x50hello"[..], &b"\x36abc\x03\x00\x50vwxyz"[..]);
        assert_eq!(lz4(plain, 5).unwrap(), b"hello");
        assert_eq!(lz4(copy, 18).unwrap(), b"abcabcabcabcavwxyz");
        assert_eq!((lz4(plain, 4), lz4(plain, 6), lz4(b"\x50hell", 5)), (None, None, None));
        let framed = [&[0, 0, 0, 5, 0, 0, 0, 6][..], plain, &[0, 0, 0, 18, 0, 0, 0, copy.len() as u8], copy].concat();
        assert_eq!(lz4_hadoop(&framed, 23).unwrap(), b"helloabcabcabcabcavwxyz");
        assert_eq!(lz4_hadoop(plain, 5).unwrap(), b"hello");
        assert_eq!((lz4_hadoop(&framed, 22), lz4_hadoop(&framed[..20], 23)), (None, None));
    }
}
