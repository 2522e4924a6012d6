//! The subset of protocol-buffer messages that ONNX needs: fields of integers, floats, strings, bytes and messages, in the order
//! of addition. A key is the field number and the wire type.

/// A message under construction.
#[derive(Clone, Default)]
pub(super) struct Message(Vec<u8>);

/// Wire types.
const VARINT: u64 = 0;
const LENGTH: u64 = 2;
const WORD: u64 = 5;

impl Message {
    pub(super) fn int(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3 | VARINT);
        // Negative numbers take all ten bytes of their 64-bit pattern.
        self.varint(value as u64);
        self
    }

    pub(super) fn float(mut self, field: u64, value: f32) -> Self {
        self.varint(field << 3 | WORD);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub(super) fn message(self, field: u64, inner: &Self) -> Self {
        self.bytes(field, &inner.0)
    }

    pub(super) fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | LENGTH);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Seven bits per byte, lowest first; the eighth marks that more bytes follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_laid_out_as_the_format_says() {
        let inner = Message::default().int(1, 150);
        assert_eq!(inner.clone().into_bytes(), [0x08, 0x96, 0x01]);
        let whole = Message::default().text(2, "testing").message(3, &inner).float(4, 1.0).int(16, -1).into_bytes();
        let text = [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67];
        let rest = [0x1a, 0x03, 0x08, 0x96, 0x01, 0x25, 0x00, 0x00, 0x80, 0x3f, 0x80, 0x01];
        let last = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(whole, [&text[..], &rest, &last].concat());
    }
}
