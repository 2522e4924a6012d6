//! Files that are read by ranges of rows: every kind against the readers of whole tables, at random ranges and from several threads; files that are
//! cut short, damaged, or change their length.

mod computed;
mod damaged;
mod h5py;
mod refused;
mod tables;

use std::io::{Cursor, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use meromorph::Result;
use meromorph::files::RowSource;
use meromorph::files::tensors::{self, Array, Data, Tensors};
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
                    let expected: Vec<Vec<f64>> =
                        places.iter().map(|place| expected[*place][range.clone()].to_vec()).collect();
                    let got = read(source, range.clone(), &places).unwrap();
                    assert!(bits(&got) == bits(&expected), "{name}: rows {range:?} of columns {places:?}");
                }
            });
        }
    });
    let all: Vec<usize> = (0..expected.len().min(200)).collect();
    assert!(bits(&read(source, 0..source.rows(), &all).unwrap()) == bits(&expected[..all.len()]), "{name}: all rows");
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
