//! Events that TensorBoard reads: records of scalars, each framed by its length and checksums (the TFRecord format of TensorFlow's documentation; fields
//! as in its `event.proto` and `summary.proto`).

/// The first record of a file: the version of the format.
pub fn events_start(seconds: f64) -> Vec<u8> {
    let mut event = double(1, seconds);
    event.extend(bytes(3, b"brain.Event:2"));
    record(&event)
}

/// One record: some scalars of a step, each with its name, at a time in seconds since 1970.
pub fn events_of(seconds: f64, step: u64, scalars: &[(&str, f64)]) -> Vec<u8> {
    let value = |(name, value): &(&str, f64)| {
        let mut inner = bytes(1, name.as_bytes());
        // simple_value, a float.
        inner.push(2 << 3 | 5);
        inner.extend((*value as f32).to_le_bytes());
        bytes(1, &inner)
    };
    let mut event = double(1, seconds);
    event.push(2 << 3);
    event.extend(varint(step));
    event.extend(bytes(5, &scalars.iter().flat_map(value).collect::<Vec<u8>>()));
    record(&event)
}

fn double(field: u8, value: f64) -> Vec<u8> {
    let mut out = vec![field << 3 | 1];
    out.extend(value.to_le_bytes());
    out
}

fn bytes(field: u8, inner: &[u8]) -> Vec<u8> {
    let mut out = vec![field << 3 | 2];
    out.extend(varint(inner.len() as u64));
    out.extend(inner);
    out
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let mut out = length.to_vec();
    out.extend(masked(&length).to_le_bytes());
    out.extend(data);
    out.extend(masked(data).to_le_bytes());
    out
}

/// The checksum as the format stores it: turned and shifted, so that a checksum of data with checksums is not degenerate.
fn masked(data: &[u8]) -> u32 {
    checksum(data).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli).
fn checksum(data: &[u8]) -> u32 {
    let byte = |state: u32, byte: &u8| {
        let bit = |state: u32, _| if state & 1 == 1 { state >> 1 ^ 0x82f6_3b78 } else { state >> 1 };
        (0..8).fold(state ^ u32::from(*byte), bit)
    };
    !data.iter().fold(!0, byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standard() {
        // RFC 3720, appendix B.4, and the usual check value.
        assert_eq!(checksum(b"123456789"), 0xe306_9283);
        assert_eq!(checksum(&[0; 32]), 0x8a91_36aa);
        assert_eq!(checksum(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn a_record_has_its_length_its_data_and_two_checksums() {
        let record = events_of(1.5, 300, &[("loss", 0.25)]);
        let length = u64::from_le_bytes(record[..8].try_into().unwrap()) as usize;
        assert_eq!(record.len(), 8 + 4 + length + 4);
        assert_eq!(record[8..12], masked(&record[..8]).to_le_bytes());
        let data = &record[12..12 + length];
        assert_eq!(record[12 + length..], masked(data).to_le_bytes());
        let mut expected = vec![0x09];
        expected.extend(1.5_f64.to_le_bytes());
        expected.extend([0x10, 0xac, 0x02, 0x2a, 0x0d, 0x0a, 0x0b, 0x0a, 0x04]);
        expected.extend(b"loss");
        expected.push(0x15);
        expected.extend(0.25_f32.to_le_bytes());
        assert_eq!(data, expected);
    }
}
