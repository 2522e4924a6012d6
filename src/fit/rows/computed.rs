//! Rows of a source with columns that are computed from its own: observed values and standard deviations by formulas, and rows that a condition
//! leaves out, in constant memory.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::files::RowSource;
use crate::fit::formula::ColumnFormula;

/// A source with computed columns behind its own, each called as its formula is written. Where the condition does not hold, the observed value is
/// missing.
pub struct ComputedRows<'a> {
    source: Box<dyn RowSource + 'a>,
    names: Vec<String>,
    /// Formulas of the columns behind those of the source.
    formulas: Vec<ColumnFormula>,
    /// The column of observed values.
    y: usize,
    condition: Option<ColumnFormula>,
    /// Whether rows with a missing number may be left out.
    drops: bool,
}

impl<'a> ComputedRows<'a> {
    /// The source with the observed values `y` and standard deviations by formulas. Rows where `condition` is 0 have no observed value; if rows with a
    /// missing number are not left out (`drops`), reading a missing number in another row is an error.
    pub fn new(
        source: Box<dyn RowSource + 'a>,
        y: ColumnFormula,
        sigma: Option<ColumnFormula>,
        condition: Option<ColumnFormula>,
        drops: bool,
    ) -> Self {
        let mut names = source.columns().to_vec();
        let target = y.text().to_owned();
        let formulas: Vec<ColumnFormula> = [Some(y), sigma].into_iter().flatten().collect();
        let formulas: Vec<ColumnFormula> =
            formulas.into_iter().filter(|formula| !names.iter().any(|name| name == formula.text())).collect();
        names.extend(formulas.iter().map(|formula| formula.text().to_owned()));
        let y = names.iter().position(|name| *name == target).unwrap_or_default();
        Self { source, names, formulas, y, condition, drops }
    }

    /// The values of a formula in some rows.
    fn values(&self, formula: &ColumnFormula, range: &Range<usize>) -> Result<Vec<f64>> {
        let known = self.source.columns();
        let places = formula.columns().iter().filter_map(|name| known.iter().position(|other| other == name));
        let places: Vec<usize> = places.collect();
        let mut columns = vec![vec![0.0; range.len()]; places.len()];
        let mut into: Vec<&mut [f64]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
        self.source.read(range.clone(), &places, &mut into)?;
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        Ok(formula.values(&columns, range.len()))
    }
}

impl RowSource for ComputedRows<'_> {
    fn rows(&self) -> usize {
        self.source.rows()
    }

    fn columns(&self) -> &[String] {
        &self.names
    }

    fn read(&self, range: Range<usize>, places: &[usize], into: &mut [&mut [f64]]) -> Result<()> {
        let own = self.source.columns().len();
        let (mut given, mut buffers): (Vec<usize>, Vec<&mut [f64]>) = (Vec::new(), Vec::new());
        for (&place, buffer) in places.iter().zip(into.iter_mut()) {
            if place < own {
                given.push(place);
                buffers.push(buffer);
            } else {
                buffer.copy_from_slice(&self.values(&self.formulas[place - own], &range)?);
            }
        }
        self.source.read(range.clone(), &given, &mut buffers)?;
        let Some(condition) = &self.condition else { return Ok(()) };
        for (row, value) in self.values(condition, &range)?.into_iter().enumerate() {
            if value == 0.0 || value.is_nan() {
                let observed = places.iter().zip(into.iter_mut()).filter(|(place, _)| **place == self.y);
                observed.for_each(|(_, buffer)| buffer[row] = f64::NAN);
                continue;
            }
            let missing = places.iter().zip(into.iter()).find(|(_, buffer)| buffer[row].is_nan());
            if let (false, Some((&place, _))) = (self.drops, missing) {
                let (row, name) = (range.start + row + 1, &self.names[place]);
                return Err(Error::new(format!(
                    "fit: column \"{name}\", row {row}: got NaN, expected a finite number"
                )));
            }
        }
        Ok(())
    }

    fn fingerprint(&self) -> Result<String> {
        let texts = self.formulas.iter().chain(&self.condition).map(ColumnFormula::text);
        Ok(texts.fold(self.source.fingerprint()?, |all, text| format!("{all}\n{text}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x = 0, 1, 2, 3 and n = x², which is missing at 3.
    struct Squares(Vec<String>);

    impl RowSource for Squares {
        fn rows(&self) -> usize {
            4
        }

        fn columns(&self) -> &[String] {
            &self.0
        }

        fn read(&self, range: Range<usize>, places: &[usize], into: &mut [&mut [f64]]) -> Result<()> {
            for (&place, buffer) in places.iter().zip(into) {
                for (row, value) in range.clone().zip(buffer.iter_mut()) {
                    let x = row as f64;
                    *value = if place == 0 { x } else { [0.0, 1.0, 4.0, f64::NAN][row] };
                }
            }
            Ok(())
        }

        fn fingerprint(&self) -> Result<String> {
            Ok(String::new())
        }
    }

    #[test]
    fn columns_are_computed_and_rows_left_out() {
        let make = |drops| {
            let source = Squares(vec!["x".to_owned(), "n".to_owned()]);
            let names = ["x", "n"];
            let formula = |option, text| ColumnFormula::parse(option, text, &names).unwrap();
            let [y, sigma, condition] =
                [formula("y", "2*n"), formula("sigma", "max(1, sqrt(n))"), formula("where", "x != 1")];
            ComputedRows::new(Box::new(source), y, Some(sigma), Some(condition), drops)
        };
        let source = make(true);
        assert_eq!(source.columns(), ["x", "n", "2*n", "max(1, sqrt(n))"]);
        let mut columns = [[0.0; 3]; 3];
        let mut into: Vec<&mut [f64]> = columns.iter_mut().map(|column| &mut column[..]).collect();
        source.read(0..3, &[2, 0, 3], &mut into).unwrap();
        assert_eq!(columns[1..], [[0.0, 1.0, 2.0], [1.0, 1.0, 2.0]]);
        assert!(columns[0][1].is_nan() && columns[0][0] == 0.0 && columns[0][2] == 8.0);
        let mut last = [[0.0]];
        let error = make(false).read(3..4, &[2], &mut [&mut last[0]]).unwrap_err().to_string();
        assert_eq!(error, "fit: column \"2*n\", row 4: got NaN, expected a finite number");
        make(true).read(3..4, &[2], &mut [&mut last[0]]).unwrap();
    }
}
