//! Files that are cut short, damaged, or change their length.

use super::{common, csv, file, hdf5, number, read, safetensors, table, within};
use meromorph::files::{Header, open_rows};

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
