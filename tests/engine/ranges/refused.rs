//! What is not read: the messages, and a wrong cell.

use super::{archive, file, gz, npy, read};
use meromorph::files::{Format, Header, open_rows};
use zip::CompressionMethod;

#[test]
fn messages() {
    let numbers = [0_u8; 16];
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        (
            "a.npy",
            npy("'<c16'", false, "(1,)", &numbers),
            "holds numbers of type \"<c16\"; f4, f8, i1 to i8, u1 to u8 and bool are read",
        ),
        (
            "a.npy",
            npy("'|O'", false, "(2,)", &numbers),
            "holds Python objects; f4, f8, i1 to i8, u1 to u8 and bool are read",
        ),
        (
            "a.npy",
            npy("[('x', '<f8')]", false, "(2,)", &numbers),
            "holds records, not plain numbers (\"[('x', '<f8')], 'fortran_order': False, 'shape': (2,), }\"); f4, f8, i1 to i8, u1 to u8 and bool are read",
        ),
        ("a.npy", npy("'<f8'", false, "(1, 1, 2)", &numbers), "shape [1, 1, 2] is not a column [n] or a table [n, k]"),
        ("a.npy", npy("'<f8'", false, "(3,)", &numbers), "shape [3] needs 24 bytes of numbers, file has 16"),
        ("a.npy", npy("'<f8'", false, "(0, 1000000000)", b""), "has no rows"),
        (
            "a.npy",
            npy("'|u1'", false, "(1, 2000000)", &vec![0; 2_000_000]),
            "has 2000000 columns, expected at most 1048576; is it transposed?",
        ),
        (
            "a.csv",
            b"x,y\n1,2\n3\n".to_vec(),
            "row 2 (line 3): got 1 cells, expected 2; is it a line of text below the table? bad_rows skip leaves such rows out",
        ),
        ("a.csv", b"x,y\n".to_vec(), "has no rows"),
        ("a.csv", b"".to_vec(), "is empty"),
        (
            "a.csv",
            b"x\n\0\n".to_vec(),
            "has a byte that is 0, as no text has; a text with few of them is read without, but not by ranges of rows",
        ),
        (
            "a.gz",
            gz(&npy("'<f8'", false, "(2,)", &numbers)),
            "is an array of numpy (NPY) in a compressed file; unpack it first",
        ),
        ("a.gz", gz(&gz(b"x\n1\n")), "is compressed twice; unpack it once"),
        (
            "a.json",
            b"{\"x\": 1}\n".to_vec(),
            "is JSON, which is not read by ranges of rows; save it as NPY, NPZ, safetensors, HDF5 or CSV",
        ),
        (
            "a.parquet",
            b"PAR1".to_vec(),
            "is a Parquet file, which is not read by ranges of rows; save it as NPY, NPZ, safetensors, HDF5 or CSV",
        ),
        ("a.pickle", b"\x80\x04.".to_vec(), "is a Python pickle, which could run code when read; save it as NPZ"),
    ];
    for (name, bytes, expected) in cases {
        let file = file(name, &bytes);
        let error = open_rows(&file.path, Format::default()).err().expect(expected).to_string();
        assert_eq!(error, format!("{}: {expected}", file.path.display()));
    }
    let short = archive(&[
        ("a.npy", npy("'<f8'", false, "(2,)", &numbers), CompressionMethod::Stored),
        ("b.npy", npy("'<f8'", false, "(1,)", &numbers[..8]), CompressionMethod::Stored),
    ]);
    let short = file("a.npz", &short);
    let error = open_rows(&short.path, Header::Auto).err().unwrap().to_string();
    assert!(error.ends_with("column \"b\" has 1 rows, column \"a\" has 2"), "{error}");
    let array = file("a.npy", &npy("'<f8'", false, "(2,)", &numbers));
    let error = open_rows(&array.path, Header::Yes).err().unwrap().to_string();
    assert!(error.contains("header does not apply to an array of numpy (NPY)"), "{error}");
}

#[test]
fn a_wrong_cell_is_an_error_of_its_column_only() {
    let file = file("a.csv", b"t,name,y\n1,first,2\n2,second,3\n3,third,bad\n");
    let source = open_rows(&file.path, Header::Auto).unwrap();
    let place = file.path.display();
    assert_eq!(read(&*source, 1..3, &[0]).unwrap(), [[2.0, 3.0]]);
    let error = |column| read(&*source, 0..1, &[0, column]).unwrap_err().to_string();
    assert_eq!(error(1), format!("{place}: row 1, column \"name\": \"first\" is not a number"));
    assert_eq!(error(2), format!("{place}: row 3, column \"y\": \"bad\" is not a number"));
}
