//! A table: named columns of equal length. Rows are counted from 1 in messages, header excluded.

use super::cells::{Cells, MISSING_CODE, Texts};
use super::column::Column;
use super::names::on_one_line;
use super::text::reading::Warning;
use super::text::{Format, Header};
use crate::error::{Error, Result, hint, listed};
use crate::host;

/// Columns of equal length, and the name of the file they came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    source: String,
    columns: Vec<Column>,
    rows: usize,
    /// The position of each name.
    positions: Texts,
    /// How its file was read.
    format: Option<Box<Format>>,
    /// What a person should know about how the file was read.
    notes: Vec<Warning>,
    /// What is said after the names of the columns where another one is wanted.
    hint: String,
    /// The files of the rows and how many each has, if there are several.
    parts: Vec<(String, usize)>,
}

impl Table {
    /// A table from columns. Errors on no columns, no rows, unequal lengths, and a repeated name.
    pub fn new(source: &str, columns: Vec<Column>) -> Result<Self> {
        let Some(first) = columns.first() else {
            return Err(Error::new(format!("{source}: has no columns")));
        };
        let rows = first.cells.len();
        if rows == 0 {
            return Err(Error::new(format!("{source}: has no rows")));
        }
        if rows >= MISSING_CODE as usize {
            return Err(Error::new(format!(
                "{source}: too many rows: got {rows}, expected at most {}",
                MISSING_CODE - 1
            )));
        }
        let mut positions = Texts::new();
        for (at, Column { name, cells, .. }) in columns.iter().enumerate() {
            if cells.len() != rows {
                let (got, first) = (cells.len(), &first.name);
                let message = format!("column \"{name}\" has {got} rows, column \"{first}\" has {rows}");
                return Err(Error::new(format!("{source}: {message}")));
            }
            if positions.insert(name.clone(), at as u32).is_some() {
                return Err(Error::new(format!("{source}: two columns are named \"{name}\"")));
            }
        }
        let (notes, hint) = (Vec::new(), String::new());
        Ok(Self { source: source.to_string(), columns, rows, positions, format: None, notes, hint, parts: Vec::new() })
    }

    /// A table of numbers from row-major `values`, `names.len()` per row. NaN is missing.
    pub fn from_matrix(source: &str, names: &[String], values: &[f64]) -> Result<Self> {
        let width = names.len();
        if width == 0 || !values.len().is_multiple_of(width) {
            let count = values.len();
            return Err(Error::new(format!("{source}: got {count} values, expected full rows of {width} columns")));
        }
        let column = |j: usize| values.chunks_exact(width).map(|row| row[j]).collect();
        let named = names.iter().enumerate().map(|(j, name)| Column::numeric(name, column(j)));
        Self::new(source, named.collect())
    }

    /// With how its file was read.
    #[must_use]
    pub fn with_format(self, format: Format) -> Self {
        Self { format: Some(Box::new(format)), ..self }
    }

    /// How its file was read; `None` for a table that was no file.
    pub fn format(&self) -> Option<&Format> {
        self.format.as_deref()
    }

    /// With missing cells where there is one of these words, or a number that one of them means: for values that no format applies to.
    #[must_use]
    pub fn with_missing(mut self, words: &[String]) -> Self {
        let numbers: Vec<f64> = words.iter().filter_map(|word| host::parse_number(word)).collect();
        for column in &mut self.columns {
            match &mut column.cells {
                Cells::Numeric(values) => {
                    values.iter_mut().filter(|value| numbers.contains(value)).for_each(|value| *value = f64::NAN);
                }
                Cells::Categorical { codes, levels } => {
                    let is_missing = |code: &u32| levels.get(*code as usize).is_some_and(|level| words.contains(level));
                    codes.iter_mut().filter(|code| is_missing(code)).for_each(|code| *code = MISSING_CODE);
                }
            }
        }
        self
    }

    /// The same with what a person should know about how the file was read, after what is known already.
    #[must_use]
    pub(crate) fn noting(mut self, notes: impl IntoIterator<Item = Warning>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// The same with what is said after the names of the columns where another one is wanted.
    #[must_use]
    pub fn with_hint(self, hint: String) -> Self {
        Self { hint, ..self }
    }

    /// The same with the files that its rows are of, in their order, and how many rows each has.
    #[must_use]
    pub fn of_files(self, parts: Vec<(String, usize)>) -> Self {
        Self { parts, ..self }
    }

    /// What a person should know about how the file was read: lines before the table, rows that were left out.
    pub fn notes(&self) -> &[Warning] {
        &self.notes
    }

    /// The user's name for the data, for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Number of rows of every column.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The index of every row, for calls that take rows.
    pub fn every_row(&self) -> Vec<u32> {
        (0..self.rows as u32).collect()
    }

    /// The columns in the order of the file.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The names of the columns in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The position of the column called `name`, if there is one. Names with line breaks are read on one line.
    pub fn find(&self, name: &str) -> Option<usize> {
        let at = self.positions.get(name).or_else(|| self.positions.get(&on_one_line(name)));
        at.map(|&at| at as usize)
    }

    /// The position of the column called `name`, or an error: `column "price" not in wine.csv; it has "fixed_acidity", …, "quality"`.
    pub fn position(&self, name: &str) -> Result<usize> {
        let Some(position) = self.find(name) else {
            let (source, names, near) = (&self.source, self.list(), hint(name, self.names()));
            let near = if near.is_empty() { self.holding(name) } else { near };
            let hint = match self.format.as_ref().map_or(Header::Auto, |format| format.header) {
                _ if !self.is_first_record(name) => self.lower(name).unwrap_or_else(|| self.hint.clone()),
                Header::No => FIRST_IS_DATA.to_owned(),
                _ => FIRST_RECORD.to_owned(),
            };
            return Err(Error::new(format!("column \"{name}\" not in {source}; it has {names}{near}{hint}")));
        };
        Ok(position)
    }

    /// What is said of the one name that has a word of another: `y [s]`, `properties.y`.
    fn holding(&self, word: &str) -> String {
        let is_word = |part: &str| part.eq_ignore_ascii_case(word);
        let holds = |name: &&str| name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(is_word);
        let mut names = self.names().filter(holds);
        match (names.next(), names.next()) {
            // A table of one column has nothing to learn from: its cells are probably not split.
            (Some(name), None) if self.columns.len() == 1 => split(name),
            (Some(name), None) => format!("; did you mean \"{name}\"?"),
            _ => String::new(),
        }
    }

    /// What is said if a cell of the first rows is a text that is wanted as a name.
    fn lower(&self, name: &str) -> Option<String> {
        const ROWS: usize = 50;
        let is_it = |row: usize| {
            let cell = |column: &Column| column.as_category().text(row).is_some_and(|text| text == name);
            self.columns.iter().any(cell)
        };
        let row = (0..self.rows.min(ROWS)).find(|row| is_it(*row))?;
        self.format.as_ref()?;
        let row = row + 1;
        Some(format!("; row {row} has a cell \"{name}\": skip or header_row declares the line of the names"))
    }

    /// Whether the first record was read as data though it has a cell of this name: names that look like numbers make it so.
    pub fn is_first_record(&self, name: &str) -> bool {
        let is_unnamed = |(at, column): (usize, &Column)| column.name == format!("c{at}");
        self.columns.iter().enumerate().all(is_unnamed)
            && self.columns.iter().any(|column| column.first_cell().as_deref() == Some(name))
    }

    /// The position of the column called `name`. Errors if there is none, or if it could not be read.
    pub fn readable(&self, name: &str) -> Result<usize> {
        let position = self.position(name)?;
        match self.columns[position].why_unread() {
            Some(unread) => Err(Error::new(format!("{}: column \"{name}\": {}", self.source, unread.why))),
            None => Ok(position),
        }
    }

    /// The column called `name` as numbers, or an error for the first cell that is not a number:
    /// `wine.csv: row 17, column "alcohol": "abc" is not a number`.
    pub fn numbers(&self, name: &str) -> Result<&[f64]> {
        let column = &self.columns[self.readable(name)?];
        match &column.cells {
            Cells::Numeric(values) => Ok(values),
            Cells::Categorical { codes, levels } => Err(self.not_a_number(name, codes, levels)),
        }
    }

    /// The same, and an error if a text counts as missing there.
    pub(crate) fn only_numbers(&self, name: &str) -> Result<&[f64]> {
        let values = self.numbers(name)?;
        match self.columns[self.position(name)?].reading.as_ref().and_then(|reading| reading.first_text.as_ref()) {
            Some((row, text)) => Err(self.at(*row, name, &format!("\"{text}\" is not a number"))),
            None => Ok(values),
        }
    }

    fn not_a_number(&self, name: &str, codes: &[u32], levels: &[String]) -> Error {
        let is_text = |&code: &u32| levels.get(code as usize).is_some_and(|text| host::parse_number(text).is_none());
        let row = codes.iter().position(is_text).unwrap_or(0);
        let text = levels.get(codes[row] as usize).map_or("", String::as_str);
        self.at(row, name, &no_number(text))
    }

    /// An error about one cell: `wine.csv: row 17, column "alcohol": …`, with `row` counted from 0.
    pub(crate) fn at(&self, row: usize, name: &str, what: &str) -> Error {
        let (source, row) = file_of(&self.parts, row).unwrap_or((&self.source, row));
        Error::new(format!("{source}: row {}, column \"{name}\": {what}", row + 1))
    }

    /// The names of the columns for a message.
    pub(crate) fn list(&self) -> String {
        listed(&self.names().collect::<Vec<_>>())
    }
}

/// What is said of the one name of a table that has the wanted one as a word.
fn split(name: &str) -> String {
    let mark = name.chars().find(|letter| !letter.is_alphanumeric() && *letter != '_').unwrap_or(' ');
    match mark {
        ' ' | '\t' => "; are its cells apart by spaces? delimiter spaces splits them".to_owned(),
        _ => format!("; are its cells apart by \"{mark}\"? delimiter {mark} splits them"),
    }
}

/// The file of a row among files of so many rows each, and the row in it; both are counted from 0.
pub(crate) fn file_of(parts: &[(String, usize)], row: usize) -> Option<(&String, usize)> {
    let mut before = 0;
    for (file, rows) in parts {
        if row < before + rows {
            return Some((file, row - before));
        }
        before += rows;
    }
    None
}

/// What is said if a wanted name is in the first record.
const FIRST_RECORD: &str = "; its first record holds numbers and is read as data; header reads it as names";
const FIRST_IS_DATA: &str =
    "; its first record is read as data, as no header declares; without that it is read as names";

/// A message about a text that should be a number.
pub(crate) fn no_number(text: &str) -> String {
    let is_close = text.contains(',') && !text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let hint = if is_close { "; numbers are written with a point" } else { "" };
    format!("\"{text}\" is not a number{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|j| format!("x{j}")).collect()
    }

    #[test]
    fn a_matrix_becomes_columns() {
        let table = Table::from_matrix("page", &names(2), &[1.0, 2.0, 3.0, f64::NAN]).unwrap();
        assert_eq!((table.rows(), table.columns().len()), (2, 2));
        assert_eq!(table.numbers("x0").unwrap(), [1.0, 3.0]);
        assert_eq!(table.columns()[1].cells.missing(), 1);
        assert_eq!(table.columns()[1].cells.text(0).as_deref(), Some("2"));
        assert_eq!(table.columns()[1].cells.text(1), None);
    }

    #[test]
    fn messages() {
        let column = |name, rows| Column::numeric(name, vec![0.0; rows]);
        let cases = [
            (Table::new("a.csv", vec![]), "a.csv: has no columns"),
            (Table::new("a.csv", vec![column("x", 0)]), "a.csv: has no rows"),
            (Table::from_matrix("page", &names(2), &[0.0; 3]), "page: got 3 values, expected full rows of 2 columns"),
            (Table::from_matrix("page", &[], &[0.0; 3]), "page: got 3 values, expected full rows of 0 columns"),
            (
                Table::new("a.csv", vec![column("x", 2), column("y", 3)]),
                "a.csv: column \"y\" has 3 rows, column \"x\" has 2",
            ),
            (Table::new("a.csv", vec![column("x", 2), column("x", 2)]), "a.csv: two columns are named \"x\""),
        ];
        for (got, expected) in cases {
            assert_eq!(got.unwrap_err().to_string(), expected);
        }
        let table = Table::from_matrix("wide.npy", &names(14), &[0.0; 28]).unwrap();
        assert_eq!(
            table.numbers("price").unwrap_err().to_string(),
            "column \"price\" not in wide.npy; it has \"x0\", \"x1\", \"x2\", \"x3\", \"x4\", \"x5\", \"x6\", \"x7\", \"x8\", \"x9\", \"x10\", …, \"x13\""
        );
    }

    #[test]
    fn words_for_missing_cells_are_marked_among_numbers_and_texts() {
        let columns = vec![
            Column::numeric("x", vec![1.0, -999.0, 3.0]),
            Column::categorical("k", &["none", "a", "-999"].map(String::from)),
        ];
        let table = Table::new("rows", columns).unwrap().with_missing(&["-999".into(), "none".into()]);
        let missing = |at: usize| (0..3).map(|row| table.columns()[at].cells.is_missing(row)).collect::<Vec<_>>();
        assert_eq!([missing(0), missing(1)], [vec![false, true, false], vec![true, false, true]]);
    }

    #[test]
    fn a_row_of_several_files_names_its_own() {
        let cells = Cells::Categorical { codes: vec![0, 0, 1], levels: vec!["1.5".into(), "abc".into()] };
        let table = Table::new("d/*.csv", vec![Column::new("x", cells)]).unwrap();
        let table = table.of_files(vec![("d/a.csv".into(), 2), ("d/b.csv".into(), 1)]);
        assert_eq!(
            table.numbers("x").unwrap_err().to_string(),
            "d/b.csv: row 1, column \"x\": \"abc\" is not a number"
        );
    }

    #[test]
    fn a_name_that_is_not_there_is_looked_for() {
        let of = |names: &[&str]| {
            let columns = names.iter().map(|name| Column::numeric(name, vec![0.0])).collect();
            Table::new("a.csv", columns).unwrap().position("y").unwrap_err().to_string()
        };
        assert!(of(&["v   a   y"]).ends_with("; are its cells apart by spaces? delimiter spaces splits them"));
        assert!(of(&["v:a:y"]).ends_with("; are its cells apart by \":\"? delimiter : splits them"));
        for name in ["y [s]", "properties.y", "Y (mm)"] {
            assert!(of(&["v", name]).ends_with(&format!("did you mean \"{name}\"?")), "{name}");
        }
        assert!(!of(&["y [s]", "y [m]"]).contains("did you mean"));
        assert!(!of(&["year", "ray"]).contains("did you mean"));
        let texts = |name: &str, cells: [&str; 2]| Column::categorical(name, &cells.map(String::from));
        let table = Table::new("a.csv", vec![texts("Station", ["v", "1"]), texts("c1", ["y", "2"])]).unwrap();
        let said = |format: Format| table.clone().with_format(format).position("y").unwrap_err().to_string();
        assert!(
            said(Format::default())
                .ends_with("; row 1 has a cell \"y\": skip or header_row declares the line of the names")
        );
        let table = Table::new("a.csv", vec![texts("c0", ["a", "1"]), texts("c1", ["y", "2"])]).unwrap();
        let said = |header: Header| table.clone().with_format(header.into()).position("y").unwrap_err().to_string();
        assert!(said(Header::No).ends_with(FIRST_IS_DATA) && said(Header::Auto).ends_with(FIRST_RECORD));
    }

    #[test]
    fn a_text_column_is_not_numeric() {
        let cells = Cells::Categorical { codes: vec![MISSING_CODE, 0, 1], levels: vec!["1.5".into(), "abc".into()] };
        let table = Table::new("wine.csv", vec![Column::new("alcohol", cells)]).unwrap();
        let message = table.numbers("alcohol").unwrap_err().to_string();
        assert_eq!(message, "wine.csv: row 3, column \"alcohol\": \"abc\" is not a number");
    }
}
