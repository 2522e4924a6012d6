//! Levels of columns, and the groups of rows that have the same ones: a parameter `a[set]` has a value for each.

use std::collections::BTreeMap;

use crate::host::number;

/// The levels of a column and the level of each row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// Their names, in the order in which they are shown.
    pub names: Vec<String>,
    /// For each row, a place in the names.
    pub codes: Vec<u32>,
}

impl Levels {
    /// The distinct numbers of a column, ascending.
    pub fn of_numbers(values: &[f64]) -> Self {
        let mut distinct = values.to_vec();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        let mut last = 0;
        let code = |value: &f64| {
            // Rows of a level often follow each other.
            if distinct[last] != *value {
                last = distinct.partition_point(|known| known < value);
            }
            last as u32
        };
        Self {
            codes: values.iter().map(code).collect(),
            names: distinct.iter().map(|&value| number(value).to_string()).collect(),
        }
    }

    /// The distinct texts of a column, in alphabetical order.
    pub fn of_texts<'t>(values: impl Iterator<Item = &'t str> + Clone) -> Self {
        let mut found: BTreeMap<&str, u32> = values.clone().map(|value| (value, 0)).collect();
        found.values_mut().zip(0..).for_each(|(code, at)| *code = at);
        Self {
            codes: values.map(|value| found[value]).collect(),
            names: found.keys().map(|name| (*name).to_owned()).collect(),
        }
    }
}

/// Groups of rows: each is a combination of levels of some columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Groups {
    /// The columns with the names of their levels.
    pub columns: Vec<(String, Vec<String>)>,
    /// The level of each column in each group; groups are in ascending order of them.
    pub codes: Vec<Vec<u32>>,
}

impl Groups {
    /// One group of all rows.
    pub(crate) fn one() -> Self {
        Self { columns: Vec::new(), codes: vec![Vec::new()] }
    }

    /// The groups that rows with these levels are in, and the rows sorted by group, each group in the given order.
    pub(crate) fn of(columns: Vec<(String, &Levels)>, rows: usize) -> (Self, Vec<usize>, Vec<std::ops::Range<usize>>) {
        let mut order: Vec<usize> = (0..rows).collect();
        let key = |row: usize| columns.iter().map(move |(_, levels)| levels.codes[row]);
        order.sort_by(|&a, &b| key(a).cmp(key(b)));
        let (mut codes, mut ranges): (Vec<Vec<u32>>, Vec<std::ops::Range<usize>>) = (Vec::new(), Vec::new());
        let mut start = 0;
        while start < rows {
            let first = order[start];
            let count = order[start..].iter().take_while(|&&row| key(row).eq(key(first))).count();
            codes.push(key(first).collect());
            ranges.push(start..start + count);
            start += count;
        }
        let columns = columns.into_iter().map(|(name, levels)| (name, levels.names.clone())).collect();
        (Self { columns, codes }, order, ranges)
    }

    pub(crate) fn count(&self) -> usize {
        self.codes.len()
    }

    /// The levels of some columns in a group, such as `red, 2`.
    pub(crate) fn label(&self, group: usize, columns: &[String]) -> String {
        let texts = columns.iter().filter_map(|expected| {
            let at = self.columns.iter().position(|(name, _)| name == expected)?;
            Some(self.columns[at].1[self.codes[group][at] as usize].as_str())
        });
        texts.collect::<Vec<&str>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_into_groups() {
        let set = Levels::of_texts(["red", "blue", "red", "blue"].into_iter());
        assert_eq!(set, Levels { names: vec!["blue".into(), "red".into()], codes: vec![1, 0, 1, 0] });
        let day = Levels::of_numbers(&[2.5, 10.0, 2.5, 2.5]);
        assert_eq!(day, Levels { names: vec!["2.5".into(), "10".into()], codes: vec![0, 1, 0, 0] });
        let (groups, order, ranges) = Groups::of(vec![("set".to_owned(), &set), ("day".to_owned(), &day)], 4);
        assert_eq!(order, [3, 1, 0, 2]);
        assert_eq!(ranges, [0..1, 1..2, 2..4]);
        assert_eq!(groups.codes, [[0, 0], [0, 1], [1, 0]]);
        assert_eq!(groups.label(1, &["set".to_owned(), "day".to_owned()]), "blue, 10");
        assert_eq!(groups.label(2, &["day".to_owned()]), "2.5");
    }
}
