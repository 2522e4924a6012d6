//! The distinct values (levels) of a category: collected once; cells are then matched with them.

use super::table::{Cells, Column, Table, number_text};
use crate::error::{Error, Result, listed};
use crate::host;

/// Maximal number of distinct values of a category. Each is an input of the model; a column with more holds names or numbers.
pub const MAX_LEVELS: usize = 1000;

/// The distinct values of a column in some rows: texts in order of their bytes, numbers in order of size.
pub(super) fn levels(table: &Table, column: &Column, rows: &[u32]) -> Result<Vec<String>> {
    let levels = match &column.cells {
        Cells::Numeric(values) => distinct(values, rows).into_iter().map(number_text).collect(),
        Cells::Categorical { codes, levels } => {
            let mut is_used = vec![false; levels.len()];
            for &row in rows {
                // A missing cell's code is not an index.
                if let Some(is_used) = is_used.get_mut(codes[row as usize] as usize) {
                    *is_used = true;
                }
            }
            levels.iter().zip(is_used).filter(|(_, is_used)| *is_used).map(|(level, _)| level.clone()).collect()
        }
    };
    check(table, column, levels)
}

fn check(table: &Table, column: &Column, levels: Vec<String>) -> Result<Vec<String>> {
    if levels.len() <= MAX_LEVELS {
        return Ok(levels);
    }
    let (name, source) = (&column.name, table.source());
    let what =
        format!("column \"{name}\" of {source} has more than {MAX_LEVELS} distinct values, too many for a category");
    Err(Error::new(what))
}

/// The distinct numbers in order of size, or some of them if there are too many.
fn distinct(values: &[f64], rows: &[u32]) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    for &row in rows {
        // Adding 0 turns -0 into 0.
        let value = values[row as usize] + 0.0;
        let place = found.partition_point(|&other| other < value);
        if !value.is_nan() && found.get(place) != Some(&value) && found.len() <= MAX_LEVELS {
            found.insert(place, value);
        }
    }
    found
}

/// For every row the index of its cell in `levels`, or `fill` if it is missing. Errors on an unknown value and names the cell.
pub(super) fn codes(
    table: &Table,
    column: &Column,
    rows: &[u32],
    levels: &[String],
    fill: Option<u32>,
) -> Result<Vec<u32>> {
    // Sorted by key; there are few.
    let mut known: Vec<(u64, u32)> = Vec::new();
    let code = |&row: &u32| {
        let row = row as usize;
        let Some(key) = key(&column.cells, row) else {
            return fill.ok_or_else(|| table.at(row, &column.name, MISSING));
        };
        let place = match known.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => return Ok(known[at].1),
            Err(place) => place,
        };
        let text = column.cells.text(row).unwrap_or_default();
        let code = find(levels, &text).ok_or_else(|| unknown(table, column, row, levels))?;
        known.insert(place, (key, code));
        Ok(code)
    };
    rows.iter().map(code).collect()
}

/// Message for a missing cell without a fill-in value.
pub(super) const MISSING: &str = "is missing, and the model was prepared without a value to fill in";

/// A key that is equal for equal cells of one column; `None` for a missing cell.
fn key(cells: &Cells, row: usize) -> Option<u64> {
    match cells {
        _ if cells.is_missing(row) => None,
        Cells::Numeric(values) => Some((values[row] + 0.0).to_bits()),
        Cells::Categorical { codes, .. } => Some(u64::from(codes[row])),
    }
}

/// The level with this text, or with the same number: a file with only integers writes `1` for `1.0`.
fn find(levels: &[String], text: &str) -> Option<u32> {
    let same_number = || {
        let value = host::parse_number(text)?;
        levels.iter().position(|level| host::parse_number(level) == Some(value))
    };
    levels.iter().position(|level| level == text).or_else(same_number).map(|code| code as u32)
}

fn unknown(table: &Table, column: &Column, row: usize, levels: &[String]) -> Error {
    let text = column.cells.text(row).unwrap_or_default();
    let known = listed(&levels.iter().map(String::as_str).collect::<Vec<_>>());
    table.at(row, &column.name, &format!("unknown value \"{text}\": expected one of {known}"))
}

#[cfg(test)]
mod tests {
    use super::super::csv::{Header, read};
    use super::*;

    fn table(text: &str) -> Table {
        read(text.as_bytes(), "new.csv", Header::Yes).unwrap()
    }

    fn level_list(text: &str, rows: &[u32]) -> Vec<String> {
        let table = table(text);
        levels(&table, &table.columns()[0], rows).unwrap()
    }

    #[test]
    fn levels_of_the_rows_in_use() {
        assert_eq!(level_list("a\nred\nblue\nred\ngreen\n", &[0, 1, 2]), ["blue", "red"]);
        assert_eq!(level_list("a\n10\n2\n-0\n0\nNA\n2.5\n", &[0, 1, 2, 3, 4, 5]), ["0", "2", "2.5", "10"]);
    }

    #[test]
    fn cells_are_matched_by_text_then_by_number() {
        let levels = ["1.0", "2", "x"].map(String::from);
        let matched = |text, fill| {
            let table = table(text);
            let rows: Vec<u32> = (0..table.rows() as u32).collect();
            codes(&table, &table.columns()[0], &rows, &levels, fill).map_err(|e| e.to_string())
        };
        assert_eq!(matched("a\n1\n2\n1\n", None), Ok(vec![0, 1, 0]));
        assert_eq!(matched("a\nx\n2.0\nNA\n", Some(2)), Ok(vec![2, 1, 2]));
        let cases = [
            ("a\nx\ny\n", "new.csv: row 2, column \"a\": unknown value \"y\": expected one of \"1.0\", \"2\", \"x\""),
            (
                "a\nx\nNA\n",
                "new.csv: row 2, column \"a\": is missing, and the model was prepared without a value to fill in",
            ),
            ("a\n3\n", "new.csv: row 1, column \"a\": unknown value \"3\": expected one of \"1.0\", \"2\", \"x\""),
        ];
        for (text, wanted) in cases {
            assert_eq!(matched(text, None), Err(wanted.to_string()));
        }
    }

    #[test]
    fn too_many_levels_are_an_error() {
        let values = (0..=1000).map(f64::from).collect();
        let table = Table::new("a.csv", vec![Column::numeric("id", values)]).unwrap();
        let rows: Vec<u32> = (0..=1000).collect();
        let message = levels(&table, &table.columns()[0], &rows).unwrap_err().to_string();
        assert_eq!(message, "column \"id\" of a.csv has more than 1000 distinct values, too many for a category");
    }
}
