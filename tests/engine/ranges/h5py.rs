//! Files of h5py: datasets by their paths, and wrong paths and types.

use std::path::PathBuf;

use super::{check, file, hdf5, within};
use meromorph::files::{Header, open_rows};

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
