//! The splits of a k-fold cross-validation, by a permutation from the caller: every usable row is held out once. Classes have their share in
//! every fold; equal cells of the group column stay together; with a time column, k expanding windows each hold out the rows that follow.

use super::choose::ColumnRoles;
use super::split::{Fractions, Grouping, Split, by_group, codes, split};
use super::target::Task;
use super::time::{InTime, by_time, in_time};
use crate::error::{Error, Result};
use crate::files::Table;

/// One split per fold: `test` is the fold; of the other rows the share `validation` is for validation. Errors on fewer than 2 folds, and on
/// fewer rows or groups than folds.
pub fn fold_splits(
    table: &Table,
    chosen: &ColumnRoles,
    count: usize,
    validation: f64,
    permutation: &[u32],
) -> Result<Vec<Split>> {
    let rows = &chosen.rows;
    let fractions = Fractions { validation, test: 0.0 };
    let codes = |column: usize| codes(table.columns()[column].as_category(), rows);
    let within = |error: Error| error.within(table.source());
    if count < 2 {
        return Err(Error::usage(format!("folds: got {count}, expected at least 2")));
    }
    let splits = match (chosen.time, chosen.group) {
        (Some(time), _) => windows(&by_time(table, time, rows, chosen.date_order)?, count, fractions),
        (_, Some(group)) => {
            let groups = codes(group);
            let fold_of = grouped(&groups, count, permutation).map_err(within)?;
            folds(&fold_of, count, permutation, &|kept| (fractions, Grouping::Groups(kept)), &groups)
        }
        _ if chosen.task == Task::Classification => {
            let classes = codes(chosen.target);
            let fold_of = in_turn(&by_group(&classes, permutation).0, count).map_err(within)?;
            folds(&fold_of, count, permutation, &|kept| (fractions, Grouping::Strata(kept)), &classes)
        }
        _ => {
            let fold_of = in_turn(permutation, count).map_err(within)?;
            folds(&fold_of, count, permutation, &|_| (fractions, Grouping::None), &vec![0; rows.len()])
        }
    };
    Ok(splits.map_err(within)?.into_iter().map(|split| split.of(rows)).collect())
}

/// The fold of each row: rows in `order` are distributed in turn.
fn in_turn(order: &[u32], count: usize) -> Result<Vec<usize>> {
    if order.len() < count {
        return Err(Error::new(format!("{} rows are too few for {count} folds", order.len())));
    }
    let mut fold_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &row)| fold_of[row as usize] = at % count);
    Ok(fold_of)
}

/// The fold of each row: groups in the order of their first rows, each to the fold that has the fewest rows so far.
fn grouped(groups: &[u64], count: usize, permutation: &[u32]) -> Result<Vec<usize>> {
    let (_, numbers) = by_group(groups, permutation);
    let mut sizes = vec![0; numbers.iter().max().map_or(0, |last| last + 1)];
    if sizes.len() < count {
        return Err(Error::new(format!("{} groups are too few for {count} folds", sizes.len())));
    }
    for &number in &numbers {
        sizes[number] += 1;
    }
    let (mut fold_of_group, mut filled) = (vec![None; sizes.len()], vec![0; count]);
    for &row in permutation {
        let number = numbers[row as usize];
        if fold_of_group[number].is_none() {
            let fold = (0..count).min_by_key(|&fold| filled[fold]).unwrap_or(0);
            filled[fold] += sizes[number];
            fold_of_group[number] = Some(fold);
        }
    }
    Ok(numbers.iter().map(|&number| fold_of_group[number].unwrap_or(0)).collect())
}

/// How the kept rows of a fold are split, from their codes.
type Plan<'a> = &'a dyn for<'b> Fn(&'b [u64]) -> (Fractions, Grouping<'b>);

fn folds(fold_of: &[usize], count: usize, permutation: &[u32], plan: Plan<'_>, codes: &[u64]) -> Result<Vec<Split>> {
    let one = |fold: usize| {
        let is_held = |row: &u32| fold_of[*row as usize] == fold;
        let (held, kept): (Vec<u32>, Vec<u32>) = permutation.iter().partition(|row| is_held(row));
        let own: Vec<u64> = kept.iter().map(|&row| codes[row as usize]).collect();
        let (fractions, grouping) = plan(&own);
        // The kept rows are in the order of the permutation already.
        let order: Vec<u32> = (0..kept.len() as u32).collect();
        Ok(Split { test: held, ..split(kept.len(), fractions, &order, grouping)?.of(&kept) })
    };
    (0..count).map(one).collect()
}

/// Expanding windows: of k + 1 nearly equal blocks in the order of time, fold j trains on the first j + 1 and holds out the next. Rows of the
/// same time are in one block.
fn windows(time: &InTime, count: usize, fractions: Fractions) -> Result<Vec<Split>> {
    let (rows, block) = (time.order.len(), time.order.len() / (count + 1));
    if block == 0 {
        return Err(Error::new(format!("{rows} rows are too few for {count} folds in the order of time")));
    }
    let expected: Vec<usize> = (0..count).map(|fold| rows - (count - fold) * block).collect();
    let mut ends = time.places.nearest(&expected)?;
    ends.push(rows);
    let one = |pair: &[usize]| {
        let split = in_time(&time.places.first(pair[0]), fractions)?;
        Ok(Split { test: (pair[0] as u32..pair[1] as u32).collect(), ..split }.of(&time.order))
    };
    ends.windows(2).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::csv::{Header, read};
    use crate::table::choose::{Choice, choose};

    /// 60 rows: x = i, user = i mod 6, day = 7 i mod 60, class b for every fifth row, y = i + 0.5.
    fn splits(choice: Choice, count: usize) -> Result<Vec<Split>> {
        let class = |i: usize| if i.is_multiple_of(5) { "b" } else { "a" };
        let text: String = (0..60).map(|i| format!("{i},u{},{},{},{i}.5\n", i % 6, i * 7 % 60, class(i))).collect();
        let table = read(format!("x,user,day,class,y\n{text}").as_bytes(), "a.csv", Header::Yes).unwrap();
        let target = if choice.target.is_empty() { "y".into() } else { choice.target.clone() };
        let chosen = choose(&table, &Choice { target, ..choice }).unwrap();
        let order: Vec<u32> = (0..60).map(|i| i * 37 % 60).collect();
        fold_splits(&table, &chosen, count, 0.25, &order)
    }

    fn sorted(parts: &[&[u32]]) -> Vec<u32> {
        let mut all = parts.concat();
        all.sort_unstable();
        all
    }

    #[test]
    fn every_row_is_held_out_once_and_is_otherwise_for_training_or_validation() {
        let grouped = Choice { group: Some("user".into()), ..Choice::default() };
        let classes = Choice { target: "class".into(), ..Choice::default() };
        for choice in [Choice::default(), grouped, classes] {
            let all = splits(choice.clone(), 3).unwrap();
            let held: Vec<&[u32]> = all.iter().map(|split| split.test.as_slice()).collect();
            assert_eq!(sorted(&held), (0..60).collect::<Vec<_>>(), "{choice:?}");
            for Split { train, validation, test } in &all {
                assert_eq!(sorted(&[train, validation, test]), (0..60).collect::<Vec<_>>(), "{choice:?}");
                assert!(validation.len() >= 9 && test.len() >= 19, "{choice:?}");
            }
        }
    }

    #[test]
    fn classes_are_spread_and_groups_stay_whole() {
        for split in splits(Choice { target: "class".into(), ..Choice::default() }, 4).unwrap() {
            assert_eq!(split.test.iter().filter(|row| **row % 5 == 0).count(), 3);
        }
        for Split { train, validation, test } in
            splits(Choice { group: Some("user".into()), ..Choice::default() }, 3).unwrap()
        {
            let users = |part: &[u32]| {
                let mut users: Vec<u32> = part.iter().map(|row| row % 6).collect();
                users.sort_unstable();
                users.dedup();
                users
            };
            assert_eq!(sorted(&[&users(&train), &users(&validation), &users(&test)]), [0, 1, 2, 3, 4, 5]);
        }
    }

    #[test]
    fn in_the_order_of_time_each_fold_follows_its_training_rows() {
        let all = splits(Choice { time: Some("day".into()), ..Choice::default() }, 3).unwrap();
        let days = |part: &[u32]| part.iter().map(|row| row * 7 % 60).collect::<Vec<_>>();
        for (fold, Split { train, validation, test }) in all.iter().enumerate() {
            let end = 15 * (fold as u32 + 1);
            assert_eq!(days(test), (end..end + 15).collect::<Vec<_>>());
            assert_eq!([days(train), days(validation)].concat(), (0..end).collect::<Vec<_>>());
        }
    }

    #[test]
    fn messages() {
        let grouped = Choice { group: Some("user".into()), ..Choice::default() };
        let timed = Choice { time: Some("day".into()), ..Choice::default() };
        let cases = [
            (Choice::default(), 1, "folds: got 1, expected at least 2"),
            (Choice::default(), 61, "a.csv: 60 rows are too few for 61 folds"),
            (grouped, 7, "a.csv: 6 groups are too few for 7 folds"),
            (timed, 60, "a.csv: 60 rows are too few for 60 folds in the order of time"),
        ];
        for (choice, count, expected) in cases {
            assert_eq!(splits(choice, count).unwrap_err().to_string(), expected);
        }
    }
}
