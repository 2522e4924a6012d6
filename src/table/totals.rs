//! Finds a last row that is no data, but sums up the rows above: by its label, or because its numbers are their sums or means.

use crate::files::text::reading::Warning;
use crate::files::{Cells, Column, Table};

/// Labels of such rows, in lower case.
const LABELS: [&str; 26] = [
    "total",
    "totals",
    "grand total",
    "sum",
    "subtotal",
    "average",
    "avg",
    "mean",
    "gesamt",
    "gesamtsumme",
    "summe",
    "insgesamt",
    "mittelwert",
    "durchschnitt",
    "somme",
    "moyenne",
    "totale",
    "media",
    "suma",
    "totaal",
    "total général",
    "total general",
    "gesamtergebnis",
    "endsumme",
    "teilsumme",
    "sous-total",
];
/// With fewer rows the last one may be a sum by chance.
const FEWEST_ROWS: usize = 20;
/// Rows at the end that are looked at.
const LAST: usize = 3;

/// What a person should know about the last rows of a table, if they sum up the others.
pub(super) fn totals(table: &Table) -> Option<Warning> {
    let rows = table.rows();
    if rows < FEWEST_ROWS {
        return None;
    }
    (rows - LAST..rows).find_map(|row| labelled(table, row)).or_else(|| summed(table))
}

/// A row with a label that no row before it has.
fn labelled(table: &Table, row: usize) -> Option<Warning> {
    let is_label = |text: &str| {
        let text = text.trim().trim_end_matches([':', '.']).to_lowercase();
        LABELS.contains(&text.as_str()) || text.starts_with("grand total") || text.starts_with("total (")
    };
    let has = |column: &&Column| {
        let cells = column.as_category();
        let text = cells.text(row).filter(|_| matches!(cells, Cells::Categorical { .. }));
        text.is_some_and(|text| {
            is_label(&text) && !(0..table.rows() - LAST).any(|row| cells.text(row).as_deref() == Some(&text))
        })
    };
    let column = table.columns().iter().find(has)?;
    let label = column.as_category().text(row)?.into_owned();
    let message = format!(
        "row {} seems to sum up the rows above and is no data; leave it out of the file, or name its label under na with missing drop",
        row + 1
    );
    Some(Warning { column: column.name.clone(), message, cells: vec![label] })
}

/// A last row all of whose numbers, at least two, are the sums or all the means of those above.
fn summed(table: &Table) -> Option<Warning> {
    let last = table.rows() - 1;
    let numbers = |column: &Column| match &column.cells {
        Cells::Numeric(values) if values[last].is_finite() => Some((values[..last].to_vec(), values[last])),
        _ => None,
    };
    let columns: Vec<(Vec<f64>, f64)> = table.columns().iter().filter_map(numbers).collect();
    let is = |of: &dyn Fn(&[f64]) -> f64| {
        let is_near = |(above, own): &(Vec<f64>, f64)| {
            let (expected, size) = (of(above), above.iter().map(|value| value.abs()).fold(0.0, f64::max));
            // A column of zeros is the sum of itself.
            size > 0.0 && (expected - own).abs() <= 1e-6 * size.max(expected.abs())
        };
        columns.len() > 1 && columns.iter().all(is_near)
    };
    let sum = |values: &[f64]| values.iter().filter(|value| value.is_finite()).sum::<f64>();
    let count = |values: &[f64]| values.iter().filter(|value| value.is_finite()).count().max(1) as f64;
    let what = if is(&sum) {
        "sums"
    } else if is(&|values| sum(values) / count(values)) {
        "means"
    } else {
        return None;
    };
    let message = format!(
        "row {}, the last one, holds the {what} of the rows above and is no data; leave it out of the file",
        last + 1
    );
    Some(Warning { column: String::new(), message, cells: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(last: [&str; 3]) -> Option<String> {
        let texts: Vec<String> = (0..30).map(|i| format!("k{}", i % 3)).chain([last[0].to_owned()]).collect();
        let number =
            |at: usize, of: fn(usize) -> f64| (0..30).map(of).chain([last[at].parse().unwrap()]).collect::<Vec<f64>>();
        let columns = vec![
            Column::categorical("k", &texts),
            Column::numeric("x", number(1, |i| i as f64)),
            Column::numeric("y", number(2, |i| (i * i % 7) as f64)),
        ];
        totals(&Table::new("t", columns).unwrap()).map(|warning| warning.to_string())
    }

    #[test]
    fn a_last_row_that_sums_up_is_found() {
        let of_label = "column \"k\": row 31 seems to sum up the rows above and is no data; leave it out of the file, or name its label under na with missing drop: ";
        assert_eq!(said(["Total", "3", "4"]), Some(format!("{of_label}\"Total\"")));
        for label in ["Summe:", "Gesamtergebnis", "Grand Total (all)", "Total Général"] {
            assert_eq!(said([label, "3", "4"]), Some(format!("{of_label}\"{label}\"")));
        }
        assert_eq!(said(["Total Recall", "3", "4"]), None);
        // 0 + 1 + … + 29 = 435; of i² mod 7 (0 1 4 2 2 4 1, sum 14) four rounds and 0 + 1: 57.
        let sums = "row 31, the last one, holds the sums of the rows above and is no data; leave it out of the file";
        assert_eq!(said(["", "435", "57"]).as_deref(), Some(sums));
        assert_eq!(said(["", "14.5", "1.9"]), Some(sums.replace("sums", "means")));
        assert_eq!(said(["", "435", "56"]), None);
        assert_eq!(said(["k1", "3", "4"]), None);
    }

    #[test]
    fn a_word_that_other_rows_have_too_is_a_category() {
        let texts: Vec<String> = (0..30).map(|i| ["mean", "max"][i % 2].to_owned()).collect();
        let columns = vec![Column::categorical("k", &texts), Column::numeric("x", (0..30).map(f64::from).collect())];
        assert_eq!(totals(&Table::new("t", columns).unwrap()), None);
    }
}
