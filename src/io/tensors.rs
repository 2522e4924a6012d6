//! Named tensors and named texts to safetensors bytes and back: a length, a JSON header, the numbers, little-endian.
//! The same content gives the same bytes; a torn or foreign file is refused with the reason.

use std::collections::BTreeMap;

use half::f16;
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};

/// What one file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    /// Texts by name (`__metadata__` in the format).
    pub metadata: BTreeMap<String, String>,
    /// Tensors by name.
    pub tensors: BTreeMap<String, Array>,
}

/// Numbers with a shape, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The sizes of the dimensions; none for a single number.
    pub shape: Vec<usize>,
    /// As many numbers as the shape says.
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

/// The file of these tensors. Wider types come first, then names in order, so every tensor is aligned to its type.
///
/// Refuses a shape that does not fit its numbers and the reserved name `__metadata__`.
pub fn write(content: &Tensors) -> Result<Vec<u8>> {
    let of_width = |width| content.tensors.iter().filter(move |(_, array)| array.data.width() == width);
    let ordered: Vec<_> = [8, 4, 2, 1].into_iter().flat_map(of_width).collect();
    let mut fields = Map::new();
    if !content.metadata.is_empty() {
        fields.insert(METADATA.into(), json!(content.metadata));
    }
    let mut at = 0;
    for (name, array) in &ordered {
        array.check(name)?;
        let end = at + array.data.bytes();
        let field = json!({ "dtype": array.data.kind(), "shape": array.shape, "data_offsets": [at, end] });
        fields.insert((*name).clone(), field);
        at = end;
    }
    // Not `to_string`: that of a value also brings in the printer of indented JSON.
    let mut header = serde_json::to_string(&fields).map_err(|error| Error::new(format!("header: {error}")))?;
    header.push_str(&" ".repeat(header.len().next_multiple_of(LENGTH_BYTES) - header.len()));
    let mut out = Vec::with_capacity(LENGTH_BYTES + header.len() + at);
    out.extend((header.len() as u64).to_le_bytes());
    out.extend(header.as_bytes());
    for (_, array) in ordered {
        array.data.append_to(&mut out);
    }
    Ok(out)
}

/// Reads a file whole. Every size is checked against the length of `bytes` before anything is allocated.
pub fn read(bytes: &[u8], source: &str) -> Result<Tensors> {
    parse(bytes).map_err(|what| Error::new(format!("{source}: {what}")))
}

type Parsed<T> = std::result::Result<T, String>;

fn parse(bytes: &[u8]) -> Parsed<Tensors> {
    let (header, data) = split(bytes)?;
    let foreign = |why: &str| format!("is not a safetensors file: its header {why}");
    let header = std::str::from_utf8(header).map_err(|_| foreign("is not text"))?;
    let header = serde_json::from_str(header).map_err(|why| foreign(&format!("is not JSON ({why})")))?;
    let Value::Object(fields) = header else { return Err(foreign("is no JSON object")) };
    let mut content = Tensors::default();
    let mut spans = Vec::new();
    for (name, field) in fields {
        if name == METADATA {
            content.metadata = texts(field).ok_or_else(|| foreign("has a __metadata__ that is not texts by name"))?;
            continue;
        }
        let (array, span) = tensor(&field, data).map_err(|what| format!("tensor \"{name}\" {what}"))?;
        spans.push((span, name.clone()));
        content.tensors.insert(name, array);
    }
    check_cover(spans, data.len())?;
    Ok(content)
}

fn texts(field: Value) -> Option<BTreeMap<String, String>> {
    serde_json::from_value(field).ok()
}

fn split(bytes: &[u8]) -> Parsed<(&[u8], &[u8])> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else {
        return Err(format!("is cut short: {} bytes hold no safetensors header", bytes.len()));
    };
    let length = u64::from_le_bytes(*length);
    let header = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    header.ok_or_else(|| format!("header says {length} bytes, file has {}", bytes.len()))
}

/// The tensor of one header field and where in `data` it lies.
fn tensor(field: &Value, data: &[u8]) -> Parsed<(Array, [usize; 2])> {
    let sizes = |key: &str| -> Option<Vec<usize>> {
        field.get(key)?.as_array()?.iter().map(|size| usize::try_from(size.as_u64()?).ok()).collect()
    };
    let kind = field.get("dtype").and_then(Value::as_str).ok_or("has no dtype")?;
    let shape = sizes("shape").ok_or("has no readable shape")?;
    let span = sizes("data_offsets").and_then(|at| at.try_into().ok());
    let [start, end]: [usize; 2] = span.ok_or("has no readable data_offsets")?;
    let Some(slice) = data.get(start..end) else {
        return Err(format!("lies at bytes {start} to {end}, file has {} (cut short?)", data.len()));
    };
    let numbers = Data::from_bytes(kind, slice).ok_or_else(|| match kind {
        "F32" | "F64" | "U32" | "I64" | "F16" => {
            format!("of {kind} has {} bytes, no whole count of numbers", slice.len())
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

/// Tensors must lie end to end over all of the data: no gap, no overlap, nothing after the last.
fn check_cover(mut spans: Vec<([usize; 2], String)>, length: usize) -> Parsed<()> {
    spans.sort_unstable();
    let mut at = 0;
    for ([start, end], name) in spans {
        if start != at {
            return Err(format!("tensor \"{name}\" begins at byte {start}, wanted {at}"));
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

            /// How many numbers there are.
            pub fn len(&self) -> usize {
                match self { $(Self::$variant(values) => values.len(),)* }
            }

            fn append_to(&self, out: &mut Vec<u8>) {
                match self { $(Self::$variant(values) => values.iter().for_each(|v| out.extend(v.to_le_bytes())),)* }
            }

            /// Nothing if the type is unknown or the bytes are no whole count of it.
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
    /// Adds `f32` numbers under `name`.
    pub fn put_f32(&mut self, name: &str, shape: &[usize], values: Vec<f32>) {
        self.tensors.insert(name.to_string(), Array { shape: shape.to_vec(), data: Data::F32(values) });
    }

    /// Takes the `f32` numbers called `name` out. Refuses an absent name, another type, another shape.
    pub fn take_f32(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        if let Data::F32(values) = self.take(name, "F32", shape)? { Ok(values) } else { unreachable!("it is F32") }
    }

    /// The same of `f16`.
    pub fn take_f16(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f16>> {
        if let Data::F16(values) = self.take(name, "F16", shape)? { Ok(values) } else { unreachable!("it is F16") }
    }

    /// The same of `i8`.
    pub fn take_i8(&mut self, name: &str, shape: &[usize]) -> Result<Vec<i8>> {
        if let Data::I8(values) = self.take(name, "I8", shape)? { Ok(values) } else { unreachable!("it is I8") }
    }

    fn take(&mut self, name: &str, kind: &str, shape: &[usize]) -> Result<Data> {
        let wanted = format!("wanted {kind} {shape:?}");
        match self.tensors.remove(name) {
            Some(Array { shape: got, data }) if got == shape && data.kind() == kind => Ok(data),
            Some(Array { shape: got, data }) => {
                Err(Error::new(format!("tensor \"{name}\" is {} {got:?}, {wanted}", data.kind())))
            }
            None => {
                let names = super::table::list(&self.tensors.keys().map(String::as_str).collect::<Vec<_>>());
                Err(Error::new(format!("tensor \"{name}\" is missing, {wanted}; the file has {names}")))
            }
        }
    }
}

#[cfg(test)]
#[path = "tensors_tests.rs"]
mod tests;
