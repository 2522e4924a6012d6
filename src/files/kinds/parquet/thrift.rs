//! Reads Thrift's compact protocol, in which Parquet writes its headers, as a tree of values. Every value needs a byte of the file, and there
//! is a limit to how deep they are nested.

/// Deeper than any header of Parquet.
const MOST_DEEP: usize = 16;

/// A value; fields of other types than these are skipped.
#[derive(Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Int(i64),
    Bytes(&'a [u8]),
    List(Vec<Value<'a>>),
    Struct(Vec<(i64, Value<'a>)>),
}

/// Reads one struct and the bytes behind it. `None` if it is not complete.
pub(crate) fn read(bytes: &[u8]) -> Option<(Value<'_>, &[u8])> {
    let mut reader = Reader { rest: bytes };
    let value = reader.fields(0)?;
    Some((value, reader.rest))
}

impl<'a> Value<'a> {
    /// The field with a number, if this is a struct that has it.
    pub(crate) fn field(&self, id: i64) -> Option<&Self> {
        let Self::Struct(fields) = self else { return None };
        fields.iter().find(|(known, _)| *known == id).map(|(_, value)| value)
    }

    /// The whole number in a field.
    pub(crate) fn int(&self, id: i64) -> Option<i64> {
        if let Self::Int(value) = self.field(id)? { Some(*value) } else { None }
    }

    /// The bytes in a field.
    pub(crate) fn bytes(&self, id: i64) -> Option<&'a [u8]> {
        if let Self::Bytes(bytes) = self.field(id)? { Some(bytes) } else { None }
    }

    /// The values in a field that is a list; none if it is absent.
    pub(crate) fn list(&self, id: i64) -> &[Self] {
        if let Some(Self::List(values)) = self.field(id) { values } else { &[] }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        varint(&mut self.rest)
    }

    fn zigzag(&mut self) -> Option<i64> {
        self.varint().map(zigzag)
    }

    fn fields(&mut self, depth: usize) -> Option<Value<'a>> {
        let (mut fields, mut id) = (Vec::new(), 0_i64);
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(Value::Struct(fields));
            }
            id = match head >> 4 {
                0 => self.zigzag()?,
                step => id.checked_add(i64::from(step))?,
            };
            let value = match head & 15 {
                1 => Value::Int(1),
                2 => Value::Int(0),
                kind => self.value(kind, depth)?,
            };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Value<'a>> {
        if depth > MOST_DEEP {
            return None;
        }
        Some(match kind {
            // In a list, a truth value is a byte.
            1..=3 => Value::Int(i64::from(self.byte()? as i8)),
            4..=6 => Value::Int(self.zigzag()?),
            7 => Value::Bytes(self.take(8)?),
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            9 | 10 => self.list(depth)?,
            11 => self.map(depth)?,
            12 => self.fields(depth + 1)?,
            _ => return None,
        })
    }

    fn list(&mut self, depth: usize) -> Option<Value<'a>> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        // Each value has at least a byte, so a list that is not complete ends early.
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(self.value(head & 15, depth + 1)?);
        }
        Some(Value::List(values))
    }

    fn map(&mut self, depth: usize) -> Option<Value<'a>> {
        let count = self.varint()?;
        let mut values = Vec::new();
        if count > 0 {
            let kinds = self.byte()?;
            for _ in 0..count {
                values.push(self.value(kinds >> 4, depth + 1)?);
                values.push(self.value(kinds & 15, depth + 1)?);
            }
        }
        Some(Value::List(values))
    }
}

/// A number in groups of seven bits, the lowest first.
pub(crate) fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// 0, -1, 1, -2, 2, … from 0, 1, 2, 3, 4, ….
pub(crate) fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_of_fields() {
        // 1: i32 -3, 2: "ab", 3: list of i32 [1, -1], 4: true, 20: struct { 1: 7 }
        let bytes = [0x15, 5, 0x18, 2, b'a', b'b', 0x19, 0x25, 2, 1, 0x11, 0x0c, 40, 0x15, 14, 0, 0, 99];
        let (value, rest) = read(&bytes).unwrap();
        assert_eq!((value.int(1), value.bytes(2), value.int(4)), (Some(-3), Some(&b"ab"[..]), Some(1)));
        assert_eq!(value.list(3), [Value::Int(1), Value::Int(-1)]);
        assert_eq!((value.field(20).unwrap().int(1), rest), (Some(7), &[99][..]));
        for length in 0..bytes.len() - 1 {
            assert_eq!(read(&bytes[..length]), None, "{length}");
        }
        assert_eq!(read(&[0x1c; 1000]), None);
        assert_eq!(read(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 1]), None);
    }
}
