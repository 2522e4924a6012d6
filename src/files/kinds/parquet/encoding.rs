//! The encodings of Parquet: bytes of a page to values. Each function returns `None` if there are fewer bytes than the values need.

use super::schema::Physical;
use super::thrift::{varint, zigzag};
use crate::files::kinds::iso::DAY_NS;

/// Values of one page.
#[derive(Debug, PartialEq)]
pub(crate) enum Values {
    Ints(Vec<i64>),
    Numbers(Vec<f64>),
    /// Bytes one after another, and the end of each value.
    Bytes(Vec<u8>, Vec<usize>),
}

impl Values {
    /// The bytes of a value.
    pub(crate) fn bytes(&self, at: usize) -> &[u8] {
        let Self::Bytes(bytes, ends) = self else { return &[] };
        &bytes[if at == 0 { 0 } else { ends[at - 1] }..ends[at]]
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Ints(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Bytes(_, ends) => ends.len(),
        }
    }
}

/// `count` values one after another.
pub(crate) fn plain(bytes: &[u8], count: usize, physical: Physical) -> Option<Values> {
    let width = match physical {
        Physical::Bool => return bits(bytes, count),
        Physical::Bytes => return lengths_and_bytes(bytes, count),
        Physical::Int32 | Physical::Float => 4,
        Physical::Int64 | Physical::Double => 8,
        Physical::Int96 => 12,
        Physical::Fixed(width) => width,
    };
    let bytes = bytes.get(..count.checked_mul(width)?)?;
    Some(fixed(bytes, width, physical))
}

/// Values of `width` bytes each.
fn fixed(bytes: &[u8], width: usize, physical: Physical) -> Values {
    let chunks = bytes.chunks_exact(width);
    match physical {
        Physical::Int32 => Values::Ints(chunks.map(|b| i64::from(word32(b) as i32)).collect()),
        Physical::Int64 => Values::Ints(chunks.map(|b| word64(b) as i64).collect()),
        Physical::Float => Values::Numbers(chunks.map(|b| f64::from(f32::from_bits(word32(b)))).collect()),
        Physical::Double => Values::Numbers(chunks.map(|b| f64::from_bits(word64(b))).collect()),
        Physical::Int96 => Values::Ints(chunks.map(nanoseconds).collect()),
        _ => Values::Bytes(bytes.to_vec(), (1..=bytes.len() / width).map(|at| at * width).collect()),
    }
}

fn word32(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn word64(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Nanoseconds since 1970 of a time of day and a Julian day.
fn nanoseconds(bytes: &[u8]) -> i64 {
    let days = i64::from(word32(&bytes[8..])) - 2_440_588;
    days.wrapping_mul(DAY_NS).wrapping_add(word64(&bytes[..8]) as i64)
}

fn bits(bytes: &[u8], count: usize) -> Option<Values> {
    let bytes = bytes.get(..count.div_ceil(8))?;
    Some(Values::Ints((0..count).map(|at| i64::from(bytes[at / 8] >> (at % 8) & 1)).collect()))
}

fn lengths_and_bytes(mut rest: &[u8], count: usize) -> Option<Values> {
    let (mut out, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (length, behind) = rest.split_at_checked(4)?;
        let (text, behind) = behind.split_at_checked(word32(length) as usize)?;
        out.extend_from_slice(text);
        ends.push(out.len());
        rest = behind;
    }
    Some(Values::Bytes(out, ends))
}

/// Runs of equal values, and groups of values of `width` bits: at most `count` values.
pub(crate) fn runs(mut rest: &[u8], width: u32, count: usize) -> Option<Vec<u32>> {
    if width > 32 {
        return None;
    }
    let mut out = Vec::new();
    while out.len() < count {
        let head = usize::try_from(varint(&mut rest)?).ok()?;
        let left = count - out.len();
        if head & 1 == 0 {
            let (value, behind) = rest.split_at_checked(width.div_ceil(8) as usize)?;
            rest = behind;
            if head == 0 {
                return None;
            }
            out.resize(out.len() + left.min(head >> 1), word32(value));
        } else {
            let groups = head >> 1;
            let length = groups.checked_mul(width as usize)?;
            // The last group may be cut where the values end.
            let present = length.min(rest.len());
            let values = left.min(groups.checked_mul(8)?);
            if groups == 0 || present < (values * width as usize).div_ceil(8) {
                return None;
            }
            unpack(&rest[..present], width, values, |value| out.push(value as u32));
            rest = &rest[present..];
        }
    }
    Some(out)
}

/// `count` values of `width` bits each, the lowest bits first.
fn unpack(bytes: &[u8], width: u32, count: usize, mut push: impl FnMut(u64)) {
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    let (mut word, mut have, mut next) = (0_u128, 0, bytes.iter());
    for _ in 0..count {
        while have < width {
            word |= u128::from(next.next().copied().unwrap_or(0)) << have;
            have += 8;
        }
        push(word as u64 & mask);
        word >>= width;
        have -= width;
    }
}

/// Differences in blocks (DELTA_BINARY_PACKED): exactly `count` whole numbers, and the bytes behind them.
pub(crate) fn deltas(mut rest: &[u8], count: usize) -> Option<(Vec<i64>, &[u8])> {
    let block = usize::try_from(varint(&mut rest)?).ok()?;
    let blocks = usize::try_from(varint(&mut rest)?).ok()?;
    let total = usize::try_from(varint(&mut rest)?).ok()?;
    let mut value = zigzag(varint(&mut rest)?);
    let size = block.checked_div(blocks)?;
    if total != count || size == 0 || !size.is_multiple_of(8) || blocks > 1 << 16 {
        return None;
    }
    let mut out = Vec::new();
    if count > 0 {
        out.push(value);
    }
    while out.len() < count {
        let least = zigzag(varint(&mut rest)?);
        let (widths, behind) = rest.split_at_checked(blocks)?;
        rest = behind;
        for &width in widths {
            if out.len() == count {
                break;
            }
            let length = size.checked_mul(usize::from(width))?.div_ceil(8);
            let (packed, behind) = rest.split_at_checked(length).filter(|_| width <= 64)?;
            rest = behind;
            unpack(packed, u32::from(width), size.min(count - out.len()), |delta| {
                value = value.wrapping_add(least).wrapping_add(delta as i64);
                out.push(value);
            });
        }
    }
    Some((out, rest))
}

/// Lengths as differences, then all bytes (DELTA_LENGTH_BYTE_ARRAY).
pub(crate) fn delta_lengths(bytes: &[u8], count: usize) -> Option<Values> {
    let (lengths, rest) = deltas(bytes, count)?;
    let (mut ends, mut end) = (Vec::new(), 0_usize);
    for length in lengths {
        end = end.checked_add(usize::try_from(length).ok()?)?;
        ends.push(end);
    }
    Some(Values::Bytes(rest.get(..end)?.to_vec(), ends))
}

/// Lengths of what a value shares with the start of the one before, then the rest of each (DELTA_BYTE_ARRAY). At most `most` bytes.
pub(crate) fn delta_bytes(bytes: &[u8], count: usize, most: u64) -> Option<Values> {
    let (shared, rest) = deltas(bytes, count)?;
    let rests = delta_lengths(rest, count)?;
    let (mut out, mut ends, mut before) = (Vec::new(), Vec::new(), 0..0);
    for (at, shared) in shared.into_iter().enumerate() {
        let shared = usize::try_from(shared).ok().filter(|shared| *shared <= before.len())?;
        let start = out.len();
        if (start + shared) as u64 > most {
            return None;
        }
        out.extend_from_within(before.start..before.start + shared);
        out.extend_from_slice(rests.bytes(at));
        before = start..out.len();
        ends.push(out.len());
    }
    Some(Values::Bytes(out, ends))
}

/// The first bytes of all values, then their second bytes, … (BYTE_STREAM_SPLIT).
pub(crate) fn split_bytes(bytes: &[u8], count: usize, physical: Physical) -> Option<Values> {
    let width = match physical {
        Physical::Int32 | Physical::Float => 4,
        Physical::Int64 | Physical::Double => 8,
        Physical::Fixed(width) => width,
        _ => return None,
    };
    let bytes = bytes.get(..count.checked_mul(width)?)?;
    let mut joined = vec![0; bytes.len()];
    for (at, byte) in joined.iter_mut().enumerate() {
        *byte = bytes[at % width * count + at / width];
    }
    Some(fixed(&joined, width, physical))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_groups() {
        // A run of five 3, then a group of eight values of two bits.
        let bytes = [10, 3, 3, 0b11_10_01_00, 0b00_01_10_11];
        assert_eq!(runs(&bytes, 2, 13).unwrap(), [3, 3, 3, 3, 3, 0, 1, 2, 3, 3, 2, 1, 0]);
        assert_eq!(runs(&bytes, 2, 14), None);
        assert_eq!(runs(&[0, 0], 2, 1), None);
        assert_eq!(runs(&[254, 255, 255, 255, 15], 0, 3).unwrap(), [0; 3]);
    }

    #[test]
    fn differences() {
        // 7, 5, 3, 1, 2, 3, 4, 5: the example of the format's description.
        let mut bytes = vec![128, 1, 4, 8, 14, 3, 2, 0, 0, 0];
        bytes.extend([0b1100_0000, 0b11_1111, 0, 0, 0, 0, 0, 0]);
        assert_eq!(deltas(&bytes, 8).unwrap().0, [7, 5, 3, 1, 2, 3, 4, 5]);
        assert_eq!(deltas(&bytes, 9), None);
        assert_eq!(deltas(&[128, 1, 0, 8, 14], 8), None);
    }

    #[test]
    fn plain_values() {
        assert_eq!(plain(&[0b101], 3, Physical::Bool), Some(Values::Ints(vec![1, 0, 1])));
        assert_eq!(plain(&[255; 4], 1, Physical::Int32), Some(Values::Ints(vec![-1])));
        assert_eq!(plain(&[1, 0, 0, 0, b'a'], 1, Physical::Bytes), Some(Values::Bytes(vec![b'a'], vec![1])));
        assert_eq!(plain(&[9, 0, 0, 0, b'a'], 1, Physical::Bytes), None);
        assert_eq!(plain(&[0; 7], 1, Physical::Int64), None);
        let mut noon = (DAY_NS / 2).to_le_bytes().to_vec();
        noon.extend(2_440_589_u32.to_le_bytes());
        assert_eq!(plain(&noon, 1, Physical::Int96), Some(Values::Ints(vec![DAY_NS * 3 / 2])));
        let halves = [0x00, 0x01, 0x3c, 0x40];
        assert_eq!(split_bytes(&halves, 2, Physical::Fixed(2)).unwrap().bytes(1), [0x01, 0x40]);
    }
}
