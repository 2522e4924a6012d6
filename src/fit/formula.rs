//! A model as a formula: names of data columns are variables, all other names are parameters.

use super::library::expanded;
use crate::error::{Error, Result, listed};
use crate::program::Program;
use crate::program::parse::{free_names, parse};

/// A model formula over data columns and parameters.
///
/// ```
/// use meromorph::fit::Formula;
/// let formula = Formula::parse("a * exp(-b * x) + c", &["x", "y"])?;
/// assert_eq!(formula.parameters(), ["a", "b", "c"]);
/// assert_eq!(formula.columns(), ["x"]);
/// # Ok::<(), meromorph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    text: String,
    parameters: Vec<String>,
    columns: Vec<String>,
    /// All columns of the table, which ties may not use.
    table: Vec<String>,
    ties: Vec<Tie>,
    /// Parameters of named models that are positive.
    positive: Vec<String>,
    /// Over the parameters, then the columns.
    program: Program,
}

/// A parameter that is a formula of others.
#[derive(Clone, Debug, PartialEq)]
pub struct Tie {
    /// Its name.
    pub name: String,
    /// Its formula.
    pub text: String,
    /// Over the formula's parameters.
    pub(super) program: Program,
}

impl Formula {
    /// Parses a formula with one result. Names that are not in `columns`, nor assigned in the formula, nor `pi` or `e`, are parameters, in the
    /// order of their first use. Calls of named models are replaced by their formulas; see [`MODELS`](super::MODELS).
    pub fn parse(text: &str, columns: &[&str]) -> Result<Self> {
        let (whole, positive) = expanded(text)?;
        let parameters = free_names(&whole, columns, &[])?;
        if parameters.is_empty() {
            return Err(Error::usage(
                "model: it has no parameters: every name in it is a column, a constant or a function",
            ));
        }
        let names: Vec<&str> = parameters.iter().map(String::as_str).chain(columns.iter().copied()).collect();
        let program = parse(&whole, &names, &[])?;
        if program.results.len() != 1 {
            let got = program.results.len();
            return Err(Error::usage(format!("model: got {got} formulas separated by commas, expected one")));
        }
        let (program, used) = program.compacted();
        if let Some(unused) = (0..parameters.len()).find(|at| !used.contains(at)) {
            let name = &parameters[unused];
            return Err(Error::usage(format!("model: the parameter \"{name}\" cancels out of the formula")));
        }
        let owned = |name: &&str| (*name).to_owned();
        let used_columns =
            used.iter().filter_map(|&at| columns.get(at.checked_sub(parameters.len())?)).map(owned).collect();
        let table = columns.iter().map(owned).collect();
        Ok(Self {
            text: text.to_owned(),
            parameters,
            columns: used_columns,
            table,
            ties: Vec::new(),
            positive,
            program,
        })
    }

    /// The same with a parameter that is computed from others: `tied("d", "2 * a")`. Errors if the formula has no such parameter, or if the
    /// other formula uses a data column or the parameter itself.
    pub fn tied(self, name: &str, text: &str) -> Result<Self> {
        let wrong = |what: String| Err(Error::usage(format!("tie: {what}")));
        let Some(at) = self.parameters.iter().position(|known| known == name) else {
            let known: Vec<&str> = self.parameters.iter().map(String::as_str).collect();
            return wrong(format!("\"{name}\" is not a parameter: expected one of {}", listed(&known)));
        };
        let names = free_names(text, &[], &[]).map_err(|error| error.within("tie"))?;
        if let Some(tied) = self.ties.iter().find(|tie| names.contains(&tie.name) || tie.name == name) {
            let tied = &tied.name;
            return wrong(format!("\"{name}\": \"{tied}\" is tied already: expected parameters that are not"));
        }
        if let Some(column) = self.table.iter().find(|column| names.contains(column)) {
            return wrong(format!("\"{name}\" uses the column \"{column}\": expected parameters only"));
        }
        if names.iter().any(|known| known == name) {
            return wrong(format!("\"{name}\" uses itself"));
        }
        let mut parameters: Vec<String> = self.parameters.iter().filter(|known| *known != name).cloned().collect();
        parameters.extend(names.into_iter().filter(|name| !self.parameters.contains(name)));
        let all: Vec<&str> = parameters.iter().map(String::as_str).collect();
        let inner = parse(text, &all, &[]).map_err(|error| error.within("tie"))?;
        if inner.results.len() != 1 {
            return wrong(format!("got {} formulas separated by commas, expected one", inner.results.len()));
        }
        let count = parameters.len();
        let place = |old: &String| parameters.iter().position(|known| known == old).unwrap_or(0);
        let mut outer: Vec<usize> = self.parameters.iter().map(place).collect();
        outer.extend(count..count + self.columns.len());
        let own: Vec<usize> = (0..count).collect();
        let program = self.program.inlined(at, &inner, count + self.columns.len(), &outer, &own);
        let mut ties: Vec<Tie> = Vec::new();
        for tie in &self.ties {
            // An earlier tie may use the parameter that is now computed.
            let program = tie.program.inlined(at, &inner, count, &outer[..self.parameters.len()], &own);
            ties.push(Tie { program, ..tie.clone() });
        }
        ties.push(Tie { name: name.to_owned(), text: text.to_owned(), program: inner });
        Ok(Self { parameters, ties, program, ..self })
    }

    /// The text it was parsed from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Names of the parameters.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// Names of the data columns that it uses.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Parameters that are computed from others.
    pub fn ties(&self) -> &[Tie] {
        &self.ties
    }

    /// Parameters of named models for which a negative value has no meaning.
    pub(super) fn positive(&self) -> &[String] {
        &self.positive
    }

    /// Its program over the parameters, then the columns.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_columns_are_parameters() {
        let formula = Formula::parse("k = 2 * b; a * sin(k * x) + gamma", &["t", "x"]).unwrap();
        assert_eq!(formula.parameters(), ["b", "a", "gamma"]);
        assert_eq!(formula.columns(), ["x"]);
        assert_eq!(formula.program().at(&[0.5, 3.0, 1.0, 0.25]), [3.0 * 0.25_f64.sin() + 1.0]);
    }

    #[test]
    fn ties_replace_parameters() {
        let formula = Formula::parse("a * x + d + g", &["x"]).unwrap();
        let formula = formula.tied("d", "2 * a + h").unwrap().tied("a", "g * g").unwrap();
        assert_eq!(formula.parameters(), ["g", "h"]);
        assert_eq!(formula.program().at(&[3.0, 5.0, 10.0]), [9.0 * 10.0 + 2.0 * 9.0 + 5.0 + 3.0]);
        let ties: Vec<f64> = formula.ties().iter().map(|tie| tie.program.at(&[3.0, 5.0])[0]).collect();
        assert_eq!(ties, [23.0, 9.0]);
    }

    #[test]
    fn wrong_formulas_are_named() {
        let cases = [
            ("a*x, b", "model: got 2 formulas separated by commas, expected one"),
            ("a*x + 0*b", "model: the parameter \"b\" cancels out of the formula"),
            ("a*x +", "formula, character 6: got the end, expected a number, a name or \"(\" (in \"a*x +\")"),
        ];
        for (text, message) in cases {
            assert_eq!(Formula::parse(text, &["x"]).unwrap_err().to_string(), message);
        }
        let formula = Formula::parse("a*x + b", &["x"]).unwrap();
        let tie = |name, text| formula.clone().tied(name, text).unwrap_err().to_string();
        assert_eq!(tie("c", "a"), "tie: \"c\" is not a parameter: expected one of \"a\", \"b\"");
        assert_eq!(tie("b", "2*x"), "tie: \"b\" uses the column \"x\": expected parameters only");
        assert_eq!(tie("b", "2*b"), "tie: \"b\" uses itself");
    }
}
