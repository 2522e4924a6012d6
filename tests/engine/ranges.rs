//! Files that are read by ranges of rows: every kind against the readers of whole tables, at random ranges and from several threads; files that are
//! cut short, damaged, or change their length.

use std::io::{Cursor, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use meromorph::Result;
use meromorph::files::ranges::Generated;
use meromorph::files::read_table;
use meromorph::files::tensors::{self, Array, Data, Tensors};
use meromorph::files::{Format, Header};
use meromorph::files::{RowSource, open_rows};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const ROWS: usize = 20_001;

/// A file in a folder of its own.
struct File {
    path: PathBuf,
    _folder: TempDir,
}

fn file(name: &str, bytes: &[u8]) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    File { path, _folder: folder }
}

/// The columns of the test data: numbers of both signs, some of them missing.
fn number(row: usize, column: usize) -> f64 {
    match (row * 7 + column) % 997 {
        0 => f64::NAN,
        _ => (row as f64 - 1000.0) / 8.0 * (column + 1) as f64,
    }
}

fn npy(descr: &str, is_fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// `ROWS` rows of so many columns, each number as `bytes` gives it.
fn table<const N: usize>(descr: &str, is_fortran: bool, width: usize, bytes: impl Fn(f64) -> [u8; N]) -> Vec<u8> {
    let across = |row: usize| (0..width).map(move |column| number(row, column));
    let down = |column: usize| (0..ROWS).map(move |row| number(row, column));
    let numbers: Vec<f64> =
        if is_fortran { (0..width).flat_map(down).collect() } else { (0..ROWS).flat_map(across).collect() };
    let shape = if width == 1 { format!("({ROWS},)") } else { format!("({ROWS}, {width})") };
    npy(descr, is_fortran, &shape, &numbers.into_iter().flat_map(bytes).collect::<Vec<u8>>())
}

fn archive(members: &[(&str, Vec<u8>, CompressionMethod)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes, method) in members {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(*method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn csv(end: &str) -> Vec<u8> {
    let cell = |x: f64| if x.is_nan() { "NA".to_owned() } else { format!("{x:?}") };
    let row =
        |row: usize| format!("{},\"{}\",{}{end}", cell(number(row, 0)), cell(number(row, 1)), cell(number(row, 2)));
    (format!("t,y,w{end}") + &(0..ROWS).map(row).collect::<String>()).into_bytes()
}

/// More numbers than a block has, in rows that are long.
fn wide_csv() -> Vec<u8> {
    let row =
        |row: usize| (0..2000).map(|column| format!("{}", row * 10 + column)).collect::<Vec<_>>().join(",") + "\n";
    (0..700).map(row).collect::<String>().into_bytes()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Files that the readers of whole tables read too.
fn common() -> Vec<(&'static str, Vec<u8>)> {
    use CompressionMethod::{Deflated, Stored};
    let column = || table("'<f8'", false, 1, f64::to_le_bytes);
    vec![
        ("f8.npy", table("'<f8'", false, 3, f64::to_le_bytes)),
        ("f8_big.npy", table("'>f8'", false, 1, f64::to_be_bytes)),
        ("f8_fortran.npy", table("'<f8'", true, 3, f64::to_le_bytes)),
        ("f4.npy", table("'<f4'", true, 2, |x| (x as f32).to_le_bytes())),
        ("f4_big.npy", table("'>f4'", false, 2, |x| (x as f32).to_be_bytes())),
        ("i1.npy", table("'|i1'", false, 2, |x| (x as i8).to_le_bytes())),
        ("i2.npy", table("'>i2'", false, 1, |x| (x as i16).to_be_bytes())),
        ("i4.npy", table("'<i4'", true, 2, |x| (x as i32).to_le_bytes())),
        ("i8.npy", table("'<i8'", false, 2, |x| (x as i64).to_le_bytes())),
        ("u1.npy", table("'|u1'", false, 1, |x| (x as u8).to_le_bytes())),
        ("u8_big.npy", table("'>u8'", false, 2, |x| (x as u64).to_be_bytes())),
        ("bool.npy", table("'|b1'", false, 2, |x| [u8::from(x > 0.0)])),
        (
            "wide.npy",
            npy(
                "'<f8'",
                false,
                "(3, 50000)",
                &(0..150_000).flat_map(|i| f64::from(i).to_le_bytes()).collect::<Vec<u8>>(),
            ),
        ),
        (
            "stored.npz",
            archive(&[
                ("t.npy", column(), Stored),
                ("m.npy", table("'<f4'", false, 2, |x| (x as f32).to_le_bytes()), Stored),
            ]),
        ),
        (
            "packed.npz",
            archive(&[("X.npy", table("'<f8'", false, 2, f64::to_le_bytes), Deflated), ("y.npy", column(), Stored)]),
        ),
        ("wide.csv", wide_csv()),
        ("plain.csv", csv("\n")),
        ("old.csv", csv("\r")),
        ("dos.tsv", String::from_utf8(csv("\r\n")).unwrap().replace(',', "\t").into_bytes()),
        ("plain.csv.gz", gz(&csv("\n"))),
        ("plain.csv.zst", [zst(&csv("\n")[..1000]), zst(&csv("\n")[1000..])].concat()),
    ]
}

fn read(source: &dyn RowSource, range: Range<usize>, places: &[usize]) -> Result<Vec<Vec<f64>>> {
    let mut columns = vec![vec![f64::INFINITY; range.len()]; places.len()];
    let mut into: Vec<&mut [f64]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
    source.read(range, places, &mut into)?;
    Ok(columns)
}

fn bits(columns: &[Vec<f64>]) -> Vec<Vec<u64>> {
    // Every NaN is a missing number.
    columns
        .iter()
        .map(|column| column.iter().map(|x| if x.is_nan() { 0 } else { (x + 0.0).to_bits() ^ 1 }).collect())
        .collect()
}

fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) % below as u64) as usize
}

/// Reads random ranges of random columns in four threads.
fn check(name: &str, source: &dyn RowSource, expected: &[Vec<f64>]) {
    assert_eq!((source.rows(), source.columns().len()), (expected[0].len(), expected.len()), "{name}");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let (mut state, rows) = (thread * 77 + 1, source.rows());
                for round in 0..12 {
                    let start = random(&mut state, rows + 1);
                    let most = if round % 3 == 0 { rows - start } else { (rows - start).min(300) };
                    let range = start..start + random(&mut state, most + 1);
                    let places: Vec<usize> =
                        (0..random(&mut state, 4)).map(|_| random(&mut state, expected.len())).collect();
                    let wanted: Vec<Vec<f64>> =
                        places.iter().map(|place| expected[*place][range.clone()].to_vec()).collect();
                    let got = read(source, range.clone(), &places).unwrap();
                    assert!(bits(&got) == bits(&wanted), "{name}: rows {range:?} of columns {places:?}");
                }
            });
        }
    });
    let all: Vec<usize> = (0..expected.len().min(200)).collect();
    assert!(bits(&read(source, 0..source.rows(), &all).unwrap()) == bits(&expected[..all.len()]), "{name}: all rows");
}

#[test]
fn ranges_are_those_of_the_whole_table() {
    for (name, bytes) in common() {
        let file = file(name, &bytes);
        let source = open_rows(&file.path, Header::Auto).unwrap();
        let table = read_table(&bytes, &file.path.display().to_string(), Header::Auto).unwrap();
        assert!(table.names().eq(source.columns()), "{name}");
        let expected: Vec<Vec<f64>> = table.names().map(|column| table.numbers(column).unwrap().to_vec()).collect();
        check(name, &*source, &expected);
        assert_eq!(source.fingerprint().unwrap(), open_rows(&file.path, Header::Auto).unwrap().fingerprint().unwrap());
    }
}

#[test]
fn a_column_of_more_numbers_than_are_read_at_once() {
    // 65,536 numbers of four bytes are read at once.
    let data: Vec<u8> = (0..70_000).flat_map(|row| (row as f32).to_le_bytes()).collect();
    let file = file("long.npy", &npy("'<f4'", false, "(70000,)", &data));
    let source = open_rows(&file.path, Header::Auto).unwrap();
    let all = read(&*source, 0..70_000, &[0]).unwrap().remove(0);
    for (row, wanted) in [(0, 0.0), (65_535, 65_535.0), (65_536, 65_536.0), (69_999, 69_999.0)] {
        assert_eq!(all[row], wanted, "row {row}");
    }
    let later = read(&*source, 3..70_000, &[0]).unwrap().remove(0);
    assert_eq!((later[0], later[65_536], later[69_996]), (3.0, 65_539.0, 69_999.0));
}

#[test]
fn tensors_are_columns_in_the_order_of_their_names() {
    let column = |at| (0..ROWS).map(|row| number(row, at)).collect::<Vec<f64>>();
    let file = file("a.safetensors", &safetensors());
    let source = open_rows(&file.path, Header::Auto).unwrap();
    assert_eq!(source.columns(), ["m_0", "m_1", "n", "t", "y"]);
    let single: Vec<f64> = column(1).iter().map(|x| f64::from(*x as f32)).collect();
    let whole: Vec<f64> = column(0).iter().map(|x| (*x as i64) as f64).collect();
    check("safetensors", &*source, &[column(0), column(1), whole, column(0), single]);
}

fn safetensors() -> Vec<u8> {
    let column = |at| (0..ROWS).map(move |row| number(row, at));
    let mut content = Tensors::default();
    content.metadata.push(("by".into(), "a test".into()));
    let mut put = |name: &str, shape: &[usize], data| {
        content.tensors.insert(name.into(), Array { shape: shape.to_vec(), data });
    };
    put("t", &[ROWS], Data::F64(column(0).collect()));
    put("y", &[ROWS], Data::F32(column(1).map(|x| x as f32).collect()));
    put("n", &[ROWS], Data::I64(column(0).map(|x| x as i64).collect()));
    put("m", &[ROWS, 2], Data::F64((0..ROWS).flat_map(|row| [number(row, 0), number(row, 1)]).collect()));
    tensors::write(&content).unwrap()
}

/// A file of h5py, see tests/data/ranges.py.
fn hdf5(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ranges").join(name)
}

fn within(file: &Path, path: &str) -> PathBuf {
    PathBuf::from(format!("{}:{path}", file.display()))
}

/// Columns of the files of h5py by their names.
fn h5_column(name: &str) -> Vec<f64> {
    let of = |row: f64| match name {
        "t" => row / 8.0,
        "-t" => -row / 8.0,
        "y" => f64::from((row * row - 0.5) as f32),
        "y64" => row * row - 0.5,
        "n" => -row,
        "b" => f64::from(row % 3.0 == 0.0),
        _ => row + 2_f64.powi(40),
    };
    (0..300).map(|row| of(f64::from(row))).collect()
}

#[test]
fn files_of_h5py() {
    let all = |names: &[&str]| names.iter().map(|name| h5_column(name)).collect::<Vec<_>>();
    let cases: [(PathBuf, &[&str], &[&str]); 9] = [
        (hdf5("grown.h5"), &["t"], &["t"]),
        (within(&hdf5("grown.h5"), "/"), &["t"], &["t"]),
        (within(&hdf5("plain.h5"), "/t"), &["t"], &["t"]),
        (within(&hdf5("plain.h5"), "/y,t"), &["y", "t"], &["y", "t"]),
        (within(&hdf5("plain.h5"), "/b,n,t,u,y"), &["b", "n", "t", "u", "y"], &["b", "n", "t", "u", "y"]),
        (within(&hdf5("packed.h5"), "/runs/first/t,y"), &["t", "y"], &["t", "y64"]),
        (within(&hdf5("packed.h5"), "/runs/table"), &["c0", "c1", "c2"], &["t", "y", "-t"]),
        (within(&hdf5("packed.h5"), "/runs/table/m/"), &["c0", "c1", "c2"], &["t", "y", "-t"]),
        (within(&hdf5("packed.h5"), "/runs/first/short"), &["short"], &[]),
    ];
    for (path, names, columns) in cases {
        let source = open_rows(&path, Header::Auto).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(source.columns(), names, "{}", path.display());
        let expected = if columns.is_empty() { vec![h5_column("t")[..10].to_vec()] } else { all(columns) };
        check(&path.display().to_string(), &*source, &expected);
    }
    let one = |path: &str| open_rows(&within(&hdf5("packed.h5"), path), Header::Auto).unwrap().fingerprint().unwrap();
    assert_ne!(one("/runs/first/t"), one("/runs/first/y"));
}

#[test]
fn wrong_paths_and_types_in_hdf5() {
    let error = |name: &str, path: &str| {
        let message = open_rows(&within(&hdf5(name), path), Header::Auto).err().expect(path).to_string();
        message.replace(&format!("{}", hdf5("").display()), "")
    };
    assert_eq!(
        error("packed.h5", "/runs/frist"),
        "packed.h5: \"/runs\" has no group or dataset \"frist\"; it has \"first\", \"table\"; did you mean \"first\"?"
    );
    assert_eq!(
        error("packed.h5", "/"),
        "packed.h5: \"/\" has no datasets of numbers in one or two dimensions; name one of \"runs\", as in packed.h5:/name"
    );
    assert_eq!(
        error("packed.h5", "/runs/first"),
        "packed.h5: dataset \"short\" has 10 rows, dataset \"t\" has 300; name those of one length, as in packed.h5:/runs/first/t,…"
    );
    assert!(error("plain.h5", "/name").contains("dataset \"name\" has shape [2] and type String"));
    assert!(error("plain.h5", "/temperature").contains("has shape [] and type"));
    assert!(error("packed.h5", "/nowhere/t").contains("cannot be read as HDF5"));
    let other = file("a.csv", b"x\n1\n");
    let message = open_rows(&within(&other.path, "/x"), Header::Auto).err().unwrap().to_string();
    assert!(message.ends_with("/x: only HDF5 files have paths within them, this is delimited text (CSV)"), "{message}");
}

#[test]
fn files_that_are_cut_short_are_errors() {
    let mut files = common();
    // A text may end anywhere.
    files.retain(|(name, _)| !["plain.csv", "old.csv", "dos.tsv", "wide.csv"].contains(name));
    files.push(("a.safetensors", safetensors()));
    for name in ["plain.h5", "packed.h5", "grown.h5"] {
        files.push((name, std::fs::read(hdf5(name)).unwrap()));
    }
    for (name, bytes) in files {
        let step = (bytes.len() / 40).max(1);
        let lengths = (1..bytes.len()).step_by(step).chain(bytes.len() - 3..bytes.len()).chain(21..60);
        for length in lengths.filter(|length| *length > 20) {
            let file = file(name, &bytes[..length]);
            let outcome = open_rows(&file.path, Header::Auto)
                .and_then(|source| read(&*source, 0..source.rows(), &(0..source.columns().len()).collect::<Vec<_>>()));
            let error = outcome.err().unwrap_or_else(|| panic!("{name}: {length} of {} bytes are read", bytes.len()));
            let error = error.to_string();
            assert!(
                error.starts_with(&file.path.display().to_string()) && !error.contains("damaged ("),
                "{length}: {error}"
            );
        }
    }
}

/// Single bytes of an HDF5 file are changed, and the file is read or refused.
#[test]
fn damaged_hdf5_is_read_or_refused() {
    for (name, path) in [("plain.h5", "/b,n,t,u,y"), ("packed.h5", "/runs/first/t,y"), ("grown.h5", "/")] {
        let bytes = std::fs::read(hdf5(name)).unwrap();
        for at in (8..bytes.len()).step_by(if name == "plain.h5" { 23 } else { 7 }) {
            for new in [0, 0xff, bytes[at] ^ 1] {
                let mut damaged = bytes.clone();
                damaged[at] = new;
                let file = file(name, &damaged);
                let read = open_rows(&within(&file.path, path), Header::Auto)
                    .and_then(|source| read(&*source, 0..source.rows().min(1000), &[0]));
                let message = read.err().map_or(String::new(), |error| error.to_string());
                assert!(!message.contains("damaged ("), "{name}: byte {at} is {new}: {message}");
            }
        }
    }
}

#[test]
fn a_file_that_changes_its_length_while_it_is_read_is_an_error() {
    for (name, bytes) in [
        ("a.npy", table("'<f8'", false, 2, f64::to_le_bytes)),
        ("a.safetensors", safetensors()),
        ("a.h5", std::fs::read(hdf5("grown.h5")).unwrap()),
    ] {
        for by in [-1_i64, 1] {
            let file = file(name, &bytes);
            let source = open_rows(&file.path, Header::Auto).unwrap();
            let (now, then) = (bytes.len() as i64 + by, bytes.len());
            std::fs::OpenOptions::new().write(true).open(&file.path).unwrap().set_len(now as u64).unwrap();
            let error = read(&*source, 0..10, &[0]).unwrap_err().to_string();
            let end = format!("its length changed while it was read: got {now} bytes, expected {then}");
            assert!(error.starts_with(&file.path.display().to_string()) && error.ends_with(&end), "{error}");
        }
    }
    // The numbers of a text are in a file of their own.
    let file = file("a.csv", &csv("\n"));
    let source = open_rows(&file.path, Header::Auto).unwrap();
    std::fs::write(&file.path, b"").unwrap();
    assert_eq!(read(&*source, 8..9, &[0]).unwrap(), [[number(8, 0)]]);
    assert!(source.fingerprint().is_err());
}

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

#[test]
fn generated_rows_of_any_number() -> Result<()> {
    let rows = 1 << 50;
    let source = Generated::new(rows, &["t", "y"], |row, into| into.copy_from_slice(&[row as f64, -(row as f64)]))?;
    assert_eq!(source.rows(), rows);
    assert_eq!(
        read(&source, rows - 2..rows, &[1, 0])?,
        [[-((rows - 2) as f64), -((rows - 1) as f64)], [(rows - 2) as f64, (rows - 1) as f64]]
    );
    let other = Generated::new(rows, &["t", "y"], |row, into| into.copy_from_slice(&[row as f64, row as f64]))?;
    assert_ne!(source.fingerprint()?, other.fingerprint()?);
    assert!(Generated::new(0, &["t"], |_, _| {}).is_err() && Generated::new(1, &["t", "t"], |_, _| {}).is_err());
    Ok(())
}
