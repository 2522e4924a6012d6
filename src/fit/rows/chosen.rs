//! The rows of a table that a fit uses: those for which the condition holds, without missing cells. Columns are borrowed where no row is left out.

use std::borrow::Cow;

use super::levels::Levels;
use super::problem::Problem;
use crate::error::{Error, Result};
use crate::files::{Cells, MISSING_CODE, Table};
use crate::fit::{Background, ColumnFormula, FitOptions, Formula};
use crate::options::Naming;

/// Columns by name, as a fit reads them.
pub trait FitTable {
    /// What messages call it.
    fn source(&self) -> &str;
    /// Names of all columns.
    fn names(&self) -> Vec<&str>;
    /// Number of rows.
    fn rows(&self) -> usize;
    /// The numbers of a column, NaN where a cell is missing. Errors for texts.
    fn numbers(&self, name: &str) -> Result<&[f64]>;
    /// The cells of a column, whatever they are.
    fn cells(&self, name: &str) -> Result<LevelCells<'_>>;
}

/// The cells of a column of levels.
#[derive(Clone, Copy)]
pub enum LevelCells<'a> {
    /// Numbers, NaN where a cell is missing.
    Numbers(&'a [f64]),
    /// For each row a place among the texts; [`MISSING_CODE`] where a cell is missing.
    Texts(&'a [u32], &'a [String]),
}

impl<'a> From<&'a Cells> for LevelCells<'a> {
    fn from(cells: &'a Cells) -> Self {
        match cells {
            Cells::Numeric(values) => Self::Numbers(values),
            Cells::Categorical { codes, levels } => Self::Texts(codes, levels),
        }
    }
}

impl LevelCells<'_> {
    fn is_missing(&self, row: usize) -> bool {
        match self {
            Self::Numbers(values) => values[row].is_nan(),
            Self::Texts(codes, _) => codes[row] == MISSING_CODE,
        }
    }

    /// The levels of some rows: numbers in ascending order, or texts in alphabetical order.
    pub fn levels(&self, rows: impl Iterator<Item = usize> + Clone) -> Levels {
        match self {
            Self::Numbers(values) => Levels::of_numbers(&rows.map(|row| values[row]).collect::<Vec<f64>>()),
            Self::Texts(codes, names) => {
                Levels::of_texts(rows.map(|row| names.get(codes[row] as usize).map_or("", String::as_str)))
            }
        }
    }
}

impl FitTable for Table {
    fn source(&self) -> &str {
        self.source()
    }

    fn names(&self) -> Vec<&str> {
        self.names().collect()
    }

    fn rows(&self) -> usize {
        self.rows()
    }

    fn numbers(&self, name: &str) -> Result<&[f64]> {
        self.numbers(name)
    }

    fn cells(&self, name: &str) -> Result<LevelCells<'_>> {
        Ok((&self.columns()[self.position(name)?].cells).into())
    }
}

/// The columns of a fit without rows that are left out.
pub struct FitRows<'a> {
    /// Those that the formula uses, in its order.
    pub columns: Vec<Cow<'a, [f64]>>,
    /// Observed values.
    pub y: Cow<'a, [f64]>,
    /// Their standard deviations.
    pub sigma: Option<Cow<'a, [f64]>>,
    /// Standard deviations of the column of the model.
    pub sigma_x: Option<Cow<'a, [f64]>>,
    /// Of the formula's columns of levels.
    pub levels: Vec<Levels>,
    /// Rows with missing cells, which are left out.
    pub dropped: usize,
    /// Rows that the condition leaves out.
    pub excluded: usize,
    /// What tells the data from others, if these are only some of their rows.
    pub fingerprint: Option<String>,
}

/// The numbers of the rows that are used.
enum Kept {
    All(usize),
    Some(Vec<usize>),
}

impl Kept {
    fn len(&self) -> usize {
        match self {
            Self::All(rows) => *rows,
            Self::Some(rows) => rows.len(),
        }
    }

    /// The number in the table of the row at a place.
    fn row(&self, place: usize) -> usize {
        match self {
            Self::All(_) => place,
            Self::Some(rows) => rows[place],
        }
    }

    fn rows(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.len()).map(|place| self.row(place))
    }

    fn of<'a>(&self, column: &'a [f64]) -> Cow<'a, [f64]> {
        match self {
            Self::All(_) => Cow::Borrowed(column),
            Self::Some(rows) => Cow::Owned(rows.iter().map(|&row| column[row]).collect()),
        }
    }
}

impl<'a> FitRows<'a> {
    /// The rows that the options choose of a table, for a formula and what is observed. `naming` spells options in messages.
    ///
    /// Errors if a column is not there or holds texts, a cell is missing unless such rows are dropped, a number is not finite, or no row is left.
    pub fn of(
        options: &FitOptions,
        table: &'a dyn FitTable,
        formula: &Formula,
        target: &str,
        naming: Naming,
    ) -> Result<Self> {
        let names = table.names();
        let observed = ColumnFormula::parse("y", target, &names)?;
        let [sigma, sigma_x, condition] =
            [options.sigma(&names)?, options.sigma_x(&names)?, options.condition(&names)?];
        let formulas = [Some(&observed), sigma.as_ref(), sigma_x.as_ref()];
        let computed = formulas.iter().flatten().flat_map(|formula| formula.columns());
        let used: Vec<&String> = formula.columns().iter().chain(computed).collect();
        let values: Vec<&'a [f64]> = used.iter().map(|name| table.numbers(name)).collect::<Result<_>>()?;
        let level_names = formula.level_columns();
        let cells: Vec<LevelCells<'a>> = level_names.iter().map(|name| table.cells(name)).collect::<Result<_>>()?;
        let is_meant = meant(condition.as_ref(), table)?;
        let is_meant = |row: usize| is_meant.as_ref().is_none_or(|rows| rows[row]);
        let missing = |row: usize| {
            let level = || cells.iter().position(|cells| cells.is_missing(row)).map(|at| level_names[at]);
            values.iter().position(|values| values[row].is_nan()).map(|at| used[at].as_str()).or_else(level)
        };
        let rows = table.rows();
        // Most tables have no missing cell, which is seen faster column by column.
        let is_whole = condition.is_none()
            && values.iter().all(|values| !values.iter().any(|value| value.is_nan()))
            && !cells.iter().any(|cells| (0..rows).any(|row| cells.is_missing(row)));
        let scanned = if is_whole { 0 } else { rows };
        let excluded = (0..scanned).filter(|&row| !is_meant(row)).count();
        let dropped = (0..scanned).filter(|&row| is_meant(row) && missing(row).is_some()).count();
        if !options.drops_missing
            && let Some((row, name)) =
                (0..scanned).filter(|&row| is_meant(row)).find_map(|row| Some((row, missing(row)?)))
        {
            return Err(missing_cell(table.source(), row, name, dropped, naming));
        }
        let kept = match excluded + dropped {
            0 => Kept::All(rows),
            _ => Kept::Some((0..rows).filter(|&row| is_meant(row) && missing(row).is_none()).collect()),
        };
        let place = |at: usize| format!("{}, row {}", table.source(), kept.row(at) + 1);
        for (name, values) in used.iter().zip(&values) {
            if values.iter().any(|value| value.is_infinite())
                && let Some(at) = (0..kept.len()).find(|&at| values[kept.row(at)].is_infinite())
            {
                let (place, value) = (place(at), values[kept.row(at)]);
                return Err(Error::new(format!("{place}: column \"{name}\" is {value}, expected a finite number")));
            }
        }
        if let (true, Some(condition)) = (excluded == rows, &condition) {
            let (text, source) = (condition.text(), table.source());
            return Err(Error::new(format!("where: \"{text}\" holds in no row of {source}: expected at least one")));
        }
        if kept.len() == 0 {
            return Err(Error::new(format!("{}: no row has all values: expected at least one", table.source())));
        }
        let mut picked = values.iter().map(|values| kept.of(values));
        let columns = picked.by_ref().take(formula.columns().len()).collect();
        let mut computed = |what: &str, formula: &ColumnFormula| -> Result<Cow<'a, [f64]>> {
            let columns: Vec<Cow<'a, [f64]>> = picked.by_ref().take(formula.columns().len()).collect();
            if formula.column().is_some() {
                return Ok(columns.into_iter().next().unwrap_or_default());
            }
            let columns: Vec<&[f64]> = columns.iter().map(AsRef::as_ref).collect();
            let computed = formula.values(&columns, kept.len());
            let Some(at) = computed.iter().position(|value| !value.is_finite()) else { return Ok(computed.into()) };
            let (place, value) = (place(at), computed[at]);
            Err(Error::new(format!("{place}: {what}{} is {value}, expected a finite number", formula.text())))
        };
        let y = computed("", &observed)?;
        let sigma = sigma.map(|sigma| computed("sigma = ", &sigma)).transpose()?;
        let sigma_x = sigma_x.map(|sigma| computed("sigma-x = ", &sigma)).transpose()?;
        let levels = cells.iter().map(|cells| cells.levels(kept.rows())).collect();
        Ok(Self { columns, y, sigma, sigma_x, levels, dropped, excluded, fingerprint: None })
    }

    /// Subtracts the background from the observed values, if the options name one.
    pub fn subtract_background(&mut self, options: &FitOptions, formula: &Formula) -> Result<()> {
        if options.background == Background::None {
            return Ok(());
        }
        options.subtract_background(formula, &self.columns, self.y.to_mut())
    }

    /// What is to be minimised.
    pub fn problem(&self, options: &FitOptions, formula: &Formula) -> Result<Problem<'_>> {
        let columns = formula.columns().iter().map(String::as_str).zip(self.columns.iter().map(AsRef::as_ref));
        let columns: Vec<(&str, &[f64])> = columns.collect();
        let levels: Vec<(&str, &Levels)> = formula.level_columns().into_iter().zip(&self.levels).collect();
        let mut problem = Problem::with_levels(formula.clone(), &columns, &levels, &self.y)?;
        if let Some(sigma) = &self.sigma {
            problem = problem.sigma(sigma, options.absolute_sigma)?;
        }
        options.completed(problem)
    }
}

/// For each row whether the condition holds; `None` without one.
fn meant(condition: Option<&ColumnFormula>, table: &dyn FitTable) -> Result<Option<Vec<bool>>> {
    let Some(condition) = condition else { return Ok(None) };
    let columns: Vec<&[f64]> = condition.columns().iter().map(|name| table.numbers(name)).collect::<Result<_>>()?;
    let values = condition.values(&columns, table.rows());
    Ok(Some(values.into_iter().map(|value| value != 0.0 && !value.is_nan()).collect()))
}

fn missing_cell(source: &str, row: usize, name: &str, dropped: usize, naming: Naming) -> Error {
    let more = match dropped - 1 {
        0 => String::new(),
        1 => " (and 1 row more)".to_owned(),
        more => format!(" (and {more} rows more)"),
    };
    let option = match naming {
        Naming::Command => "--missing drop",
        _ => "missing=\"drop\"",
    };
    let row = row + 1;
    Error::new(format!(
        "{source}, row {row}: column \"{name}\" has a missing cell{more}: expected numbers; {option} leaves such rows out"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Column;

    fn table(y: &[f64]) -> Table {
        let x = Column::numeric("x", vec![1.0, 2.0, 3.0, 4.0]);
        Table::new("rows.csv", vec![x, Column::numeric("y", y.to_vec())]).unwrap()
    }

    #[test]
    fn whole_columns_are_borrowed() {
        let (table, options) = (table(&[2.0, 4.0, 6.0, 8.0]), FitOptions::default());
        let formula = Formula::parse("a*x", &["x", "y"]).unwrap();
        let rows = FitRows::of(&options, &table, &formula, "y", Naming::Command).unwrap();
        assert!(matches!((&rows.columns[0], &rows.y), (Cow::Borrowed(_), Cow::Borrowed(_))));
        let doubled = FitRows::of(&options, &table, &formula, "2*y", Naming::Command).unwrap();
        assert_eq!(doubled.y[..], [4.0, 8.0, 12.0, 16.0]);
    }

    #[test]
    fn rows_are_left_out() {
        let table = table(&[2.0, f64::NAN, 6.0, 8.0]);
        let formula = Formula::parse("a*x", &["x", "y"]).unwrap();
        let of = |options: &FitOptions, naming| FitRows::of(options, &table, &formula, "y", naming);
        let message = |naming| of(&FitOptions::default(), naming).err().unwrap().to_string();
        let start = "rows.csv, row 2: column \"y\" has a missing cell: expected numbers; ";
        assert_eq!(message(Naming::Command), format!("{start}--missing drop leaves such rows out"));
        assert_eq!(message(Naming::Python), format!("{start}missing=\"drop\" leaves such rows out"));
        let options = FitOptions { drops_missing: true, condition: Some("x < 4".into()), ..FitOptions::default() };
        let rows = of(&options, Naming::Command).unwrap();
        assert_eq!((&rows.columns[0][..], &rows.y[..]), (&[1.0, 3.0][..], &[2.0, 6.0][..]));
        assert_eq!((rows.dropped, rows.excluded), (1, 1));
    }
}
