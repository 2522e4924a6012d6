//! Reads and writes named tensors and texts as safetensors: a length, a JSON header, the numbers, little-endian. The same
//! content gives the same bytes; a truncated, damaged or foreign file is an error with the reason.
//!
//! A file may have a checksum of all other bytes, the header's included, as its first text. Files of other programs need none.

use super::table::Texts;
use crate::error::{Error, Result, listed};
use crate::json::{Json, Record};
use half::f16;

/// Contents of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    /// Names and texts (`__metadata__` in the format).
    pub metadata: Vec<(String, String)>,
    /// Tensors by name.
    pub tensors: Named,
}

/// Tensors in order of their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named(Vec<(String, Array)>);

impl Named {
    /// Sorts them by name; the error is a name that occurs twice.
    fn of(all: Vec<(String, Array)>) -> std::result::Result<Self, String> {
        let mut places = Texts::new();
        for (at, (name, _)) in all.iter().enumerate() {
            if places.insert(name.clone(), at as u32).is_some() {
                return Err(name.clone());
            }
        }
        let mut all: Vec<_> = all.into_iter().map(Some).collect();
        Ok(Self(places.values().filter_map(|&at| all[at as usize].take()).collect()))
    }

    fn place(&self, name: &str) -> std::result::Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    /// Stores a tensor under `name`; returns the previous one.
    pub fn insert(&mut self, name: String, array: Array) -> Option<Array> {
        match self.place(&name) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, array)),
            Err(at) => {
                self.0.insert(at, (name, array));
                None
            }
        }
    }

    /// Removes a tensor.
    pub fn remove(&mut self, name: &str) -> Option<Array> {
        self.place(name).ok().map(|at| self.0.remove(at).1)
    }

    /// Names and tensors.
    pub fn all(&self) -> &[(String, Array)] {
        &self.0
    }
}

/// Numbers with a shape, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The sizes of the dimensions; empty for a single number.
    pub shape: Vec<usize>,
    /// The numbers, as many as the shape has elements.
    pub data: Data,
}

/// The numbers of a tensor.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each is a vector of what its name says")]
pub enum Data {
    F32(Vec<f32>),
    F64(Vec<f64>),
    U32(Vec<u32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    F16(Vec<f16>),
    I8(Vec<i8>),
}

const METADATA: &str = "__metadata__";
const LENGTH_BYTES: usize = 8;

/// The name of the text with the checksum, which must be the first.
pub const CHECKSUM: &str = "checksum";
/// Its digits before they are known. [`write`] fills them in.
pub const NO_CHECKSUM: &str = "0000000000000000";
/// The start of the header of a file with a checksum, up to the digits.
const OPENING: &str = r#"{"__metadata__":{"checksum":""#;
/// The place of the digits in the file.
const DIGITS: std::ops::Range<usize> = LENGTH_BYTES + OPENING.len()..LENGTH_BYTES + OPENING.len() + NO_CHECKSUM.len();

/// Writes the file. Wider types come first, then names in order, so every tensor is aligned to its type.
///
/// Errors if a shape does not match its numbers, and on the reserved name `__metadata__`.
pub fn write(content: &Tensors) -> Result<Vec<u8>> {
    let mut starts = vec![0; content.tensors.all().len()];
    let mut data = Vec::new();
    for width in [8, 4, 2, 1] {
        for ((name, array), start) in
            content.tensors.all().iter().zip(&mut starts).filter(|((_, array), _)| array.data.width() == width)
        {
            array.check(name)?;
            *start = data.len();
            array.data.append_to(&mut data);
        }
    }
    let mut fields = Vec::with_capacity(content.tensors.all().len() + 1);
    if !content.metadata.is_empty() {
        let texts = content.metadata.iter().map(|(name, text)| (name.clone(), text.to_json())).collect();
        fields.push((METADATA.to_owned(), Json::Fields(texts)));
    }
    for ((name, array), start) in content.tensors.all().iter().zip(starts) {
        let offsets = [start, start + array.data.bytes()].to_json();
        let kind = Json::Text(array.data.kind().into());
        let field = [("data_offsets", offsets), ("dtype", kind), ("shape", array.shape.to_json())];
        fields.push((name.clone(), Json::fields(field)));
    }
    let mut header = Json::Fields(fields).to_string();
    header.push_str(&" ".repeat(header.len().next_multiple_of(LENGTH_BYTES) - header.len()));
    let mut out = Vec::with_capacity(LENGTH_BYTES + header.len() + data.len());
    out.extend((header.len() as u64).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    let has_place = |(name, digits): &(String, String)| name == CHECKSUM && digits.len() == NO_CHECKSUM.len();
    if content.metadata.first().is_some_and(has_place) {
        let digits = checksum(&out);
        out[DIGITS].copy_from_slice(digits.as_bytes());
    }
    Ok(out)
}

/// Reads a whole file. Every size is checked against the length of `bytes` before anything is allocated. A checksum stays among the texts.
pub fn read(bytes: &[u8], source: &str) -> Result<Tensors> {
    let content = parse(bytes).and_then(|content| match content.text(CHECKSUM) {
        Some(expected) if checksum(bytes) != expected => {
            Err(format!("is damaged: its checksum is {}, expected {expected}", checksum(bytes)))
        }
        _ => Ok(content),
    });
    content.map_err(|what| Error::new(format!("{source}: {what}")))
}

/// Errors if the first bytes of a file, eight or more unless it is shorter, are not those of one that [`read`] can read.
pub fn check_start(bytes: &[u8]) -> std::result::Result<(), String> {
    let (length, _) = open(bytes)?;
    if length > MOST_HEADER_BYTES { Err(FOREIGN.into()) } else { Ok(()) }
}

/// The longest header that the format's own library reads.
const MOST_HEADER_BYTES: u64 = 100_000_000;

/// A 64-bit hash of all bytes of a file except its digits, in hexadecimal: FNV-1a with another multiplier, and a shift. Each step is a bijection of
/// the hash and injective in the byte, so changes within one byte are always detected.
fn checksum(bytes: &[u8]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (at, byte) in bytes.iter().enumerate() {
        if !DIGITS.contains(&at) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // A product moves differences to the left only.
            hash ^= hash >> 32;
        }
    }
    (0..NO_CHECKSUM.len()).map(|at| char::from(b"0123456789abcdef"[(hash >> (60 - 4 * at)) as usize & 15])).collect()
}

type Parsed<T> = std::result::Result<T, String>;

fn parse(bytes: &[u8]) -> Parsed<Tensors> {
    let (header, data) = split(bytes)?;
    let foreign = |why: &str| format!("is not a safetensors file: its header {why}");
    let header = std::str::from_utf8(header).map_err(|_| foreign("is not text"))?;
    let header = Json::parse(header).map_err(|why| foreign(&format!("is not JSON ({why})")))?;
    let Json::Fields(fields) = header else { return Err(foreign("is not a JSON object")) };
    let mut content = Tensors::default();
    let (mut arrays, mut spans) = (Vec::new(), Vec::new());
    for (name, field) in fields {
        if name == METADATA {
            content.metadata = texts(&field).ok_or_else(|| foreign("has a __metadata__ that is not texts by name"))?;
            continue;
        }
        let (array, span) = tensor(&field, data).map_err(|what| format!("tensor \"{name}\" {what}"))?;
        spans.push(span);
        arrays.push((name, array));
    }
    check_cover(&arrays, &spans, data.len())?;
    content.tensors = Named::of(arrays).map_err(|name| format!("holds two tensors called \"{name}\""))?;
    Ok(content)
}

fn texts(field: &Json) -> Option<Vec<(String, String)>> {
    let Json::Fields(fields) = field else { return None };
    fields.iter().map(|(name, text)| Some((name.clone(), text.text()?.to_owned()))).collect()
}

/// The header and the numbers.
fn split(bytes: &[u8]) -> Parsed<(&[u8], &[u8])> {
    let (length, rest) = open(bytes)?;
    let header = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    header.ok_or_else(|| format!("header says {length} bytes, file has {}", bytes.len()))
}

const FOREIGN: &str = "is not a safetensors file, which models and checkpoints are";

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

/// The tensor of one header field and its range in `data`.
fn tensor(field: &Json, data: &[u8]) -> Parsed<(Array, [usize; 2])> {
    let sizes = |key: &str| -> Option<Vec<usize>> { Vec::from_json(field.get(key)?).ok() };
    let kind = field.get("dtype").and_then(Json::text).ok_or("has no dtype")?;
    let shape = sizes("shape").ok_or("has no readable shape")?;
    let span = sizes("data_offsets").and_then(|at| at.try_into().ok());
    let [start, end]: [usize; 2] = span.ok_or("has no readable data_offsets")?;
    let Some(slice) = data.get(start..end) else {
        return Err(format!("lies at bytes {start} to {end}, file has {} (cut short?)", data.len()));
    };
    let numbers = Data::from_bytes(kind, slice).ok_or_else(|| match kind {
        "F32" | "F64" | "U32" | "I64" | "F16" => {
            format!("of {kind} has {} bytes, which is not a multiple of its size", slice.len())
        }
        _ => format!("has dtype {kind}; F32, F64, U32, I64, U8, F16 and I8 are read"),
    })?;
    let array = Array { shape, data: numbers };
    if array.fits() {
        Ok((array, [start, end]))
    } else {
        Err(format!("has shape {:?} and {} numbers", array.shape, array.data.len()))
    }
}

/// Tensors must cover the data exactly: no gap, no overlap, nothing after the last. Empty ones have no bytes.
fn check_cover(arrays: &[(String, Array)], spans: &[[usize; 2]], length: usize) -> Parsed<()> {
    let mut places = Texts::new();
    for (index, [start, end]) in spans.iter().enumerate().filter(|(_, [start, end])| start != end) {
        // Texts of equal length are sorted like their numbers.
        places.insert(format!("{start:020}{end:020}{index}"), index as u32);
    }
    let mut at = 0;
    for &index in places.values() {
        let ([start, end], (name, _)) = (spans[index as usize], &arrays[index as usize]);
        if start != at {
            return Err(format!("tensor \"{name}\" begins at byte {start}, expected {at}"));
        }
        at = end;
    }
    if at == length { Ok(()) } else { Err(format!("holds {length} bytes of numbers, its tensors take {at}")) }
}

impl Array {
    fn fits(&self) -> bool {
        let count = self.shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
        count == Some(self.data.len())
    }

    fn check(&self, name: &str) -> Result<()> {
        if name == METADATA {
            return Err(Error::new(format!("a tensor cannot be named {METADATA}")));
        }
        if self.fits() {
            return Ok(());
        }
        let (shape, count) = (&self.shape, self.data.len());
        Err(Error::new(format!("tensor \"{name}\" has shape {shape:?} and {count} numbers")))
    }
}

/// One line per type: name in the format, variant, type.
macro_rules! each_type {
    ($($kind:literal $variant:ident $type:ty;)*) => {
        impl Data {
            fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)* }
            }

            fn width(&self) -> usize {
                match self { $(Self::$variant(_) => size_of::<$type>(),)* }
            }

            /// Number of numbers.
            pub fn len(&self) -> usize {
                match self { $(Self::$variant(values) => values.len(),)* }
            }

            fn append_to(&self, out: &mut Vec<u8>) {
                match self { $(Self::$variant(values) => values.iter().for_each(|v| out.extend(v.to_le_bytes())),)* }
            }

            /// `None` if the type is unknown or its size does not divide the number of bytes.
            fn from_bytes(kind: &str, bytes: &[u8]) -> Option<Self> {
                match kind {
                    $($kind => {
                        let (chunks, []) = bytes.as_chunks() else { return None };
                        Some(Self::$variant(chunks.iter().map(|chunk| <$type>::from_le_bytes(*chunk)).collect()))
                    })*
                    _ => None,
                }
            }
        }
    };
}

each_type! {
    "F32" F32 f32;
    "F64" F64 f64;
    "U32" U32 u32;
    "I64" I64 i64;
    "U8" U8 u8;
    "F16" F16 f16;
    "I8" I8 i8;
}

impl Data {
    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn bytes(&self) -> usize {
        self.len() * self.width()
    }
}

impl Tensors {
    /// The text called `name`.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.metadata.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Adds `f32` numbers under `name`.
    pub fn put_f32(&mut self, name: &str, shape: &[usize], values: Vec<f32>) {
        self.tensors.insert(name.to_string(), Array { shape: shape.to_vec(), data: Data::F32(values) });
    }

    /// Removes and returns the `f32` numbers called `name`. Errors on an absent name, another type or another shape.
    pub fn take_f32(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        if let Data::F32(values) = self.take(name, "F32", shape)? { Ok(values) } else { unreachable!("it is F32") }
    }

    /// The same for `f16`.
    pub fn take_f16(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f16>> {
        if let Data::F16(values) = self.take(name, "F16", shape)? { Ok(values) } else { unreachable!("it is F16") }
    }

    /// The same for `i8`.
    pub fn take_i8(&mut self, name: &str, shape: &[usize]) -> Result<Vec<i8>> {
        if let Data::I8(values) = self.take(name, "I8", shape)? { Ok(values) } else { unreachable!("it is I8") }
    }

    fn take(&mut self, name: &str, kind: &str, shape: &[usize]) -> Result<Data> {
        let expected = format!("expected {kind} {shape:?}");
        match self.tensors.remove(name) {
            Some(Array { shape: got, data }) if got == shape && data.kind() == kind => Ok(data),
            Some(Array { shape: got, data }) => {
                Err(Error::new(format!("tensor \"{name}\" is {} {got:?}, {expected}", data.kind())))
            }
            None => {
                let names = listed(&self.tensors.all().iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
                Err(Error::new(format!("tensor \"{name}\" is missing, {expected}; the file has {names}")))
            }
        }
    }
}

#[cfg(test)]
#[path = "tensors_tests.rs"]
mod tests;
