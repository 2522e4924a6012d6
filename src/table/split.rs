//! Splits rows into training, validation and test, by a permutation from the caller.

use super::choose::ColumnRoles;
use super::target::Task;
use super::time::{by_time, in_time};
use crate::error::{Error, Result};
use crate::files::{Cells, Table};
use crate::host::number;
use crate::math::order::ascending;
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

/// Which rows stay together or are spread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Grouping<'a> {
    /// Every row on its own.
    None,
    /// Each part has its share of the rows of every stratum; one number per row.
    Strata(&'a [u64]),
    /// All rows of a group are in the same part; one number per row.
    Groups(&'a [u64]),
}

/// Splits the usable rows of a table: by time or by groups if chosen, stratified by the classes of the target, or at random. `permutation`
/// of the usable rows decides all that is left to chance.
pub fn split_table(table: &Table, chosen: &ColumnRoles, fractions: Fractions, permutation: &[u32]) -> Result<Split> {
    let rows = &chosen.rows;
    let codes = |column: usize| codes(table.columns()[column].as_category(), rows);
    let parts = match (chosen.time, chosen.group) {
        (Some(time), _) => {
            let time = by_time(table, time, rows, chosen.date_order)?;
            in_time(&time.places, fractions).map(|split| split.of(&time.order))
        }
        (_, Some(group)) => split(rows.len(), fractions, permutation, Grouping::Groups(&codes(group))),
        _ if chosen.task == Task::Classification => {
            split(rows.len(), fractions, permutation, Grouping::Strata(&codes(chosen.target)))
        }
        _ => split(rows.len(), fractions, permutation, Grouping::None),
    };
    Ok(parts.map_err(|error| error.within(table.source()))?.of(rows))
}

/// For each row a number that is equal for equal cells; a missing cell is unlike every other.
pub(crate) fn codes(cells: &Cells, rows: &[u32]) -> Vec<u64> {
    let code = |&row: &u32| {
        if cells.is_missing(row as usize) { u64::MAX - u64::from(row) } else { cells.key(row as usize) }
    };
    rows.iter().map(code).collect()
}

/// Splits rows 0 to n - 1 in the order of `permutation`: training first, then validation, then test.
///
/// Errors on parts outside 0 to 1 and if there are too few rows, or groups, for each part. A permutation of another length is a bug.
#[track_caller]
pub(crate) fn split(n: usize, fractions: Fractions, permutation: &[u32], grouping: Grouping<'_>) -> Result<Split> {
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
    match grouping {
        Grouping::None => {
            let (train, held) = permutation.split_at(train);
            let (validation, test) = held.split_at(validation);
            Ok(Split { train: train.to_vec(), validation: validation.to_vec(), test: test.to_vec() })
        }
        Grouping::Strata(strata) => {
            let split = stratified(strata, [validation, test], permutation);
            // Classes of single rows may leave nothing to hold out.
            let is_empty = |part: &[u32], expected: usize| part.is_empty() && expected > 0;
            if is_empty(&split.validation, validation) || is_empty(&split.test, test) {
                return self::split(n, fractions, permutation, Grouping::None);
            }
            Ok(split)
        }
        Grouping::Groups(groups) => grouped(groups, [validation, test], permutation),
    }
}

/// Each part takes rows at equal distances from the rows ordered by stratum. A stratum whose rows would all be held out gives one of them
/// to training, because a class without training rows cannot be learnt.
fn stratified(strata: &[u64], held: [usize; 2], permutation: &[u32]) -> Split {
    let [validation, test] = held;
    let (order, numbers) = by_group(strata, permutation);
    let (rest, test) = spread(&order, test);
    let (train, validation) = spread(&rest, validation);
    let mut part_of = vec![0; permutation.len()];
    for (part, rows) in [(1, &validation), (2, &test)] {
        for &row in rows {
            part_of[row as usize] = part;
        }
    }
    let mut is_trained = vec![false; strata.len()];
    for &row in &train {
        is_trained[numbers[row as usize]] = true;
    }
    for row in order {
        let is_trained = &mut is_trained[numbers[row as usize]];
        if !*is_trained {
            part_of[row as usize] = 0;
            *is_trained = true;
        }
    }
    // In the order of the permutation, so that no part is sorted by stratum.
    let part = |expected: u8| permutation.iter().copied().filter(|&row| part_of[row as usize] == expected).collect();
    Split { train: part(0), validation: part(1), test: part(2) }
}

/// The rows of a permutation with those of each group together, groups in the order of their codes; and each row's group, counted from 0.
pub(crate) fn by_group(codes: &[u64], permutation: &[u32]) -> (Vec<u32>, Vec<usize>) {
    let keys: Vec<u64> = permutation.iter().map(|&row| codes[row as usize]).collect();
    let order: Vec<u32> = ascending(&keys).into_iter().map(|at| permutation[at as usize]).collect();
    let mut numbers = vec![0; codes.len()];
    let mut number = 0;
    for pair in order.windows(2) {
        let [before, row] = [pair[0], pair[1]].map(|row| row as usize);
        number += usize::from(codes[before] != codes[row]);
        numbers[row] = number;
    }
    (order, numbers)
}

/// The other rows, and `count` rows at equal distances.
fn spread(rows: &[u32], count: usize) -> (Vec<u32>, Vec<u32>) {
    let (mut rest, mut taken) = (Vec::new(), Vec::new());
    let [taken_of, all] = [count, rows.len()].map(|count| count as u64);
    for (at, &row) in rows.iter().enumerate() {
        let is_taken = (at as u64 + 1) * taken_of / all > at as u64 * taken_of / all;
        if is_taken { taken.push(row) } else { rest.push(row) }
    }
    (rest, taken)
}

/// Groups in the order of their first rows fill the test part, then validation; the others are for training.
fn grouped(groups: &[u64], [validation, test]: [usize; 2], permutation: &[u32]) -> Result<Split> {
    let (_, numbers) = by_group(groups, permutation);
    let mut sizes = vec![0; groups.len()];
    for &number in &numbers {
        sizes[number] += 1;
    }
    let mut part_of = vec![None; groups.len()];
    let (mut split, mut counts) = (Split::default(), [0; 2]);
    for &row in permutation {
        let number = numbers[row as usize];
        let part = *part_of[number].get_or_insert_with(|| {
            let part = if counts[0] < test {
                0
            } else if counts[1] < validation {
                1
            } else {
                2
            };
            if part < 2 {
                counts[part] += sizes[number];
            }
            part
        });
        [&mut split.test, &mut split.validation, &mut split.train][part].push(row);
    }
    if split.train.is_empty() {
        return Err(Error::new("the groups are too few: none is left to train on"));
    }
    Ok(split)
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
            let got = split(n, Fractions::default(), &backwards(n as u32), Grouping::None).unwrap();
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
        let got = split(4, Fractions { validation: 0.25, test: 0.0 }, &[2, 0, 3, 1], Grouping::None).unwrap();
        assert_eq!(got, Split { train: vec![2, 0, 3], validation: vec![1], test: vec![] });
        assert_eq!(got.of(&[10, 20, 30, 40]), Split { train: vec![30, 10, 40], validation: vec![20], test: vec![] });
    }

    #[test]
    fn every_class_has_its_share_in_every_part() {
        // 90 rows of class 0, 9 of class 1, one of class 2.
        let class = |row: u32| if row == 99 { 2 } else { u64::from(row % 11 == 10) };
        let strata: Vec<u64> = (0..100).map(class).collect();
        let count = |part: &[u32], expected: u64| part.iter().filter(|&&row| class(row) == expected).count();
        for shift in 0..20 {
            let order: Vec<u32> = (0..100).map(|i| (i * 37 + shift) % 100).collect();
            let got = split(100, Fractions { validation: 0.2, test: 0.2 }, &order, Grouping::Strata(&strata)).unwrap();
            for (part, size) in [(&got.train, 60), (&got.validation, 20), (&got.test, 20)] {
                assert!(part.len().abs_diff(size) <= 1, "{shift}: {} of {size}", part.len());
                assert!(count(part, 1).abs_diff(9 * size / 100) <= 1, "{shift}: {part:?}");
                assert!(part.windows(2).any(|pair| pair[0] > pair[1]), "not sorted");
            }
            assert_eq!(count(&got.train, 2), 1, "a single row is for training");
            let mut all = [got.train, got.validation, got.test].concat();
            all.sort_unstable();
            assert_eq!(all, (0..100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn groups_stay_together_and_time_is_in_order() {
        use crate::files::csv::{Header, read};
        use crate::table::choose::{Choice, choose};
        let text: String = (0..60).map(|i| format!("{i},u{},{},{}.5\n", i % 6, (i * 7) % 60, i)).collect();
        let table = read(format!("x,user,day,y\n{text}").as_bytes(), "a.csv", Header::Yes).unwrap();
        let split = |choice: Choice| {
            let chosen = choose(&table, &Choice { target: "y".into(), ..choice }).unwrap();
            (chosen.features.len(), split_table(&table, &chosen, Fractions::default(), &backwards(60)).unwrap())
        };
        let (features, by_user) = split(Choice { group: Some("user".into()), ..Choice::default() });
        assert_eq!(features, 2, "the group is no feature unless it is named");
        assert_eq!([by_user.train.len(), by_user.validation.len(), by_user.test.len()], [40, 10, 10]);
        for part in [&by_user.train, &by_user.validation, &by_user.test] {
            let mut users: Vec<u32> = part.iter().map(|row| row % 6).collect();
            users.sort_unstable();
            users.dedup();
            assert_eq!(users.len(), part.len() / 10);
        }
        let (_, by_day) = split(Choice { time: Some("day".into()), ..Choice::default() });
        let days = |part: &[u32]| part.iter().map(|row| row * 7 % 60).collect::<Vec<_>>();
        assert_eq!(days(&by_day.train), (0..42).collect::<Vec<_>>());
        assert_eq!(days(&by_day.test), (51..60).collect::<Vec<_>>());
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
        for (n, fractions, expected) in cases {
            assert_eq!(split(n, fractions, &backwards(n as u32), Grouping::None).unwrap_err().to_string(), expected);
        }
    }
}
