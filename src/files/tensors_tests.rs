//! Round trips, the exact bytes of a small file, and truncated or foreign files.

use super::*;

fn sample() -> Tensors {
    let mut content = Tensors::default();
    content.metadata.push((CHECKSUM.into(), NO_CHECKSUM.into()));
    content.metadata.push(("spec".into(), "{\"a\":\"é\n\"}".into()));
    content.metadata.push(("engine".into(), "0.1.0".into()));
    content.put_f32("w", &[2, 2], vec![1.0, -0.0, f32::MIN_POSITIVE, f32::MAX]);
    content.put_f32("empty", &[0, 3], vec![]);
    let mut put = |name: &str, shape: &[usize], data| {
        content.tensors.insert(name.into(), Array { shape: shape.to_vec(), data });
    };
    put("bytes", &[3], Data::U8(vec![0, 1, 255]));
    put("step", &[], Data::I64(vec![i64::MIN]));
    put("key", &[2], Data::U32(vec![7, u32::MAX]));
    put("loss \"best\"", &[1], Data::F64(vec![std::f64::consts::PI]));
    content
}

#[test]
fn every_flipped_bit_is_detected() {
    let whole = write(&sample()).unwrap();
    for bit in 0..8 * whole.len() {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // Without a text of this name, the reader of a model refuses the file.
        let is_detected = read(&bytes, "m").ok().is_none_or(|content| content.text(CHECKSUM).is_none());
        assert!(is_detected, "bit {bit}");
    }
    // The same bit of two numbers: a sum would not see them.
    for bit in [7, 6, 0] {
        let mut bytes = whole.clone();
        let end = bytes.len();
        for back in [8, 16] {
            bytes[end - back] ^= 1 << bit;
        }
        assert!(read(&bytes, "m").is_err(), "bit {bit}");
    }
}

#[test]
fn the_error_of_a_damaged_file_has_both_checksums() {
    let mut bytes = write(&sample()).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let said = read(&bytes, "m").unwrap_err().to_string();
    let (what, sums) = said.split_at("m: is damaged: its checksum is ".len());
    let (found, expected) = sums.split_once(", expected ").unwrap();
    assert_eq!(what, "m: is damaged: its checksum is ");
    assert!(found.len() == 16 && expected.len() == 16 && found != expected, "{said}");
}

/// A file with this header text and data.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn written_tensors_are_read_back() {
    for content in [Tensors::default(), sample()] {
        let bytes = write(&content).unwrap();
        let mut found = read(&bytes, "m.safetensors").unwrap();
        assert_eq!(write(&found).unwrap(), bytes);
        if let Some((_, digits)) = found.metadata.first_mut() {
            assert_ne!(std::mem::replace(digits, NO_CHECKSUM.into()), NO_CHECKSUM);
        }
        assert_eq!(found, content);
    }
}

#[test]
fn the_bytes_are_fixed() {
    let mut content = Tensors::default();
    content.metadata.push((CHECKSUM.into(), NO_CHECKSUM.into()));
    content.metadata.push(("a".into(), "1".into()));
    content.metadata.push(("b".into(), "2".into()));
    content.put_f32("w", &[1], vec![1.0]);
    // The digits come from a separate program.
    let header = concat!(
        r#"{"__metadata__":{"checksum":"1a1404327332d746","a":"1","b":"2"},"#,
        r#""w":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}}   "#
    );
    assert_eq!(write(&content).unwrap(), file(header, &1.0_f32.to_le_bytes()));
}

#[test]
fn every_tensor_is_aligned_to_its_type() {
    let bytes = write(&sample()).unwrap();
    let (header, _) = split(&bytes).unwrap();
    let header: serde_json::Value = serde_json::from_slice(header).unwrap();
    assert_eq!((8 + bytes[..8][0] as usize) % 8, 0);
    for (name, array) in sample().tensors.all() {
        assert_eq!(header[name]["data_offsets"][0].as_u64().unwrap() as usize % array.data.width(), 0, "{name}");
    }
}

#[test]
fn messages() {
    let one = |dtype: &str, shape: &str, at: &str, data: &[u8]| {
        file(&format!("{{\"w\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":{at}}}}}"), data)
    };
    let mut long = vec![0; 210];
    long[7] = 0x40;
    long[8] = b'{';
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (vec![1, 2], "is cut short: 2 bytes hold no safetensors header"),
        (long, "header says 4611686018427387904 bytes, file has 210"),
        (file("hello", &[]), "is not a safetensors file, which models and checkpoints are"),
        (b"{\"error\":\"not found\"}".to_vec(), "is not a safetensors file, which models and checkpoints are"),
        (file("{hello", &[]), "is not a safetensors file: its header is not JSON (expected a string at byte 1)"),
        (
            file("{\"__metadata__\":{\"a\":1}}", &[]),
            "is not a safetensors file: its header has a __metadata__ that is not texts by name",
        ),
        (file("{\"w\":3}", &[]), "tensor \"w\" has no dtype"),
        (one("F32", "[-1]", "[0,4]", &[0; 4]), "tensor \"w\" has no readable shape"),
        (one("F32", "[1]", "[0]", &[0; 4]), "tensor \"w\" has no readable data_offsets"),
        (
            one("BF16", "[2]", "[0,4]", &[0; 4]),
            "tensor \"w\" has dtype BF16; F32, F64, U32, I64, U8, F16 and I8 are read",
        ),
        (one("F32", "[1]", "[0,4]", &[0; 3]), "tensor \"w\" lies at bytes 0 to 4, file has 3 (cut short?)"),
        (one("F32", "[1]", "[4,0]", &[0; 4]), "tensor \"w\" lies at bytes 4 to 0, file has 4 (cut short?)"),
        (one("F32", "[1]", "[0,3]", &[0; 3]), "tensor \"w\" of F32 has 3 bytes, which is not a multiple of its size"),
        (one("F32", "[2]", "[0,4]", &[0; 4]), "tensor \"w\" has shape [2] and 1 numbers"),
        (
            one("U8", "[4294967296,4294967296,4294967296]", "[0,0]", &[]),
            "tensor \"w\" has shape [4294967296, 4294967296, 4294967296] and 0 numbers",
        ),
        (
            file(
                concat!(
                    r#"{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"#,
                    r#""w":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}"#
                ),
                &[0; 2],
            ),
            "holds two tensors called \"w\"",
        ),
        (one("U8", "[1]", "[1,2]", &[0; 2]), "tensor \"w\" begins at byte 1, expected 0"),
        (one("U8", "[1]", "[0,1]", &[0; 9]), "holds 9 bytes of numbers, its tensors take 1"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(read(&bytes, "m").unwrap_err().to_string(), format!("m: {expected}"));
    }
}

#[test]
fn tensors_are_taken_by_name_type_and_shape() {
    let mut content = sample();
    assert_eq!(content.take_f32("w", &[2, 2]).unwrap().len(), 4);
    let cases = [
        (content.take_f32("empty", &[3, 0]), "tensor \"empty\" is F32 [0, 3], expected F32 [3, 0]"),
        (content.take_f32("step", &[]), "tensor \"step\" is I64 [], expected F32 []"),
        (
            content.take_f32("w", &[2, 2]),
            "tensor \"w\" is missing, expected F32 [2, 2]; the file has \"bytes\", \"key\", \"loss \"best\"\"",
        ),
    ];
    for (got, expected) in cases {
        assert_eq!(got.unwrap_err().to_string(), expected);
    }
}

#[test]
fn unreadable_content_is_not_written() {
    let mut content = Tensors::default();
    content.put_f32("w", &[2], vec![1.0]);
    assert_eq!(write(&content).unwrap_err().to_string(), "tensor \"w\" has shape [2] and 1 numbers");
    let mut content = Tensors::default();
    content.put_f32(METADATA, &[1], vec![1.0]);
    assert_eq!(write(&content).unwrap_err().to_string(), "a tensor cannot be named __metadata__");
}

#[test]
fn every_prefix_is_an_error() {
    let whole = write(&sample()).unwrap();
    for length in 0..whole.len() {
        assert!(read(&whole[..length], "m").is_err(), "{length} of {} bytes", whole.len());
    }
}

#[test]
fn every_changed_byte_gives_tensors_or_an_error() {
    let whole = write(&sample()).unwrap();
    for at in 0..whole.len() {
        for value in [0, b'0', b'9', b'"', b'{', 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            if let Ok(content) = read(&bytes, "m") {
                assert!(content.tensors.all().iter().all(|(_, array)| array.data.bytes() <= bytes.len()));
            }
        }
    }
}
