//! Splits rows into training, validation and test, by a permutation from the caller.

use crate::error::{Error, Result};
use crate::host::number;
use crate::record;

/// The rows of each part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Training rows; statistics use only these.
    pub train: Vec<u32>,
    /// Validation rows, for early stopping.
    pub validation: Vec<u32>,
    /// Test rows, for the final report.
    pub test: Vec<u32>,
}

/// Fractions of the rows for validation and test. A part of exactly 0 is empty; any other has floor(part · n) rows, at least one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fractions {
    /// The validation part.
    pub validation: f64,
    /// The test part.
    pub test: f64,
}

record! { Fractions { validation, test } }

impl Default for Fractions {
    fn default() -> Self {
        Self { validation: 0.15, test: 0.15 }
    }
}

/// Splits rows 0 to n - 1 in the order of `permutation`: training first, then validation, then test.
///
/// Errors on parts outside 0 to 1 and if there are too few rows for each part. A permutation of another length is a bug.
#[track_caller]
pub fn split(n: usize, fractions: Fractions, permutation: &[u32]) -> Result<Split> {
    assert_eq!(permutation.len(), n, "split: got a permutation of {} rows, expected {n}", permutation.len());
    let [validation, test] = [("validation", fractions.validation), ("test", fractions.test)].map(|(name, part)| {
        if !(0.0..1.0).contains(&part) {
            return Err(Error::new(format!("{name} part is {}, expected at least 0 and less than 1", number(part))));
        }
        let count = (part * n as f64).floor() as usize;
        Ok(if part > 0.0 { count.max(1) } else { 0 })
    });
    let (validation, test) = (validation?, test?);
    let Some(train) = n.checked_sub(validation + test).filter(|&train| train > 0) else {
        let s = if n == 1 { "" } else { "s" };
        let what =
            format!("{n} row{s}, of which {validation} for validation and {test} for test, leave none to train on");
        return Err(Error::new(what));
    };
    let (train, held) = permutation.split_at(train);
    let (validation, test) = held.split_at(validation);
    Ok(Split { train: train.to_vec(), validation: validation.to_vec(), test: test.to_vec() })
}

impl Split {
    /// The same parts with row i replaced by `rows[i]`: converts indices of usable rows to rows of the table.
    #[must_use]
    pub fn of(mut self, rows: &[u32]) -> Self {
        for part in [&mut self.train, &mut self.validation, &mut self.test] {
            for row in part {
                *row = rows[*row as usize];
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backwards(n: u32) -> Vec<u32> {
        (0..n).rev().collect()
    }

    #[test]
    fn sizes() {
        // n, then train, validation, test
        let cases = [
            (3, 1, 1, 1),
            (7, 5, 1, 1),
            (13, 11, 1, 1),
            (14, 10, 2, 2),
            (1000, 700, 150, 150),
            (10_000, 7000, 1500, 1500),
        ];
        for (n, train, validation, test) in cases {
            let got = split(n, Fractions::default(), &backwards(n as u32)).unwrap();
            assert_eq!((got.train.len(), got.validation.len(), got.test.len()), (train, validation, test), "{n}");
            let mut all = [got.train, got.validation, got.test].concat();
            assert_eq!(all, backwards(n as u32));
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), n);
        }
    }

    #[test]
    fn a_part_may_be_empty_and_rows_may_be_mapped() {
        let got = split(4, Fractions { validation: 0.25, test: 0.0 }, &[2, 0, 3, 1]).unwrap();
        assert_eq!(got, Split { train: vec![2, 0, 3], validation: vec![1], test: vec![] });
        assert_eq!(got.of(&[10, 20, 30, 40]), Split { train: vec![30, 10, 40], validation: vec![20], test: vec![] });
    }

    #[test]
    fn messages() {
        let parts = |validation, test| Fractions { validation, test };
        let cases = [
            (2, Fractions::default(), "2 rows, of which 1 for validation and 1 for test, leave none to train on"),
            (0, Fractions::default(), "0 rows, of which 1 for validation and 1 for test, leave none to train on"),
            (10, parts(0.5, 0.5), "10 rows, of which 5 for validation and 5 for test, leave none to train on"),
            (10, parts(1.0, 0.5), "validation part is 1, expected at least 0 and less than 1"),
            (10, parts(0.1, -0.5), "test part is -0.5, expected at least 0 and less than 1"),
            (10, parts(0.1, f64::NAN), "test part is NaN, expected at least 0 and less than 1"),
        ];
        for (n, fractions, wanted) in cases {
            assert_eq!(split(n, fractions, &backwards(n as u32)).unwrap_err().to_string(), wanted);
        }
    }
}
