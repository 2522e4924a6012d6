//! Formulas over columns without parameters: observed values, standard deviations, and which rows are used.

use super::quoted::unquoted;
use crate::error::{Error, Result, hint, listed};
use crate::program::Program;
use crate::program::parse::{free_names, parse};

/// A formula over columns.
///
/// ```
/// use meromorph::fit::ColumnFormula;
/// let formula = ColumnFormula::parse("where", "x > 1 && y < 5", &["x", "y"])?;
/// assert_eq!(formula.columns(), ["x", "y"]);
/// assert_eq!(formula.values(&[&[0.0, 2.0, 2.0], &[4.0, 4.0, 6.0]], 3), [0.0, 1.0, 0.0]);
/// # Ok::<(), meromorph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnFormula {
    text: String,
    columns: Vec<String>,
    /// `None` for a column itself.
    program: Option<Program>,
}

impl ColumnFormula {
    /// Parses what the option `option` says, over a table with these columns: the name of one of them, or a formula.
    pub fn parse(option: &str, text: &str, columns: &[&str]) -> Result<Self> {
        let text = text.trim();
        if columns.contains(&text) {
            return Ok(Self { text: text.to_owned(), columns: vec![text.to_owned()], program: None });
        }
        Self::formula(text, columns).map_err(|error| {
            let message = error.to_string();
            Error::usage(format!("{option}: {}", message.strip_prefix("model: ").unwrap_or(&message)))
        })
    }

    fn formula(text: &str, columns: &[&str]) -> Result<Self> {
        let unquoted = unquoted(text, columns)?;
        let names = unquoted.names(columns);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let explained = |error: Error| unquoted.explained(error, columns);
        if let Some(unknown) = free_names(&unquoted.text, &names, &[]).map_err(explained)?.first() {
            let (all, near) = (listed(columns), hint(unknown, columns.iter().copied()));
            return Err(Error::usage(format!("got \"{unknown}\", expected a column, one of {all}{near}")));
        }
        let (program, used) = parse(&unquoted.text, &names, &[]).map_err(explained)?.compacted();
        if program.results.len() != 1 {
            let got = program.results.len();
            return Err(Error::usage(format!("got {got} formulas separated by commas, expected one")));
        }
        // A column in quotes is the column itself.
        let is_column = used.len() == 1 && program == Program::build(1, |inputs| inputs[0]);
        let columns = used.into_iter().map(|at| columns[at].to_owned()).collect();
        Ok(Self { text: text.to_owned(), columns, program: (!is_column).then_some(program) })
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The columns that it uses.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The column that it is, if it is one.
    pub fn column(&self) -> Option<&str> {
        if self.program.is_some() { None } else { self.columns.first().map(String::as_str) }
    }

    /// Its value in each of so many rows of its columns.
    pub fn values(&self, columns: &[&[f64]], rows: usize) -> Vec<f64> {
        match &self.program {
            Some(program) => program.results(columns, rows).swap_remove(0),
            None => columns[0].to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_computed_in_each_row() {
        let names = ["n", "I [mA]"];
        let columns: [&[f64]; 1] = [&[0.25, 4.0, 9.0]];
        let sigma = ColumnFormula::parse("sigma", "max(1, sqrt(n))", &names).unwrap();
        assert_eq!((sigma.columns(), sigma.column()), (&["n".to_owned()][..], None));
        assert_eq!(sigma.values(&columns, 3), [1.0, 2.0, 3.0]);
        for text in ["I [mA]", "[I [mA]]", "\"I [mA]\""] {
            assert_eq!(ColumnFormula::parse("y", text, &names).unwrap().column(), Some("I [mA]"), "{text}");
        }
        let condition = ColumnFormula::parse("where", "0 < n < 5 || n == 9", &names).unwrap();
        assert_eq!(condition.values(&columns, 3), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn mistakes_are_explained() {
        let error = |text: &str| ColumnFormula::parse("sigma", text, &["n", "err"]).unwrap_err().to_string();
        assert_eq!(error("sqrt(m)"), "sigma: got \"m\", expected a column, one of \"n\", \"err\"");
        assert_eq!(error("n, n"), "sigma: got 2 formulas separated by commas, expected one");
    }
}
