//! Archives written by `numpy.savez`, the choice of columns, and truncated or inconsistent directories.

use super::*;
use crate::files::npy::tests::file;

/// `np.savez_compressed(f, X=np.array([[1.5, -2], [3, 4], [5, np.nan]], '<f4'), y=np.array([1, 0, 1], 'u1'))`, numpy 2.4.
const BY_NUMPY: &[u8] = b"PK\x03\x04-\x00\x00\x00\x08\x00\x00\x00!\x00\xedz\xe6\xf3\xff\xff\xff\xff\xff\xff\xff\xff\x05\x00\x14\x00X.npy\x01\x00\x10\x00\x98\x00\x00\x00\x00\x00\x00\x00Z\x00\x00\x00\x00\x00\x00\x00\x9b\xec\x17\xea\x1b\x10\xc9\xc8P\xc6P\xad\x9e\x92Z\x9c\\\xa4n\xa5\xa0n\x93f\xa2\xae\xa3\xa0\x9e\x96_TR\x94\x98\x17\x9f_\x94\x92\n\x12wK\xcc)N\x05\x8a\x17g$\x16\xa4\x02\xf9\x1a\xc6:\nF\x9a:\n\xb5\nd\x03.\x06\x86\x03\xf6\x0c@\x82\x81\xc1\xc1\x81\x81\xa1\x01\x88\x17\x00\xf1\x81z\x00PK\x03\x04-\x00\x00\x00\x08\x00\x00\x00!\x00\x84\xe0\xb6m\xff\xff\xff\xff\xff\xff\xff\xff\x05\x00\x14\x00y.npy\x01\x00\x10\x00\x83\x00\x00\x00\x00\x00\x00\x00G\x00\x00\x00\x00\x00\x00\x00\x9b\xec\x17\xea\x1b\x10\xc9\xc8P\xc6P\xad\x9e\x92Z\x9c\\\xa4n\xa5\xa0^Sj\xa8\xae\xa3\xa0\x9e\x96_TR\x94\x98\x17\x9f_\x94\x92\n\x12wK\xcc)N\x05\x8a\x17g$\x16\xa4\x02\xf9\x1a\xc6:\x9a:\n\xb5\n\x14\x00.F\x06F\x00PK\x01\x02-\x03-\x00\x00\x00\x08\x00\x00\x00!\x00\xedz\xe6\xf3Z\x00\x00\x00\x98\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00X.npyPK\x01\x02-\x03-\x00\x00\x00\x08\x00\x00\x00!\x00\x84\xe0\xb6mG\x00\x00\x00\x83\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x91\x00\x00\x00y.npyPK\x05\x06\x00\x00\x00\x00\x02\x00\x02\x00f\x00\x00\x00\x0f\x01\x00\x00\x00\x00";

/// An archive of these members, not compressed.
fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let size = (data.len() as u32).to_le_bytes();
        let sizes = [&crc(data).to_le_bytes()[..], &size, &size, &(name.len() as u16).to_le_bytes()].concat();
        let at = (out.len() as u32).to_le_bytes();
        directory
            .extend([&b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0"[..], &sizes, &[0; 12], &at, name.as_bytes()].concat());
        out.extend([&b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0"[..], &sizes, &[0; 2], name.as_bytes(), data].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let [length, at] = [directory.len(), out.len()].map(|n| (n as u32).to_le_bytes());
    out.extend(directory);
    out.extend([&b"PK\x05\x06\0\0\0\0"[..], &count, &count, &length, &at, &[0; 2]].concat());
    out
}

/// CRC-32, one bit at a time, independent of the reader's implementation.
fn crc(bytes: &[u8]) -> u32 {
    let bit = |word: u32, _| if word & 1 == 1 { word >> 1 ^ 0xEDB8_8320 } else { word >> 1 };
    !bytes.iter().fold(!0, |word, &byte| (0..8).fold(word ^ u32::from(byte), bit))
}

fn array(shape: &str, data: &[u8]) -> Vec<u8> {
    file("'|u1'", "False", shape, data)
}

fn open(bytes: &[u8]) -> Result<Table> {
    read(bytes, "a.npz", &Format::default())
}

fn names(bytes: &[u8]) -> String {
    open(bytes).unwrap().names().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_archive_by_numpy() {
    let table = open(BY_NUMPY).unwrap();
    assert_eq!(names(BY_NUMPY), "x0 x1 y");
    assert_eq!(table.numbers("x0").unwrap(), [1.5, 3.0, 5.0]);
    assert_eq!(table.numbers("x1").unwrap()[..2], [-2.0, 4.0]);
    assert_eq!(table.columns()[1].cells.missing(), 1);
    assert_eq!(table.numbers("y").unwrap(), [1.0, 0.0, 1.0]);
}

#[test]
fn which_arrays_become_which_columns() {
    let (one, two) = (|| array("(2,)", &[1, 2]), || array("(2, 2)", &[1, 2, 3, 4]));
    let cases = vec![
        ("x0 x1 y", vec![("X.npy", two()), ("y.npy", one())]),
        ("x0 x1 y", vec![("y.npy", one()), ("extra.npy", array("(3,)", &[1; 3])), ("X.npy", two())]),
        ("x0 target", vec![("data.npy", one()), ("target.npy", array("(2, 1)", &[1, 2]))]),
        ("x y_0 y_1", vec![("x.npy", one()), ("y.npy", two())]),
        ("x err y", vec![("x.npy", one()), ("y.npy", one()), ("err.npy", one()), ("note.npy", array("(3,)", &[1; 3]))]),
        ("x0 x1 y", vec![("x.npy", two()), ("y.npy", one())]),
        ("a b_0 b_1", vec![("a.npy", one()), ("b.npy", two())]),
        ("X_0 X_1", vec![("X.npy", two())]),
    ];
    for (expected, members) in cases {
        assert_eq!(names(&archive(&members)), expected);
    }
}

#[test]
fn messages() {
    let one = archive(&[("a.npy", array("(1,)", &[1]))]);
    let directory = one.len() - 22 - 46 - 5;
    let changed = |at: usize, value: &[u8]| {
        let mut bytes = one.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    let end = one.len() - 22;
    let mut packed = BY_NUMPY.to_vec();
    packed[55] = 0x07;
    let mut longer = BY_NUMPY.to_vec();
    longer[BY_NUMPY.len() - 22 - 102 + 24] += 1;
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"PK\x03\x04".to_vec(), "is not a complete ZIP archive: Could not find EOCD"),
        (archive(&[]), "has no columns"),
        (archive(&[("a.npy", vec![]), ("a.npy", vec![])]), "has two members of the same name"),
        (archive(&[("notes.txt", vec![])]), "member notes.txt is not an array (.npy)"),
        (archive(&[("a.npy", vec![1])]), "a.npy: is not an NPY file (it does not begin with \\x93NUMPY)"),
        (
            archive(&[("a.npy", array("(1,)", &[1])), ("b.npy", array("(2,)", &[1, 2]))]),
            "column \"b\" has 2 rows, column \"a\" has 1",
        ),
        (changed(end + 10, &[0xff, 0xff]), "is not a complete ZIP archive: Multi-disk ZIP files are not supported"),
        (changed(end + 16, &[0xff, 0xff, 0xff, 0x7f]), "is not a complete ZIP archive: Invalid CDFH offset in EOCD"),
        (changed(end + 10, &[2, 0]), "is not a complete ZIP archive: Multi-disk ZIP files are not supported"),
        (changed(directory + 8, &[1]), "member a.npy is encrypted"),
        (
            changed(directory + 10, &[12]),
            "member a.npy is packed by method Bzip2; stored and deflated members are read",
        ),
        (changed(directory + 42, &[9]), "is not a complete ZIP archive: Invalid local file header"),
        (changed(directory + 20, &[0, 0, 0, 0x40]), "has members that overlap"),
        (
            changed(directory + 24, &[0, 0, 0, 0x40]),
            "member a.npy declares 1073741824 bytes; its 129 packed bytes cannot hold them",
        ),
        (changed(directory - 1, &[9]), "member a.npy does not unpack: Invalid checksum"),
        (packed, "member X.npy does not unpack: corrupt deflate stream"),
        (longer, "X.npy: shape [3, 2] needs 24 bytes of numbers, file has 25"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(open(&bytes).unwrap_err().to_string(), format!("a.npz: {expected}"));
    }
}

#[test]
fn every_prefix_is_an_error() {
    let stored = archive(&[("a.npy", array("(3,)", &[1, 2, 3])), ("b.npy", array("(3,)", &[4, 5, 6]))]);
    for whole in [BY_NUMPY, &stored] {
        assert!(open(whole).is_ok());
        for length in 0..whole.len() {
            assert!(open(&whole[..length]).is_err(), "{length} of {} bytes", whole.len());
        }
    }
}

#[test]
fn every_changed_byte_gives_a_table_or_an_error() {
    for at in 0..BY_NUMPY.len() {
        for value in [0, 1, 8, 0x7f, 0xff] {
            let mut bytes = BY_NUMPY.to_vec();
            bytes[at] = value;
            if let Ok(table) = open(&bytes) {
                assert!(table.rows() <= 3);
            }
        }
    }
}
