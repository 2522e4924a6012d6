//! Files are read by ranges in memory that does not grow with them, counted by the allocator. One test, because all tests of a file share it.

mod counting;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use meromorph::Result;
use meromorph::files::{Header, open_rows};

use counting::{Counting, HELD, PEAK};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ROWS: usize = 6_000_000;
const PART_ROWS: usize = 10_000;

/// The most bytes that are held at once while all rows are read in parts, beyond those before.
fn peak(path: &Path) -> Result<usize> {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let source = open_rows(path, Header::Auto)?;
    let (mut t, mut y, mut sum) = (vec![0.0; PART_ROWS], vec![0.0; PART_ROWS], 0.0);
    for start in (0..source.rows()).step_by(PART_ROWS) {
        source.read(start..start + PART_ROWS, &[0, 1], &mut [&mut t, &mut y])?;
        sum += t.iter().sum::<f64>();
    }
    assert_eq!((source.rows(), sum), (ROWS, (ROWS * (ROWS - 1) / 2) as f64));
    Ok(PEAK.load(Relaxed) - before)
}

#[test]
fn memory_does_not_grow_with_the_file() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let npy = folder.path().join("a.npy");
    let mut out = BufWriter::new(File::create(&npy).unwrap());
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({ROWS}, 2), }}\n");
    out.write_all(&[b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat()).unwrap();
    (0..ROWS).for_each(|row| out.write_all(bytemuck::bytes_of(&[row as f64, 1.5])).unwrap());
    out.flush().unwrap();
    let bytes = peak(&npy)?;
    assert!(bytes < 1 << 20, "{bytes} bytes for 96 MB of NPY");

    let csv = folder.path().join("a.csv");
    let mut out = BufWriter::new(File::create(&csv).unwrap());
    writeln!(out, "t,y").unwrap();
    (0..ROWS).for_each(|row| writeln!(out, "{row},1.5").unwrap());
    out.flush().unwrap();
    let bytes = peak(&csv)?;
    assert!(bytes < 64 << 20, "{bytes} bytes for 72 MB of CSV");
    Ok(())
}
