//! Validation and test rows from files of their own.

use std::collections::BTreeSet;

use super::split::Run;
use crate::error::{Error, Result};
use crate::files::Table;
use crate::model::Examples;
use crate::table::{MissingReport, NoteKind, Unknown};

/// What was found in a file of validation or test rows.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldRows {
    /// The rows that are used.
    pub rows: Vec<u32>,
    /// Rows that are left out because of missing cells, as training leaves them out.
    pub gaps: MissingReport,
    /// Cells with a category that training did not see: they count as none of those it saw.
    pub unseen: usize,
}

impl Run {
    /// Uses the rows of a table for validation. Columns are found by name. Errors if one is missing, and on a class that training did not see.
    pub fn validate_on(&mut self, table: &Table) -> Result<HeldRows> {
        let (examples, held) = self.held(table)?;
        self.data.validation = examples;
        Ok(held)
    }

    /// Uses the rows of a table for testing; as [`Run::validate_on`].
    pub fn test_on(&mut self, table: &Table) -> Result<HeldRows> {
        let (examples, held) = self.held(table)?;
        self.data.test = examples;
        Ok(held)
    }

    fn held(&self, table: &Table) -> Result<(Examples, HeldRows)> {
        let (rows, gaps) = self.preparation.judged_rows(table, self.spec.head().is_some())?;
        let examples = Examples::encode(&self.preparation, table, &rows, &self.settings.loss)?;
        let notes = self.preparation.encode_noting(table, &rows, Unknown::Other)?.notes;
        let unseen = notes.iter().filter(|note| matches!(note.kind, NoteKind::Unseen(_))).count();
        Ok((examples, HeldRows { rows, gaps, unseen }))
    }
}

/// Errors if a value of the column `group` occurs in both tables; a table without the column is not checked.
pub fn check_groups(table: &Table, held: &Table, group: &str) -> Result<()> {
    let texts = |table: &Table| {
        let column = table.find(group).map(|at| &table.columns()[at]);
        let cells = column.map(|column| (0..table.rows()).filter_map(|row| column.cells.text(row)).map(String::from));
        cells.map(BTreeSet::from_iter).unwrap_or_default()
    };
    let (own, others): (BTreeSet<String>, BTreeSet<String>) = (texts(table), texts(held));
    let Some(shared) = own.intersection(&others).next() else { return Ok(()) };
    let (table, held) = (table.source(), held.source());
    Err(Error::usage(format!("group \"{shared}\" is in both {table} and {held}; groups are kept apart")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Header, read_plain};
    use crate::run::TrainOptions;
    use crate::table::{Choice, Missing};

    fn read(text: &str, name: &str) -> Table {
        read_plain(text.as_bytes(), name, Header::Yes).unwrap()
    }

    #[test]
    fn held_rows_are_encoded_by_name_and_what_is_odd_is_counted() {
        let text: String = (0..40).map(|i| format!("{i},{},{i}.5\n", ["red", "blue"][i % 2])).collect();
        let table = read(&format!("x,colour,y\n{text}"), "a.csv");
        let choice = Choice { target: "y".into(), missing: Missing::Drop, bins: Some(0), ..Choice::default() };
        let mut run = TrainOptions { choice, ..TrainOptions::default() }.prepare(&table).unwrap();
        let train = run.data.train.clone();
        let held = read("y,extra,colour,x\n1.5,q,red,1\n2.5,q,green,2\n3.5,q,blue,\n", "v.csv");
        let found = run.validate_on(&held).unwrap();
        assert_eq!((found.rows, found.gaps.dropped, found.unseen), (vec![0, 1], 1, 1));
        assert_eq!((run.data.validation.y.len(), run.data.train == train), (2, true));
        assert_eq!(run.data.validation.x[run.data.inputs..][1..], [0.0, 0.0], "green is no level");
        run.test_on(&held).unwrap();
        assert_eq!(run.data.test, run.data.validation);
        let blind = run.test_on(&read("y,x\n1,2\n", "t.csv")).unwrap_err().to_string();
        assert_eq!(blind, "column \"colour\" is missing from t.csv; it has \"y\", \"x\"");
    }

    #[test]
    fn a_group_in_both_tables_is_an_error() {
        let (a, b) = (read("u,y\nann,1\nbob,2\n", "a.csv"), read("u,y\nbob,1\n", "b.csv"));
        let said = check_groups(&a, &b, "u").unwrap_err().to_string();
        assert_eq!(said, "group \"bob\" is in both a.csv and b.csv; groups are kept apart");
        assert!(check_groups(&a, &read("u,y\ncem,1\n", "b.csv"), "u").is_ok());
        assert!(check_groups(&a, &read("y\n1\n", "b.csv"), "u").is_ok());
    }
}
