//! Reads and writes named tensors and texts as safetensors: a length, a JSON header, the numbers, little-endian. The same
//! content gives the same bytes; a truncated, damaged or foreign file is an error with the reason.
//!
//! A file may have a checksum of all other bytes, the header's included, as its first text. Files of other programs need none.

#[path = "tensors_header.rs"]
mod header;

use super::cells::Texts;
use crate::error::{Error, Result, listed};
use crate::json::{Json, Record};
use half::f16;
use header::{Header, LENGTH_BYTES, check_cover, split};

pub use header::{Entry, check_start, entries, header_bytes};

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
    write_with(content, &[])
}

/// A tensor of `f32` numbers that somebody else holds: its name, shape and numbers.
pub(crate) type Held<'h> = (&'h str, &'h [usize], &'h [f32]);

/// The same with tensors that are not copied into the content first. Their names differ from those there.
pub(crate) fn write_with(content: &Tensors, held: &[Held<'_>]) -> Result<Vec<u8>> {
    let own = content.tensors.all().iter();
    let own = own.map(|(name, array)| Piece { name, shape: &array.shape, numbers: Numbers::Own(&array.data) });
    let held = held.iter().map(|&(name, shape, numbers)| Piece { name, shape, numbers: Numbers::Held(numbers) });
    let mut pieces: Vec<Piece<'_>> = own.chain(held).collect();
    pieces.sort_by_key(|piece| piece.name);
    let mut starts = vec![0; pieces.len()];
    let (mut length, mut order) = (0, Vec::with_capacity(pieces.len()));
    for width in [8, 4, 2, 1] {
        for (piece, start) in pieces.iter().zip(&mut starts).filter(|(piece, _)| piece.numbers.width() == width) {
            piece.check()?;
            *start = length;
            length += piece.numbers.bytes();
            order.push(&piece.numbers);
        }
    }
    let mut fields = Vec::with_capacity(pieces.len() + 1);
    if !content.metadata.is_empty() {
        let texts = content.metadata.iter().map(|(name, text)| (name.clone(), text.to_json())).collect();
        fields.push((METADATA.to_owned(), Json::Fields(texts)));
    }
    for (piece, start) in pieces.iter().zip(starts) {
        let offsets = [start, start + piece.numbers.bytes()].to_json();
        let kind = Json::Text(piece.numbers.kind().into());
        let field = [("data_offsets", offsets), ("dtype", kind), ("shape", piece.shape.to_vec().to_json())];
        fields.push((piece.name.to_owned(), Json::fields(field)));
    }
    let mut header = Json::Fields(fields).to_string();
    header.push_str(&" ".repeat(header.len().next_multiple_of(LENGTH_BYTES) - header.len()));
    // The numbers are written once: of a large file, a second copy of them would be most of the memory.
    let mut out = Vec::with_capacity(LENGTH_BYTES + header.len() + length);
    out.extend((header.len() as u64).to_le_bytes());
    out.extend(header.as_bytes());
    for numbers in order {
        numbers.append_to(&mut out);
    }
    let has_place = |(name, digits): &(String, String)| name == CHECKSUM && digits.len() == NO_CHECKSUM.len();
    if content.metadata.first().is_some_and(has_place) {
        let digits = checksum(&out);
        out[DIGITS].copy_from_slice(digits.as_bytes());
    }
    Ok(out)
}

/// A tensor that is written.
struct Piece<'p> {
    name: &'p str,
    shape: &'p [usize],
    numbers: Numbers<'p>,
}

enum Numbers<'n> {
    Own(&'n Data),
    Held(&'n [f32]),
}

impl Piece<'_> {
    fn check(&self) -> Result<()> {
        if self.name == METADATA {
            return Err(Error::new(format!("a tensor cannot be named {METADATA}")));
        }
        if fits(self.shape, self.numbers.len()) {
            return Ok(());
        }
        let (name, shape, count) = (self.name, self.shape, self.numbers.len());
        Err(Error::new(format!("tensor \"{name}\" has shape {shape:?} and {count} numbers")))
    }
}

impl Numbers<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Own(data) => data.kind(),
            Self::Held(_) => "F32",
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Own(data) => data.width(),
            Self::Held(_) => size_of::<f32>(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Own(data) => data.len(),
            Self::Held(numbers) => numbers.len(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Own(data) => data.bytes(),
            Self::Held(numbers) => size_of_val(*numbers),
        }
    }

    fn append_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::Own(data) => data.append_to(out),
            Self::Held(numbers) => numbers.iter().for_each(|number| out.extend(number.to_le_bytes())),
        }
    }
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

/// What is wrong with a file of this format, if the newest that this engine reads is older.
pub(crate) fn check_format(format: u32, newest: u32) -> std::result::Result<(), String> {
    if format <= newest {
        return Ok(());
    }
    Err(format!("its format is {format}, this engine ({}) reads up to {newest}", env!("CARGO_PKG_VERSION")))
}

type Parsed<T> = std::result::Result<T, String>;

fn parse(bytes: &[u8]) -> Parsed<Tensors> {
    let (header, data) = split(bytes)?;
    let Header { metadata, entries } = Header::parse(header, data.len())?;
    let tensors = entries.iter().map(|entry| {
        let array = tensor(entry, data).map_err(|what| format!("tensor \"{}\" {what}", entry.name))?;
        Ok((entry.name.clone(), array))
    });
    let tensors = tensors.collect::<Parsed<Vec<_>>>()?;
    check_cover(&entries, data.len())?;
    let tensors = Named::of(tensors).map_err(|name| format!("holds two tensors called \"{name}\""))?;
    Ok(Tensors { metadata, tensors })
}

/// The tensor of an entry in `data`.
fn tensor(Entry { dtype, shape, range, .. }: &Entry, data: &[u8]) -> Parsed<Array> {
    let slice = &data[range.clone()];
    let numbers = Data::from_bytes(dtype, slice).ok_or_else(|| match dtype.as_str() {
        "F32" | "F64" | "U32" | "I64" | "F16" => {
            format!("of {dtype} has {} bytes, which is not a multiple of its size", slice.len())
        }
        _ => format!("has dtype {dtype}; F32, F64, U32, I64, U8, F16 and I8 are read"),
    })?;
    let array = Array { shape: shape.clone(), data: numbers };
    if fits(&array.shape, array.data.len()) {
        Ok(array)
    } else {
        Err(format!("has shape {:?} and {} numbers", array.shape, array.data.len()))
    }
}

/// Whether a shape has so many elements.
fn fits(shape: &[usize], count: usize) -> bool {
    shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size)) == Some(count)
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

    /// The shape of the numbers called `name`.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.tensors.all().iter().find(|(known, _)| known == name).map(|(_, array)| &array.shape[..])
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
