//! The distinct values (levels) of a category: collected once; cells are then matched with them.

use crate::error::{Error, Result, hint, listed};
use crate::files::cells::Texts;
use crate::files::text::cell::is_code;
use crate::files::text::missing;
use crate::files::{Cells, Column, Table, number_text};
use crate::host;
use crate::math::order::{ascending, ascending_numbers};

/// Maximal number of distinct values of a category. Each is an input of the model.
pub const MAX_LEVELS: usize = 1000;

/// The classes of a target in the usable rows, in the given order. Errors if there are more than [`MAX_LEVELS`], or one that is not given.
pub(crate) fn classes(table: &Table, column: &Column, rows: &[u32], given: &[String]) -> Result<Vec<String>> {
    let count = counted(column, rows).len();
    if count > MAX_LEVELS {
        let (name, source) = (&column.name, table.source());
        let what = format!("has {count} classes, expected at most {MAX_LEVELS}");
        return Err(Error::new(format!("target \"{name}\" of {source} {what}")));
    }
    let found = levels(column, rows, MAX_LEVELS);
    if given.is_empty() {
        return Ok(found);
    }
    if let Some(level) = found.iter().find(|level| !given.contains(level)) {
        let near = hint(level, given.iter().map(String::as_str));
        let (name, source) = (&column.name, table.source());
        return Err(Error::new(format!(
            "target \"{name}\" of {source} has the class \"{level}\", which is not one of classes{near}"
        )));
    }
    if let Some(level) = given.iter().enumerate().find(|(at, level)| given[..*at].contains(level)) {
        return Err(Error::usage(format!("classes: got \"{}\" twice, expected each class once", level.1)));
    }
    Ok(given.to_vec())
}

/// Number of distinct values of a column in some rows.
pub(crate) fn count_levels(column: &Column, rows: &[u32]) -> usize {
    counted(column, rows).len()
}

/// The distinct values of a column in some rows, numbers in order of size, texts in order of their bytes; of more than `most` the most frequent
/// ones.
pub(crate) fn levels(column: &Column, rows: &[u32], most: usize) -> Vec<String> {
    let found = counted(column, rows);
    let mut is_kept = vec![found.len() <= most; found.len()];
    if found.len() > most {
        by_frequency(&found).into_iter().take(most).for_each(|at| is_kept[at as usize] = true);
    }
    let levels: Vec<String> =
        found.into_iter().zip(is_kept).filter(|(_, is)| *is).map(|((level, _), _)| level).collect();
    let numbers: Option<Vec<f64>> =
        levels.iter().map(|level| host::parse_number(level).filter(|x| x.is_finite())).collect();
    match numbers {
        Some(numbers) => ascending_numbers(&numbers).into_iter().map(|at| levels[at as usize].clone()).collect(),
        None => levels,
    }
}

/// At most so many distinct values of a column in some rows, the most frequent first.
pub(crate) fn frequent_levels(column: &Column, rows: &[u32], most: usize) -> Vec<String> {
    let mut found = counted(column, rows);
    let order = by_frequency(&found).into_iter().take(most);
    order.map(|at| std::mem::take(&mut found[at as usize].0)).collect()
}

/// The places of some levels, the most frequent first.
fn by_frequency(found: &[(String, u32)]) -> Vec<u32> {
    ascending(&found.iter().map(|(_, count)| u64::from(u32::MAX - count)).collect::<Vec<_>>())
}

/// The distinct values of a column in some rows, with the number of rows of each.
fn counted(column: &Column, rows: &[u32]) -> Vec<(String, u32)> {
    merged(match column.as_category() {
        Cells::Numeric(values) => {
            distinct(values, rows).into_iter().map(|(value, count)| (number_text(value), count)).collect()
        }
        Cells::Categorical { codes, levels } => {
            let mut counts = vec![0; levels.len()];
            for &row in rows {
                // A missing cell's code is not an index.
                if let Some(count) = counts.get_mut(codes[row as usize] as usize) {
                    *count += 1;
                }
            }
            levels.iter().zip(counts).filter(|(_, count)| *count > 0).map(|(level, n)| (level.clone(), n)).collect()
        }
    })
}

/// Values that are all words for true and false, in more than two spellings, as two: each by its most frequent word. Words that may mean a
/// missing cell stay beside them.
fn merged(found: Vec<(String, u32)>) -> Vec<(String, u32)> {
    let is_number = |(text, _): &&(String, u32)| text.starts_with(|c: char| c.is_ascii_digit());
    let values = || found.iter().filter(|(text, _)| !missing::is_word(text));
    if values().count() < 3
        || values().all(|value| is_number(&value))
        || values().any(|(text, _)| truth_of(text).is_none())
    {
        return found;
    }
    let of = |truth: bool| {
        let all = || values().filter(|(text, _)| truth_of(text) == Some(truth));
        let (word, _) = all().max_by_key(|(_, count)| *count)?;
        Some((word.clone(), all().map(|(_, count)| count).sum()))
    };
    let words = found.iter().filter(|(text, _)| missing::is_word(text)).cloned();
    let mut both: Vec<(String, u32)> = [false, true].into_iter().filter_map(of).chain(words).collect();
    both.sort();
    both
}

/// What a word says if it is one for true or for false.
pub(crate) fn truth_of(text: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match () {
        () if is(&["true", "t", "yes", "y", "1"]) => Some(true),
        () if is(&["false", "f", "no", "n", "0"]) => Some(false),
        () => None,
    }
}

/// The distinct numbers in order of size, with the number of rows of each.
fn distinct(values: &[f64], rows: &[u32]) -> Vec<(f64, u32)> {
    // Adding 0 turns -0 into 0.
    let numbers: Vec<f64> = rows.iter().map(|&row| values[row as usize] + 0.0).collect();
    let mut found: Vec<(f64, u32)> = Vec::new();
    for at in ascending_numbers(&numbers) {
        let value = numbers[at as usize];
        match found.last_mut() {
            Some((last, count)) if *last == value => *count += 1,
            _ if value.is_nan() => {}
            _ => found.push((value, 1)),
        }
    }
    found
}

/// A cell among the levels of its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    Level(u32),
    Missing,
    Unknown,
}

/// For every row, its cell among the `levels`.
pub(crate) fn matches(column: &Column, rows: &[u32], levels: &[String]) -> Vec<Match> {
    let (cells, known) = (column.as_category(), Known::of(levels));
    let keys: Vec<u64> = rows.iter().map(|&row| cells.key(row as usize)).collect();
    let mut found = vec![Match::Missing; rows.len()];
    // Equal cells follow each other, so each different one is looked up once.
    let mut last = None;
    for at in ascending(&keys) {
        let at = at as usize;
        let row = rows[at] as usize;
        found[at] = match last {
            _ if cells.is_missing(row) => Match::Missing,
            Some((key, found)) if key == keys[at] => found,
            _ => known.find(&cells.text(row).unwrap_or_default()),
        };
        last = Some((keys[at], found[at]));
    }
    found
}

/// Levels by text, and their numbers.
struct Known {
    texts: Texts,
    numbers: Vec<Option<f64>>,
    /// What the levels say, if they are one word for true and one for false, perhaps with words for a missing cell as further levels.
    truths: Vec<Option<bool>>,
}

impl Known {
    fn of(levels: &[String]) -> Self {
        let mut texts = Texts::new();
        for (code, level) in levels.iter().enumerate() {
            texts.insert(level.clone(), code as u32);
        }
        let truths: Vec<Option<bool>> = levels.iter().map(|level| truth_of(level)).collect();
        let said: Vec<bool> = truths.iter().copied().flatten().collect();
        let words = levels.iter().filter(|level| missing::is_word(level)).count();
        let is_pair = matches!(said[..], [a, b] if a != b) && said.len() + words == levels.len();
        let truths = if is_pair { truths } else { Vec::new() };
        Self { texts, numbers: levels.iter().map(|level| plain_number(level)).collect(), truths }
    }

    /// The level with this text, or else the one with the same number: a file with only integers writes `1` for `1.0`; or else the one of two
    /// that says true or false as the text does. `NA` is missing if no level is called so.
    fn find(&self, text: &str) -> Match {
        let place = |is: &dyn Fn(usize) -> bool| (0..self.numbers.len()).find(|at| is(*at)).map(|code| code as u32);
        let same_number = || {
            let value = plain_number(text)?;
            place(&|at| self.numbers[at] == Some(value))
        };
        let same_truth = || {
            let truth = truth_of(text)?;
            place(&|at| self.truths.get(at) == Some(&Some(truth)))
        };
        let found = self.texts.get(text).copied().or_else(same_number).or_else(same_truth);
        let other = if missing::is_na(text.as_bytes()) { Match::Missing } else { Match::Unknown };
        found.map_or(other, Match::Level)
    }
}

/// The number that a text is; a text written like a code, `01`, is none.
fn plain_number(text: &str) -> Option<f64> {
    host::parse_number(text).filter(|_| !is_code(text.as_bytes()))
}

/// For every row the index of its cell in `levels`. Errors on a missing cell and on an unknown value, and names the cell.
pub(crate) fn codes(table: &Table, column: &Column, rows: &[u32], levels: &[String]) -> Result<Vec<u32>> {
    let code = |(&row, found): (&u32, Match)| {
        let refused = |what: &str| Err(table.at(row as usize, &column.name, what));
        match found {
            Match::Level(code) => Ok(code),
            Match::Missing => refused("is missing"),
            Match::Unknown => refused(&unknown(column, row as usize, levels)),
        }
    };
    rows.iter().zip(matches(column, rows, levels)).map(code).collect()
}

/// Message about an unknown value.
pub(crate) fn unknown(column: &Column, row: usize, levels: &[String]) -> String {
    let text = column.as_category().text(row).unwrap_or_default();
    let known = listed(&levels.iter().map(String::as_str).collect::<Vec<_>>());
    format!("unknown value \"{text}\": expected one of {known}")
}

/// The level of each training row, if it has one.
pub(crate) fn codes_of(column: &Column, training: &[u32], levels: &[String]) -> Vec<Option<u32>> {
    let code = |found| if let Match::Level(code) = found { Some(code) } else { None };
    matches(column, training, levels).into_iter().map(code).collect()
}

/// Number of training rows of each level, and of those without a value.
pub(crate) fn counted_in(column: &Column, training: &[u32], levels: &[String]) -> (Vec<u32>, usize) {
    let (mut counts, mut missing) = (vec![0; levels.len()], 0);
    for found in matches(column, training, levels) {
        match found {
            Match::Level(code) => counts[code as usize] += 1,
            Match::Missing => missing += 1,
            Match::Unknown => {}
        }
    }
    (counts, missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::csv::{Header, read};

    fn table(text: &str) -> Table {
        read(text.as_bytes(), "new.csv", Header::Yes).unwrap()
    }

    fn level_list(text: &str, rows: &[u32]) -> Vec<String> {
        let table = table(text);
        levels(&table.columns()[0], rows, MAX_LEVELS)
    }

    #[test]
    fn levels_of_the_rows_in_use() {
        assert_eq!(level_list("a\nred\nblue\nred\ngreen\n", &[0, 1, 2]), ["blue", "red"]);
        assert_eq!(level_list("a\n10\n2\n-0\n0\nNA\n2.5\n", &[0, 1, 2, 3, 4, 5]), ["0", "2", "2.5", "10"]);
    }

    #[test]
    fn cells_are_matched_by_text_then_by_number() {
        let levels = ["1.0", "2", "x"].map(String::from);
        let matched = |text| {
            let table = table(text);
            codes(&table, &table.columns()[0], &table.every_row(), &levels).map_err(|e| e.to_string())
        };
        assert_eq!(matched("a\n1\n2\n1\n"), Ok(vec![0, 1, 0]));
        assert_eq!(matched("a\nx\n2.0\n"), Ok(vec![2, 1]));
        let cases = [
            ("a\nx\ny\n", "new.csv: row 2, column \"a\": unknown value \"y\": expected one of \"1.0\", \"2\", \"x\""),
            ("a\nx\nNA\n", "new.csv: row 2, column \"a\": is missing"),
            ("a\n3\n", "new.csv: row 1, column \"a\": unknown value \"3\": expected one of \"1.0\", \"2\", \"x\""),
            ("a\n01\n", "new.csv: row 1, column \"a\": unknown value \"01\": expected one of \"1.0\", \"2\", \"x\""),
        ];
        for (text, expected) in cases {
            assert_eq!(matched(text), Err(expected.to_string()));
        }
    }

    #[test]
    fn codes_with_leading_zeros_stay_apart() {
        let table = table("zip\n02139\n2139\n002139\n2139.0\n12345678901234567\n12345678901234568\n");
        let column = &table.columns()[0];
        assert!(matches!(column.cells, Cells::Numeric(_)));
        let found = levels(column, &table.every_row(), MAX_LEVELS);
        assert_eq!(found, ["002139", "02139", "2139", "12345678901234567", "12345678901234568"]);
        assert_eq!(codes(&table, column, &[0, 1, 2, 3], &found).unwrap(), [1, 2, 0, 2]);
    }

    #[test]
    fn of_too_many_levels_the_frequent_ones_are_kept() {
        let mut values: Vec<f64> = (0..=1000).map(f64::from).collect();
        values.extend([7.0, 900.0]);
        let table = Table::new("a.csv", vec![Column::numeric("id", values)]).unwrap();
        let most = |most| levels(&table.columns()[0], &table.every_row(), most);
        assert_eq!((most(2), most(1001).len()), (vec!["7".to_owned(), "900".to_owned()], 1001));
    }
}
