//! Rows that are computed, of any number.

use super::read;
use meromorph::Result;
use meromorph::files::RowSource;
use meromorph::files::ranges::Generated;

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
