//! Columns that have a value only in the first row of each block of rows, as people leave repeated cells empty in spreadsheets.

use crate::files::{Cells, Column, Table, Warning};

/// What a person should know of such columns.
pub(super) fn notes(table: &Table) -> Vec<Warning> {
    table.columns().iter().filter_map(|column| note(column, table.rows())).collect()
}

fn note(column: &Column, rows: usize) -> Option<Warning> {
    /// Rows for each value, at the least.
    const FEWEST: usize = 3;
    const SHOWN: usize = 5;
    let cells = column.as_category();
    let is_sparse = rows >= 2 * FEWEST && (rows - cells.missing()) * FEWEST <= rows;
    if !is_sparse || column.why_unread().is_some() || cells.is_missing(0) {
        return None;
    }
    let filled: Vec<usize> = (0..rows).filter(|row| !cells.is_missing(*row)).collect();
    let is_block = |pair: &[usize]| pair[1] - pair[0] > 1 && cells.text(pair[0]) != cells.text(pair[1]);
    // Rows of a measurement that is made now and then hold fractions.
    let is_name = match cells {
        Cells::Numeric(values) => filled.iter().all(|row| values[*row].fract() == 0.0),
        Cells::Categorical { .. } => true,
    };
    if filled.len() < 2 || !is_name || !filled.windows(2).all(is_block) {
        return None;
    }
    let count = filled.len();
    let message = format!(
        "only {count} of {rows} cells have a value, the first of each block of rows; if a value counts for the rows below it, fill them in"
    );
    let cells = filled.iter().take(SHOWN).filter_map(|row| Some(cells.text(*row)?.into_owned())).collect();
    Some(Warning { column: column.name.clone(), message, cells })
}

#[cfg(test)]
mod tests {
    use crate::files::{Format, read_table};

    fn said(cells: &[&str]) -> Vec<String> {
        let rows: String = cells.iter().map(|cell| format!("{cell},0.5\n")).collect();
        let table = read_table(format!("g,y\n{rows}").as_bytes(), "a.csv", Format::default()).unwrap();
        table.notes().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn values_only_in_the_first_row_of_blocks_are_reported() {
        let of = |count: usize| {
            format!(
                "column \"g\": only {count} of 8 cells have a value, the first of each block of rows; if a value counts for the rows below it, fill them in"
            )
        };
        assert_eq!(said(&["A", "", "", "", "B", "", "", ""]), [of(2) + ": \"A\", \"B\""]);
        assert_eq!(said(&["2019", "", "", "", "", "2020", "", ""]), [of(2) + ": \"2019\", \"2020\""]);
        let quiet: [&[&str]; 6] = [
            &["A", "", "", "A", "", "", "", ""],
            &["", "A", "", "", "", "B", "", ""],
            &["A", "B", "", "", "", "", "", ""],
            &["A", "", "B", "", "C", "", "D", ""],
            &["0.5", "", "", "", "1.5", "", "", ""],
            &["A", "", "", "", "", "", "", ""],
        ];
        for cells in quiet {
            assert!(said(cells).is_empty(), "{cells:?}: {:?}", said(cells));
        }
    }
}
