//! Reliability: tables that memory cannot hold, under `ulimit -v`, end in a message before they are allocated.

use std::io::Write;
use std::process::Output;

use super::outputs::{said, shell};
use crate::folder::Folder;

const WIDTH: usize = 20;

/// An NPY of so many rows of 20 numbers, all different and in no order.
fn array(rows: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {WIDTH}), }}");
    let mut bytes = [b"\x93NUMPY\x01\x00\x76\x00", format!("{header:<117}\n").as_bytes()].concat();
    let number = |at: u64| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / 2_f64.powi(53);
    bytes.extend((0..(rows * WIDTH) as u64).flat_map(|at| number(at + 1).to_le_bytes()));
    bytes
}

/// A model of a table, with the usual number of inputs for each column.
fn trained(folder: &Folder, table: &str) {
    let output =
        folder.mero(&format!("train {table} --device cpu --threads 1 --hidden 8 --epochs 3 --out small.model"));
    assert!(output.status.success(), "{}", said(&output));
}

/// The command under a limit of so many KiB of addresses.
fn limited(folder: &Folder, kib: u32, line: &str) -> Output {
    shell(folder, &format!("ulimit -v {kib}; $mero {line} --device cpu --threads 2 --quiet"))
}

/// Why an end is not a refusal with the bytes that are needed, if so. A signal has no code.
fn wrong(kib: u32, line: &str, output: &Output) -> Option<String> {
    let message = said(output);
    let is_refusal = message.starts_with("mero: ") && message.contains("does not fit in memory: ");
    // Addresses that are left may be in pieces that are too small, which only an allocation finds.
    let reasons = ["iB, expected at most ", "iB, which cannot be allocated"];
    let is_clear = reasons.iter().any(|reason| message.contains(reason)) && message.lines().count() == 1;
    (output.status.code() != Some(1) || !is_refusal || !is_clear)
        .then(|| format!("{kib} KiB: {line}: {:?}: {message}", output.status))
}

#[test]
fn an_array_that_memory_cannot_hold_is_refused_by_every_command() {
    let folder = Folder::new();
    folder.write("large.npy", array(400_000));
    folder.write("small.npy", array(2000));
    trained(&folder, "small.npy --target c0");
    let mut failures = Vec::new();
    for kib in [100_000, 200_000, 300_000, 400_000] {
        for line in [
            "train large.npy --target c0 --epochs 1 --out m",
            "predict small.model large.npy -o p.csv",
            "eval small.model large.npy",
        ] {
            failures.extend(wrong(kib, line, &limited(&folder, kib, line)));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert!(!folder.path("m").exists() && !folder.path("p.csv").exists());
    // What fits is not refused: 2,000 rows in the memory that 400,000 lack.
    let output = limited(&folder, 300_000, "predict small.model small.npy -o p.csv");
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn packed_texts_that_memory_cannot_hold_are_refused() {
    let folder = Folder::new();
    let words = |rows: u64| {
        let word = |at: u64| format!("{:016x}", at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(b"a,b,y\n").expect("names");
        for row in 1..=rows {
            writeln!(gz, "w{},v{},{}", word(row), word(row + rows), row % 97).expect("a row");
        }
        gz.finish().expect("an archive")
    };
    folder.write("large.csv.gz", words(300_000));
    folder.write("small.csv.gz", words(300));
    trained(&folder, "small.csv.gz --target y --features a,b");
    let mut failures = Vec::new();
    for kib in [300_000, 400_000] {
        for line in [
            "train large.csv.gz --target y --features a,b --epochs 1 --out m",
            "predict small.model large.csv.gz -o p.csv",
            "eval small.model large.csv.gz",
        ] {
            failures.extend(wrong(kib, line, &limited(&folder, kib, line)));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    // Where even small allocations fail, there is a message and no signal.
    for kib in (40_000..220_000).step_by(30_000) {
        let output = limited(&folder, kib, "eval small.model large.csv.gz");
        let (code, message) = (output.status.code(), said(&output));
        assert!(code == Some(1) && message.contains("does not fit in memory"), "{kib} KiB: {code:?} {message}");
    }
}
