//! Some rows of a table, and a table with another column in place of one: what judging a model needs.

use super::text::reading::Reading;
use super::{Cells, Column, Table};
use crate::error::Result;

impl Table {
    /// The given rows in the given order; a row may occur several times. Errors without rows.
    pub fn take(&self, rows: &[u32]) -> Result<Self> {
        self.of(self.columns().iter().map(|column| column.take(rows)).collect())
    }

    /// The same with `column` in place of the one of its name. Errors if there is none, or if it has another number of rows.
    pub fn with_column(&self, column: Column) -> Result<Self> {
        let at = self.position(&column.name)?;
        let mut columns = self.columns().to_vec();
        columns[at] = column;
        self.of(columns)
    }

    /// Only the columns with these names. Errors if one is missing.
    pub fn only<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<Self> {
        let column = |name: &str| Ok(self.columns()[self.position(name)?].clone());
        self.of(names.map(column).collect::<Result<_>>()?)
    }

    /// A table of the same file.
    fn of(&self, columns: Vec<Column>) -> Result<Self> {
        let table = Self::new(self.source(), columns)?;
        Ok(match self.format() {
            Some(format) => table.with_format(format.clone()),
            None => table,
        })
    }
}

impl Column {
    /// The given rows in the given order.
    pub fn take(&self, rows: &[u32]) -> Self {
        let reading = self.reading.as_ref().map(|reading| {
            let texts = reading.texts.as_ref().map(|texts| texts.take(rows));
            // Positions in the file do not apply to the subset.
            Box::new(Reading { texts, first_text: None, ..(**reading).clone() })
        });
        Self { name: self.name.clone(), cells: self.cells.take(rows), reading }
    }
}

impl Cells {
    fn take(&self, rows: &[u32]) -> Self {
        match self {
            Self::Numeric(values) => Self::Numeric(rows.iter().map(|&row| values[row as usize]).collect()),
            Self::Categorical { codes, levels } => {
                let codes = rows.iter().map(|&row| codes[row as usize]).collect();
                Self::Categorical { codes, levels: levels.clone() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::csv::{Header, read};

    #[test]
    fn rows_are_taken_from_numbers_texts_and_codes() {
        let table = read(b"x,code,k\n1,007,a\n2,008,b\n3,009,a\n", "a.csv", Header::Yes).unwrap();
        let part = table.take(&[2, 0, 2]).unwrap();
        let texts = |name: &str| {
            let column = &part.columns()[part.position(name).unwrap()];
            (0..3).map(|row| column.as_category().text(row).unwrap().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!([texts("x"), texts("code"), texts("k")], [["3", "1", "3"], ["009", "007", "009"], ["a", "a", "a"]]);
        assert!(table.take(&[]).is_err());
    }

    #[test]
    fn a_column_is_replaced_by_name() {
        let table = read(b"x,y\n1,2\n3,4\n", "a.csv", Header::Yes).unwrap();
        let other = table.with_column(Column::numeric("x", vec![7.0, 8.0])).unwrap();
        assert_eq!((other.numbers("x").unwrap(), other.numbers("y").unwrap()), (&[7.0, 8.0][..], &[2.0, 4.0][..]));
        let wrong = table.with_column(Column::numeric("x", vec![7.0])).unwrap_err().to_string();
        assert_eq!(wrong, "a.csv: column \"y\" has 2 rows, column \"x\" has 1");
        assert!(table.with_column(Column::numeric("z", vec![7.0, 8.0])).is_err());
        assert_eq!(other.only(["y"].into_iter()).unwrap().names().collect::<Vec<_>>(), ["y"]);
    }
}
