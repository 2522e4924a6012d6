//! Reads numpy's array file: a magic, a Python dictionary with type, order and shape, then the numbers. One array becomes columns.

use super::{Column, Table};
use crate::error::{Error, Result};

/// The first six bytes of an array file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// An array in the file, checked: the number of bytes is exactly what type and shape need.
#[derive(Debug)]
pub struct Array<'a> {
    /// What the header says.
    pub layout: Layout,
    data: &'a [u8],
}

/// What the header of an array says, checked against the length of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The sizes of the dimensions; empty for a single number.
    pub shape: Vec<usize>,
    /// The type of the numbers.
    pub dtype: Dtype,
    /// Whether a table lies column after column, not row after row.
    pub is_fortran: bool,
    /// Where the numbers begin.
    pub start: usize,
}

/// How one number is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dtype {
    letter: u8,
    bytes: usize,
    is_big_endian: bool,
}

/// Reads one array: 1-D as the column `c0`, 2-D as the columns `c0`, `c1`, … of its rows.
///
/// Types `f4 f8 i1 i2 i4 i8 u1 u2 u4 u8` of either byte order and `bool`; C and Fortran order; format versions 1 to 3.
/// NaN is missing. Integers beyond 2^53 are rounded to the nearest `f64`.
pub fn read(bytes: &[u8], source: &str) -> Result<Table> {
    let array = Array::parse(bytes, source)?;
    let columns = array.columns(source, |j| format!("c{j}"))?;
    Table::new(source, columns)
}

/// No header of plain numbers is longer: that of version 1 has at most so many bytes.
pub const MOST_HEADER_BYTES: usize = 10 + u16::MAX as usize;

impl Layout {
    /// Reads the header of an array of `total` bytes, which begin with `bytes`: all of them, or the first [`MOST_HEADER_BYTES`].
    pub fn parse(bytes: &[u8], total: u64, source: &str) -> Result<Self> {
        let error = |what: String| Error::new(format!("{source}: {what}"));
        let (header, start) = split_header(bytes, total).map_err(error)?;
        let (dtype, is_fortran, shape) = parse_header(header).map_err(error)?;
        let count = shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
        let got = total - start as u64;
        match count.and_then(|count| count.checked_mul(dtype.bytes)) {
            Some(expected) if expected as u64 == got => Ok(Self { shape, dtype, is_fortran, start }),
            expected => {
                let expected = expected.map_or("too many".into(), |bytes| bytes.to_string());
                Err(error(format!("shape {shape:?} needs {expected} bytes of numbers, file has {got}")))
            }
        }
    }

    /// Rows and columns of a 1-D or 2-D array.
    pub fn table(&self, source: &str) -> Result<(usize, usize)> {
        match self.shape[..] {
            // An array without rows has no bytes, so its width cannot be checked and must not determine an allocation.
            [0] | [0, _] => Ok((0, 0)),
            [rows] => Ok((rows, 1)),
            [rows, width] => Ok((rows, width)),
            _ => {
                let shape = &self.shape;
                Err(Error::new(format!("{source}: shape {shape:?} is not a column [n] or a table [n, k]")))
            }
        }
    }
}

impl<'a> Array<'a> {
    /// Reads the header and checks it against the number of bytes. Allocates no memory based on unchecked sizes.
    pub fn parse(bytes: &'a [u8], source: &str) -> Result<Self> {
        let layout = Layout::parse(bytes, bytes.len() as u64, source)?;
        Ok(Self { data: &bytes[layout.start..], layout })
    }

    /// How many numbers it has.
    pub fn numbers(&self) -> u64 {
        (self.data.len() / self.layout.dtype.bytes) as u64
    }

    /// Whether its numbers are 32-bit floats.
    pub fn is_single(&self) -> bool {
        self.layout.dtype.letter == b'f' && self.layout.dtype.bytes == 4
    }

    /// Its numbers in C order: the last index runs fastest.
    pub fn values<T>(&self, convert: impl Fn(f64) -> T) -> Vec<T> {
        let dtype = self.layout.dtype;
        let number = |at: usize| convert(dtype.number(&self.data[at * dtype.bytes..][..dtype.bytes]));
        let count = self.numbers() as usize;
        if !self.layout.is_fortran {
            return (0..count).map(number).collect();
        }
        // In Fortran order the first index runs fastest.
        let place = |mut at: usize| {
            let mut apart = count;
            self.layout.shape.iter().rev().fold(0, |place, &size| {
                let index = at % size;
                at /= size;
                apart /= size;
                place + index * apart
            })
        };
        (0..count).map(|at| number(place(at))).collect()
    }

    /// The columns of a 1-D or 2-D array.
    pub fn columns(&self, source: &str, name: impl Fn(usize) -> String) -> Result<Vec<Column>> {
        let (rows, width) = self.layout.table(source)?;
        let dtype = self.layout.dtype;
        let (down, across) = if self.layout.is_fortran { (1, rows) } else { (width, 1) };
        let number = |i: usize| dtype.number(&self.data[i * dtype.bytes..][..dtype.bytes]);
        let column = |j: usize| (0..rows).map(|row| number(row * down + j * across)).collect();
        Ok((0..width).map(|j| Column::numeric(&name(j), column(j))).collect())
    }
}

/// The bytes of an array file, version 1, little endian and in C order, of `f64` numbers or, if it `is_single`, `f32`.
pub fn write(shape: &[usize], is_single: bool, values: impl Iterator<Item = f64>) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let kind = if is_single { "<f4" } else { "<f8" };
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // Numbers begin at a multiple of 64 bytes; a line feed ends the header.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = [MAGIC, &[1, 0], &(length as u16).to_le_bytes()].concat();
    bytes.extend_from_slice(format!("{header:<0$}\n", length - 1).as_bytes());
    if is_single {
        values.for_each(|value| bytes.extend_from_slice(&(value as f32).to_le_bytes()));
    } else {
        values.for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    }
    bytes
}

impl Dtype {
    /// Bytes of one number.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Whether the numbers are `f64` of the order that [`f64::from_le_bytes`] reads.
    pub fn is_little_f64(self) -> bool {
        self.letter == b'f' && self.bytes == 8 && !self.is_big_endian
    }

    /// Whether the numbers are integers or booleans.
    pub fn is_whole(self) -> bool {
        self.letter != b'f'
    }

    /// Reads the numbers that lie `step` bytes apart, the first at the start of `bytes`.
    pub fn numbers(self, bytes: &[u8], step: usize, into: &mut [f64]) {
        let items = bytes.chunks(step.max(1)).map(|item| &item[..self.bytes]);
        macro_rules! each {
            ($type:ty) => {
                match self.is_big_endian {
                    false => items.zip(into).for_each(|(item, number)| {
                        *number = <$type>::from_le_bytes(item.try_into().expect("the type has so many bytes")) as f64
                    }),
                    true => items.zip(into).for_each(|(item, number)| {
                        *number = <$type>::from_be_bytes(item.try_into().expect("the type has so many bytes")) as f64
                    }),
                }
            };
        }
        match (self.letter, self.bytes) {
            (b'f', 4) => each!(f32),
            (b'f', _) => each!(f64),
            (b'i', 1) => each!(i8),
            (b'i', 2) => each!(i16),
            (b'i', 4) => each!(i32),
            (b'i', _) => each!(i64),
            (_, 1) => each!(u8),
            (_, 2) => each!(u16),
            (_, 4) => each!(u32),
            (_, _) => each!(u64),
        }
    }

    /// The number in exactly `self.bytes` bytes.
    #[inline]
    fn number(self, bytes: &[u8]) -> f64 {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        if self.is_big_endian {
            word[..bytes.len()].reverse();
        }
        let unused = 64 - 8 * self.bytes as u32;
        let word = u64::from_le_bytes(word);
        match (self.letter, self.bytes) {
            (b'f', 4) => f64::from(f32::from_bits(word as u32)),
            (b'f', _) => f64::from_bits(word),
            (b'i', _) => (((word << unused) as i64) >> unused) as f64,
            _ => word as f64,
        }
    }

    /// Parses numpy's notation `<f8`, `>i4`, `|b1`, ….
    pub fn parse(text: &str) -> Option<Self> {
        let [order, letter, size] = *text.as_bytes() else { return None };
        let bytes = usize::from(size.wrapping_sub(b'0'));
        let is_known = match letter {
            b'f' => matches!(bytes, 4 | 8),
            b'i' | b'u' => matches!(bytes, 1 | 2 | 4 | 8),
            b'b' => bytes == 1,
            _ => false,
        };
        let is_ordered = matches!(order, b'<' | b'>') || order == b'|' && bytes == 1;
        (is_known && is_ordered).then_some(Self { letter, bytes, is_big_endian: order == b'>' })
    }
}

/// The header's text and where it ends. The header's length has two bytes in version 1, four in 2 and 3. The file has `total` bytes.
fn split_header(bytes: &[u8], total: u64) -> std::result::Result<(&str, usize), String> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err("is not an NPY file (it does not begin with \\x93NUMPY)".into());
    };
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (u32::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]), rest),
        [0 | 4.., minor, ..] => return Err(format!("is NPY version {}.{minor}; versions 1 to 3 are read", rest[0])),
        _ => return Err(format!("is cut short in its header ({} bytes)", bytes.len())),
    };
    match rest.get(..length as usize) {
        Some(header) => match std::str::from_utf8(header) {
            Ok(text) => Ok((text, bytes.len() - rest.len() + header.len())),
            Err(_) => Err("has a header that is not text".into()),
        },
        None if total > bytes.len() as u64 + u64::from(length) => {
            Err(format!("has a header of {length} bytes; the header of plain numbers is shorter"))
        }
        None => Err(format!("header says {length} bytes, file has {total}")),
    }
}

type Parsed = std::result::Result<(Dtype, bool, Vec<usize>), String>;

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn parse_header(header: &str) -> Parsed {
    let field = |key: &str| {
        let mut quoted = header.match_indices('\'').map(|(at, quote)| header.get(at + quote.len()..));
        let after = quoted.find_map(|text| text?.strip_prefix(key)?.strip_prefix("':"))?;
        Some(after.trim_start())
    };
    let broken = |key: &str| format!("header has no readable '{key}': \"{}\"", clip(header));
    let descr = field("descr").ok_or_else(|| broken("descr"))?;
    let is_fortran = match field("fortran_order") {
        Some(text) if text.starts_with("True") => true,
        Some(text) if text.starts_with("False") => false,
        _ => return Err(broken("fortran_order")),
    };
    let shape = field("shape").and_then(parse_shape).ok_or_else(|| broken("shape"))?;
    Ok((parse_dtype(descr)?, is_fortran, shape))
}

fn parse_dtype(descr: &str) -> std::result::Result<Dtype, String> {
    const WANTED: &str = "f4, f8, i1 to i8, u1 to u8 and bool are read";
    let Some((name, _)) = descr.strip_prefix('\'').and_then(|text| text.split_once('\'')) else {
        return Err(format!("holds records, not plain numbers (\"{}\"); {WANTED}", clip(descr)));
    };
    Dtype::parse(name).ok_or_else(|| match name {
        "|O" => format!("holds Python objects; {WANTED}"),
        _ => format!("holds numbers of type \"{}\"; {WANTED}", clip(name)),
    })
}

/// Reads `()`, `(3,)` or `(3, 4)`.
fn parse_shape(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let inside = inside.trim().trim_end_matches(',');
    let sizes = inside.split(',').filter(|_| !inside.is_empty());
    sizes.map(|size| size.trim().trim_end_matches('L').parse().ok()).collect()
}

/// At most 60 characters on one line, for a message about arbitrary text.
fn clip(text: &str) -> String {
    text.trim_end().chars().take(60).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
#[path = "npy_tests.rs"]
pub(crate) mod tests;
