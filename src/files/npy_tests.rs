//! Arrays written by numpy, every type and order, and truncated or inconsistent files.

use super::*;

/// An array file with this header text and these numbers, padded as numpy pads.
pub(crate) fn file(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    header.extend(std::iter::repeat_n(' ', 63 - (10 + header.len()) % 64));
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    [MAGIC, &[1, 0], &length, header.as_bytes(), data].concat()
}

fn numbers(bytes: &[u8]) -> Vec<Vec<f64>> {
    let table = read(bytes, "a.npy").unwrap();
    let names: Vec<String> = table.names().map(String::from).collect();
    names.iter().map(|name| table.numbers(name).unwrap().to_vec()).collect()
}

/// `np.save(f, np.asfortranarray(np.array([[1, 2], [3, 4], [-5, 6]], dtype='>i2')))`, numpy 2.4.
#[test]
fn a_file_by_numpy() {
    let mut bytes = b"\x93NUMPY\x01\x00v\x00{'descr': '>i2', 'fortran_order': True, 'shape': (3, 2), }".to_vec();
    bytes.extend([b' '; 59]);
    bytes.extend(b"\n\x00\x01\x00\x03\xff\xfb\x00\x02\x00\x04\x00\x06");
    assert_eq!(bytes.len(), 140);
    assert_eq!(numbers(&bytes), [[1.0, 3.0, -5.0], [2.0, 4.0, 6.0]]);
}

#[test]
fn every_type_in_both_byte_orders() {
    macro_rules! stored {
        ($type:ty, $name:literal, $values:expr) => {{
            let values: [$type; 3] = $values;
            let expected: Vec<f64> = values.iter().map(|&v| v as f64).collect();
            let little: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            let big: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
            for (order, data) in [('<', little), ('>', big)] {
                let bytes = file(&format!("'{order}{}'", $name), "False", "(3,)", &data);
                assert_eq!(numbers(&bytes)[0], expected, "{order}{}", $name);
            }
        }};
    }
    stored!(f32, "f4", [1.5, -0.1, f32::MAX]);
    stored!(f64, "f8", [1.5, f64::MIN_POSITIVE, -1e300]);
    stored!(i8, "i1", [1, -128, 127]);
    stored!(i16, "i2", [1, i16::MIN, i16::MAX]);
    stored!(i32, "i4", [1, i32::MIN, i32::MAX]);
    stored!(i64, "i8", [1, -(1 << 53), 1 << 53]);
    stored!(u8, "u1", [0, 1, 255]);
    stored!(u16, "u2", [0, 1, u16::MAX]);
    stored!(u32, "u4", [0, 1, u32::MAX]);
    stored!(u64, "u8", [0, 1, 1 << 53]);
    assert_eq!(numbers(&file("'|b1'", "False", "(3,)", &[1, 0, 1])), [[1.0, 0.0, 1.0]]);
    assert_eq!(numbers(&file("'|i1'", "False", "(1,)", &[0xff])), [[-1.0]]);
}

#[test]
fn both_orders_of_a_table() {
    let data: Vec<u8> = (1..=6).collect();
    assert_eq!(numbers(&file("'|u1'", "False", "(2, 3)", &data)), [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
    assert_eq!(numbers(&file("'|u1'", "True", "(2, 3)", &data)), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    assert_eq!(numbers(&file("'|u1'", "True", "(6,)", &data)).len(), 1);
}

#[test]
fn later_versions_have_a_header_length_of_four_bytes() {
    for version in [2, 3] {
        let one = file("'|u1'", "False", "(1,)", &[7]);
        let bytes = [MAGIC, &[version, 0], &one[8..10], &[0, 0], &one[10..]].concat();
        assert_eq!(numbers(&bytes), [[7.0]]);
    }
}

#[test]
fn nan_is_missing() {
    let data = [1.0_f32, f32::NAN].map(f32::to_le_bytes).concat();
    let table = read(&file("'<f4'", "False", "(2,)", &data), "a.npy").unwrap();
    assert_eq!(table.columns()[0].cells.missing(), 1);
}

#[test]
fn messages() {
    let long = [MAGIC, &[2, 0, 0xff, 0xff, 0xff, 0xff], b"{'descr'"].concat();
    let cases: &[(Vec<u8>, &str)] = &[
        (b"a,b\n1,2\n".to_vec(), "is not an NPY file (it does not begin with \\x93NUMPY)"),
        (MAGIC.to_vec(), "is cut short in its header (6 bytes)"),
        ([MAGIC, &[9, 1, 0, 0]].concat(), "is NPY version 9.1; versions 1 to 3 are read"),
        (long, "header says 4294967295 bytes, file has 20"),
        ([MAGIC, &[1, 0, 1, 0, 0xff]].concat(), "has a header that is not text"),
        ([MAGIC, &[1, 0, 2, 0], b"{}"].concat(), "header has no readable 'descr': \"{}\""),
        (
            file("'<f8'", "Maybe", "(1,)", &[]),
            "header has no readable 'fortran_order': \"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }\"",
        ),
        (
            file("'<f8'", "False", "(1, -2)", &[]),
            "header has no readable 'shape': \"{'descr': '<f8', 'fortran_order': False, 'shape': (1, -2), }\"",
        ),
        (file("'|O'", "False", "(1,)", &[0]), "holds Python objects; f4, f8, i1 to i8, u1 to u8 and bool are read"),
        (
            file("'<f2'", "False", "(1,)", &[0]),
            "holds numbers of type \"<f2\"; f4, f8, i1 to i8, u1 to u8 and bool are read",
        ),
        (
            file("[('a', '<f8')]", "False", "()", &[0]),
            "holds records, not plain numbers (\"[('a', '<f8')], 'fortran_order': False, 'shape': (), }\"); \
             f4, f8, i1 to i8, u1 to u8 and bool are read",
        ),
        (file("'<f8'", "False", "(2, 2)", &[0; 31]), "shape [2, 2] needs 32 bytes of numbers, file has 31"),
        (file("'<f8'", "False", "(2, 2)", &[0; 33]), "shape [2, 2] needs 32 bytes of numbers, file has 33"),
        (
            file("'<f8'", "False", "(4294967296, 4294967296)", &[]),
            "shape [4294967296, 4294967296] needs too many bytes of numbers, file has 0",
        ),
        (file("'|u1'", "False", "()", &[1]), "shape [] is not a column [n] or a table [n, k]"),
        (file("'|u1'", "False", "(1, 1, 1)", &[1]), "shape [1, 1, 1] is not a column [n] or a table [n, k]"),
        (file("'|u1'", "False", "(0, 99999999999)", &[]), "has no columns"),
        (file("'|u1'", "False", "(0,)", &[]), "has no columns"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(read(bytes, "a.npy").unwrap_err().to_string(), format!("a.npy: {expected}"));
    }
}

#[test]
fn every_prefix_is_an_error() {
    let whole = file("'<f8'", "False", "(2, 2)", &[1; 32]);
    assert!(read(&whole, "a.npy").is_ok());
    for length in 0..whole.len() {
        assert!(read(&whole[..length], "a.npy").is_err(), "{length} of {} bytes", whole.len());
    }
}

/// A change of any one byte gives a table or an error, never a panic and never more numbers than bytes.
#[test]
fn every_changed_byte_gives_a_table_or_an_error() {
    let whole = file("'<i2'", "False", "(4, 2)", &[1; 16]);
    for at in 0..whole.len() {
        for value in [0, 1, b'0', b'9', b'\'', b'(', 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            if let Ok(table) = read(&bytes, "a.npy") {
                assert!(table.rows() * table.columns().len() <= 16);
            }
        }
    }
}

#[test]
fn arrays_of_any_dimension_are_written_and_read() {
    let values: Vec<f64> = (0..24).map(|at| f64::from(at) - 0.5).collect();
    for is_single in [false, true] {
        let bytes = write(&[2, 3, 4], is_single, values.iter().copied());
        let array = Array::parse(&bytes, "a").unwrap();
        assert_eq!((array.layout.shape.clone(), array.is_single()), (vec![2, 3, 4], is_single));
        assert_eq!(array.values(|value| value), values);
    }
    let one = write(&[], false, [0.25].into_iter());
    assert_eq!(Array::parse(&one, "a").unwrap().values(|value| value), [0.25]);
    // [2, 3] with the first index fastest.
    let data: Vec<u8> = [1_u8, 4, 2, 5, 3, 6].to_vec();
    let bytes = file("'|u1'", "True", "(2, 3)", &data);
    assert_eq!(Array::parse(&bytes, "a").unwrap().values(|value| value), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}
