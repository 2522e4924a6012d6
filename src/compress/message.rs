//! The bytes of a compressed gradient:
//!
//! ```text
//! "MGRD"  version u16  encoding u16  length u64  payload size u64  payload  CRC-32 of all before it
//! ```
//!
//! Numbers are little-endian; `length` counts the values of the gradient. `sparse.rs` and `blocks.rs` say what a payload is.

use super::blocks;
use super::bytes::{self, CHECKSUM, check_finite, floats, put_floats};
use super::encoding::{ENCODINGS, Encoding};
use super::sparse;
use crate::error::{Error, Result};

const MAGIC: [u8; 4] = *b"MGRD";
/// The version that is written, and the only one that is read.
const VERSION: u16 = 1;
/// Bytes before the payload.
const HEADER: usize = 24;

/// A compressed gradient. It is always valid: [`Message::parse`] refuses other bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    bytes: Vec<u8>,
    encoding: Encoding,
    length: usize,
}

impl Message {
    /// A message of `length` values whose payload `write` appends; `write` returns its encoding.
    pub(super) fn with(length: usize, write: impl FnOnce(&mut Vec<u8>) -> Encoding) -> Self {
        let mut out = vec![0; HEADER];
        let encoding = write(&mut out);
        let code = ENCODINGS.iter().position(|known| *known == encoding).expect("every encoding is listed");
        let payload = (out.len() - HEADER) as u64;
        out[..4].copy_from_slice(&MAGIC);
        out[4..6].copy_from_slice(&VERSION.to_le_bytes());
        out[6..8].copy_from_slice(&(code as u16).to_le_bytes());
        out[8..16].copy_from_slice(&(length as u64).to_le_bytes());
        out[16..HEADER].copy_from_slice(&payload.to_le_bytes());
        Self { bytes: bytes::seal(out), encoding, length }
    }

    /// A message with all values.
    pub(super) fn all(values: &[f32]) -> Self {
        Self::with(values.len(), |out| {
            put_floats(out, values.iter().copied());
            Encoding::All
        })
    }

    /// A message with the values that are kept.
    pub(super) fn kept(values: &[f32], is_kept: impl Fn(usize, f32) -> bool) -> Self {
        Self::with(values.len(), |out| sparse::write(out, values, is_kept))
    }

    /// The message in `bytes`. An error says what is wrong if they are cut short, changed, of another kind or version, or have numbers that are
    /// not finite.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::parsed(bytes).map_err(|error| error.within("compress: message"))
    }

    fn parsed(all: &[u8]) -> Result<Self> {
        // A message that is cut short also has a wrong checksum; its size says more.
        if all.starts_with(&MAGIC) {
            let least = HEADER + CHECKSUM;
            let size = all.get(16..HEADER).filter(|_| all.len() >= least);
            let size = size.map_or(0, |size| u64::from_le_bytes(size.try_into().expect("8 bytes")));
            let expected = size.saturating_add(least as u64);
            if all.len() as u64 != expected {
                return Err(Error::new(format!("size: got {} bytes, expected {expected}", all.len())));
            }
        }
        let mut rest = bytes::open(all, MAGIC)?;
        let version = u16::from_le_bytes(bytes::take(&mut rest)?);
        if version != VERSION {
            return Err(Error::new(format!("version: got {version}, expected {VERSION}")));
        }
        let code = u16::from_le_bytes(bytes::take(&mut rest)?);
        let encoding = *ENCODINGS
            .get(usize::from(code))
            .ok_or_else(|| Error::new(format!("encoding: got {code}, expected below {}", ENCODINGS.len())))?;
        let length = u64::from_le_bytes(bytes::take(&mut rest)?);
        let length = checked_length(length)?;
        let _size: [u8; 8] = bytes::take(&mut rest)?;
        match encoding {
            Encoding::All if rest.len() as u64 != 4 * length as u64 => {
                Err(Error::new(format!("values: got {} bytes, expected {}", rest.len(), 4 * length as u64)))
            }
            Encoding::All => check_finite(floats(rest), |at| format!("value {at}")),
            Encoding::List => sparse::check_list(rest, length),
            Encoding::Map => sparse::check_map(rest, length),
            Encoding::Levels(bits) => blocks::check(rest, length, bits),
        }?;
        Ok(Self { bytes: all.to_vec(), encoding, length })
    }

    /// The message as it is sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The message as it is sent, without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The number of values of the gradient.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The number of values that the message has; the others are 0.
    pub fn sent(&self) -> usize {
        let mut count = 0;
        self.visit(|_, _| count += 1);
        count
    }

    /// The share of the bytes of the gradient (4 per value) that the message saves; below 0 if it is larger.
    pub fn saved(&self) -> f64 {
        1.0 - self.bytes.len() as f64 / (4.0 * self.length as f64)
    }

    /// The gradient that the message describes. Errors if there is not enough memory for it.
    pub fn decompress(&self) -> Result<Vec<f32>> {
        let mut out = Vec::new();
        out.try_reserve_exact(self.length)
            .map_err(|_| Error::new(format!("compress: message: no memory for {} values", self.length)))?;
        out.resize(self.length, 0.0);
        self.visit(|place, value| out[place] = value);
        Ok(out)
    }

    /// Adds `weight` times the gradient to `sum`, which has as many values: with 1 / machines for each of them, the mean of their gradients.
    pub fn add_to(&self, sum: &mut [f32], weight: f32) -> Result<()> {
        if sum.len() != self.length {
            let (got, expected) = (sum.len(), self.length);
            return Err(Error::usage(format!(
                "compress: sum: got {got} values, expected {expected} as in the message"
            )));
        }
        self.visit(|place, value| sum[place] += weight * value);
        Ok(())
    }

    /// Calls `each` with the places and values that are sent, in order.
    pub(super) fn visit(&self, mut each: impl FnMut(usize, f32)) {
        let payload = &self.bytes[HEADER..self.bytes.len() - CHECKSUM];
        match self.encoding {
            Encoding::All => floats(payload).enumerate().for_each(|(place, value)| each(place, value)),
            Encoding::List => sparse::visit_list(payload, each),
            Encoding::Map => sparse::visit_map(payload, self.length, each),
            Encoding::Levels(bits) => blocks::visit(payload, self.length, bits, each),
        }
    }
}

/// A number of values whose places have 32 bits.
pub(super) fn checked_length(length: u64) -> Result<usize> {
    let most = u32::MAX;
    let fits = u32::try_from(length).ok().and_then(|length| usize::try_from(length).ok());
    fits.ok_or_else(|| Error::new(format!("length: got {length} values, expected at most {most}")))
}
