//! The header of a safetensors file: its length, then JSON with type, shape and place of every tensor. Nothing is read of the numbers.

use std::ops::Range;

use super::{METADATA, Parsed};
use crate::error::{Error, Result};
use crate::files::cells::Texts;
use crate::json::{Json, Record};

pub(crate) const LENGTH_BYTES: usize = 8;

/// The longest header that the format's own library reads.
const MOST_HEADER_BYTES: u64 = 100_000_000;

const FOREIGN: &str = "is not a safetensors file, which models and checkpoints are";

/// A tensor in a file, before its numbers are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The type of its numbers: `F32`, `I64`, ….
    pub dtype: String,
    /// The sizes of the dimensions; empty for a single number.
    pub shape: Vec<usize>,
    /// Its bytes, counted from the end of the header.
    pub range: Range<usize>,
}

/// The header of a file.
#[derive(Default)]
pub(crate) struct Header {
    /// Names and texts.
    pub metadata: Vec<(String, String)>,
    /// The tensors, which cover all bytes after the header.
    pub entries: Vec<Entry>,
}

/// Errors if the first bytes of a file, eight or more unless it is shorter, are not those of one that [`super::read`] can read.
pub fn check_start(bytes: &[u8]) -> Parsed<()> {
    let (length, _) = open(bytes)?;
    if length > MOST_HEADER_BYTES { Err(FOREIGN.into()) } else { Ok(()) }
}

/// The bytes before the numbers of a file of `total` bytes, which begin with `bytes`: the first nine suffice.
pub fn header_bytes(bytes: &[u8], total: u64, source: &str) -> Result<usize> {
    let length = check_start(bytes).and_then(|()| open(bytes)).map(|(length, _)| length + LENGTH_BYTES as u64);
    let within = length.and_then(|end| {
        if end <= total { Ok(end as usize) } else { Err(format!("header ends at byte {end}, file has {total}")) }
    });
    within.map_err(|what| Error::new(format!("{source}: {what}")))
}

/// The tensors of a file of `total` bytes, of which `bytes` are the first [`header_bytes`]. They cover all other bytes.
pub fn entries(bytes: &[u8], total: u64, source: &str) -> Result<Vec<Entry>> {
    let header = bytes.get(LENGTH_BYTES..).unwrap_or_default();
    let data = (total as usize).saturating_sub(bytes.len());
    let parsed = Header::parse(header, data).and_then(|header| {
        check_cover(&header.entries, data)?;
        Ok(header.entries)
    });
    parsed.map_err(|what| Error::new(format!("{source}: {what}")))
}

impl Header {
    /// Reads the header of a file with `data` bytes after it. Each tensor lies within these.
    pub(crate) fn parse(header: &[u8], data: usize) -> Parsed<Self> {
        let foreign = |why: &str| format!("is not a safetensors file: its header {why}");
        let header = std::str::from_utf8(header).map_err(|_| foreign("is not text"))?;
        let header = Json::parse(header).map_err(|why| foreign(&format!("is not JSON ({why})")))?;
        let Json::Fields(fields) = header else { return Err(foreign("is not a JSON object")) };
        let mut found = Self::default();
        for (name, field) in fields {
            if name == METADATA {
                let texts = texts(&field).ok_or_else(|| foreign("has a __metadata__ that is not texts by name"))?;
                found.metadata = texts;
                continue;
            }
            found.entries.push(entry(&name, &field, data).map_err(|what| format!("tensor \"{name}\" {what}"))?);
        }
        Ok(found)
    }
}

fn texts(field: &Json) -> Option<Vec<(String, String)>> {
    let Json::Fields(fields) = field else { return None };
    fields.iter().map(|(name, text)| Some((name.clone(), text.text()?.to_owned()))).collect()
}

/// The header and the numbers.
pub(crate) fn split(bytes: &[u8]) -> Parsed<(&[u8], &[u8])> {
    let (length, rest) = open(bytes)?;
    let header = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    header.ok_or_else(|| format!("header says {length} bytes, file has {}", bytes.len()))
}

/// The length of the header, and the bytes after it.
fn open(bytes: &[u8]) -> Parsed<(u64, &[u8])> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(format!("is cut short: {} bytes hold no safetensors header", bytes.len()));
    };
    // If a text file is read as a model, its first letters are a huge length.
    if !rest.starts_with(b"{") {
        return Err(FOREIGN.into());
    }
    Ok((u64::from_le_bytes(*length), rest))
}

/// The tensor of one field, in a file with `data` bytes of numbers.
fn entry(name: &str, field: &Json, data: usize) -> Parsed<Entry> {
    let sizes = |key: &str| -> Option<Vec<usize>> { Vec::from_json(field.get(key)?).ok() };
    let dtype = field.get("dtype").and_then(Json::text).ok_or("has no dtype")?.to_owned();
    let shape = sizes("shape").ok_or("has no readable shape")?;
    let span = sizes("data_offsets").and_then(|at| at.try_into().ok());
    let [start, end]: [usize; 2] = span.ok_or("has no readable data_offsets")?;
    if start > end || end > data {
        return Err(format!("lies at bytes {start} to {end}, file has {data} (cut short?)"));
    }
    Ok(Entry { name: name.to_owned(), dtype, shape, range: start..end })
}

/// Tensors must cover the data exactly: no gap, no overlap, nothing after the last. Empty ones have no bytes.
pub(crate) fn check_cover(entries: &[Entry], length: usize) -> Parsed<()> {
    let mut places = Texts::new();
    for (index, Entry { range, .. }) in entries.iter().enumerate().filter(|(_, entry)| !entry.range.is_empty()) {
        // Texts of equal length are sorted like their numbers.
        places.insert(format!("{:020}{:020}{index}", range.start, range.end), index as u32);
    }
    let mut at = 0;
    for &index in places.values() {
        let Entry { name, range, .. } = &entries[index as usize];
        if range.start != at {
            return Err(format!("tensor \"{name}\" begins at byte {}, expected {at}", range.start));
        }
        at = range.end;
    }
    if at == length { Ok(()) } else { Err(format!("holds {length} bytes of numbers, its tensors take {at}")) }
}
