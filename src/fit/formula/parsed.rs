//! A model as a formula: names of data columns are variables, all other names are parameters.

use super::indexed::{Indexed, without_indexes};
use super::integral::{Integral, replaced};
use super::library::expanded;
use super::quoted::unquoted;
use super::terms::summands;
use crate::error::{Error, Result, listed};
use crate::program::expr::sqrt;
use crate::program::parse::{free_names, parse};
use crate::program::{Expr, Program};

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
    /// For each parameter the columns for whose levels it has a value each.
    levels: Vec<Vec<String>>,
    integrals: Vec<Integral>,
    /// Over the parameters, then the columns, then the integrals.
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
    pub(crate) program: Program,
}

impl Formula {
    /// Parses a formula with one result. Names that are not in `columns`, nor assigned in the formula, nor `pi` or `e`, are parameters, in the
    /// order of their first use. Calls of named models are replaced by their formulas; see [`MODELS`](super::MODELS).
    ///
    /// `a[set]` is a parameter with a value for each level of the column `set`, `a[set, day]` for each of their combinations.
    /// `cumint(f(t), t)` is the integral of f over the column t from its smallest value to that of the row, and `cumint(f(u), u, from, to)` the
    /// one from the value in one column to that in another, both by the trapezoid rule on the distinct values of these columns.
    ///
    /// A column whose name is no word is written `[Time (s)]` or `"Time (s)"`.
    pub fn parse(text: &str, columns: &[&str]) -> Result<Self> {
        let unquoted = unquoted(text, columns)?;
        let names = unquoted.names(columns);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let parsed = Self::parse_words(&unquoted.text, &names).map_err(|error| unquoted.explained(error, columns))?;
        let true_name = |name: &mut String| {
            if let Some(at) = names.iter().position(|known| known == name) {
                columns[at].clone_into(name);
            }
        };
        let Self { mut columns, mut table, mut levels, .. } = parsed;
        columns.iter_mut().chain(&mut table).chain(levels.iter_mut().flatten()).for_each(true_name);
        Ok(Self { text: text.to_owned(), columns, table, levels, ..parsed })
    }

    /// The same where every name of a column is a word.
    fn parse_words(text: &str, columns: &[&str]) -> Result<Self> {
        let (whole, positive) = expanded(text, columns)?;
        let Indexed { text: whole, levels } = without_indexes(&whole, columns)?;
        let replaced = replaced(&whole, columns)?;
        let variables = replaced.calls.iter().map(|call| call.variable.as_str());
        let known: Vec<&str> = columns.iter().copied().chain(variables).collect();
        let parameters = free_names(&replaced.names, &known, &[])?;
        if parameters.is_empty() {
            return Err(Error::usage(
                "model: it has no parameters: every name in it is a column, a constant or a function",
            ));
        }
        let stand_ins = replaced.calls.iter().map(|call| call.name.as_str());
        let names: Vec<&str> =
            parameters.iter().map(String::as_str).chain(columns.iter().copied()).chain(stand_ins).collect();
        let program = parse(&replaced.text, &names, &[])?;
        if program.results.len() != 1 {
            let got = program.results.len();
            return Err(Error::usage(format!("model: got {got} formulas separated by commas, expected one")));
        }
        let (count, of_integrals) = (parameters.len(), parameters.len() + columns.len());
        let calls = replaced.calls.iter().enumerate().filter(|(at, _)| program.uses(of_integrals + at));
        let calls: Vec<(usize, &super::integral::Call)> = calls.collect();
        let is_end = |column: &str| calls.iter().any(|(_, call)| call.ends.iter().any(|end| end == column));
        let used = columns.iter().enumerate().filter(|(at, column)| program.uses(count + at) || is_end(column));
        let used: Vec<usize> = used.map(|(at, _)| at).collect();
        let owned = |name: &&str| (*name).to_owned();
        let used_columns: Vec<String> = used.iter().map(|&at| columns[at].to_owned()).collect();
        let integrals: Vec<Integral> =
            calls.iter().map(|(_, call)| call.integral(&parameters, &used_columns)).collect::<Result<_>>()?;
        let is_used = |at: usize| program.uses(at) || integrals.iter().any(|integral| integral.program.uses(at));
        if let Some(unused) = (0..count).find(|&at| !is_used(at)) {
            let name = &parameters[unused];
            return Err(Error::usage(format!("model: the parameter \"{name}\" cancels out of the formula")));
        }
        let program = Program::build(count + used.len() + integrals.len(), |inputs| {
            let mut taken = vec![Expr::from(0.0); names.len()];
            taken[..count].copy_from_slice(&inputs[..count]);
            used.iter().zip(&inputs[count..]).for_each(|(&at, input)| taken[count + at] = *input);
            let values = calls.iter().zip(&inputs[count + used.len()..]);
            values.for_each(|((at, _), input)| taken[of_integrals + at] = *input);
            program.emit(&taken)
        });
        let levels = parameters.iter().map(|name| {
            let found = levels.iter().find(|(known, _)| known == name);
            found.map_or(Vec::new(), |(_, columns)| columns.clone())
        });
        Ok(Self {
            text: text.to_owned(),
            levels: levels.collect(),
            parameters,
            columns: used_columns,
            table: columns.iter().map(owned).collect(),
            ties: Vec::new(),
            positive,
            integrals,
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
        let has_levels = |known: &String| names.contains(known) || known == name;
        if let Some(at) =
            (0..self.parameters.len()).find(|&at| !self.levels[at].is_empty() && has_levels(&self.parameters[at]))
        {
            let (other, levels) = (&self.parameters[at], self.levels[at].join(", "));
            return wrong(format!(
                "\"{name}\": {other}[{levels}] has a value for each level: expected parameters with one value"
            ));
        }
        let kept = |at: &usize| self.parameters[*at] != name;
        let mut parameters: Vec<String> =
            (0..self.parameters.len()).filter(kept).map(|at| self.parameters[at].clone()).collect();
        let mut levels: Vec<Vec<String>> =
            (0..self.parameters.len()).filter(kept).map(|at| self.levels[at].clone()).collect();
        parameters.extend(names.into_iter().filter(|name| !self.parameters.contains(name)));
        levels.resize(parameters.len(), Vec::new());
        let all: Vec<&str> = parameters.iter().map(String::as_str).collect();
        let inner = parse(text, &all, &[]).map_err(|error| error.within("tie"))?;
        if inner.results.len() != 1 {
            return wrong(format!("got {} formulas separated by commas, expected one", inner.results.len()));
        }
        let count = parameters.len();
        let place = |old: &String| parameters.iter().position(|known| known == old).unwrap_or(0);
        let inputs = count + self.columns.len() + self.integrals.len();
        let mut outer: Vec<usize> = self.parameters.iter().map(place).collect();
        outer.extend(count..inputs);
        let own: Vec<usize> = (0..count).collect();
        let program = self.program.inlined(at, &inner, inputs, &outer, &own);
        let mut integrals = self.integrals.clone();
        for integral in &mut integrals {
            let outer = &outer[..=self.parameters.len()];
            integral.program = integral.program.inlined(at, &inner, count + 1, outer, &own);
        }
        let mut ties: Vec<Tie> = Vec::new();
        for tie in &self.ties {
            // An earlier tie may use the parameter that is now computed.
            let program = tie.program.inlined(at, &inner, count, &outer[..self.parameters.len()], &own);
            ties.push(Tie { program, ..tie.clone() });
        }
        ties.push(Tie { name: name.to_owned(), text: text.to_owned(), program: inner });
        Ok(Self { parameters, ties, levels, integrals, program, ..self })
    }

    /// The summands of the formula with their texts, over the parameters with those that are tied, then the columns; none if there is one only, or if
    /// parameters have levels or the formula has integrals.
    pub(crate) fn summands(&self, parameters: &[&str]) -> Result<Vec<(String, Program)>> {
        if self.integrals.iter().len() > 0 || !self.level_columns().is_empty() {
            return Ok(Vec::new());
        }
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let unquoted = unquoted(&self.text, &columns)?;
        let names = unquoted.names(&columns);
        let names: Vec<&str> = parameters.iter().copied().chain(names.iter().map(String::as_str)).collect();
        let (whole, _) = expanded(&unquoted.text, &names[parameters.len()..])?;
        let ((_, shown), (before, parts)) = (summands(&self.text), summands(&whole));
        if parts.len() < 2 || parts.len() != shown.len() {
            return Ok(Vec::new());
        }
        let part = |((sign, part), (_, shown)): (&(f64, &str), &(f64, &str))| {
            let program = parse(&format!("{before}{part}"), &names, &[])?;
            let program = Program::build(names.len(), |inputs| program.emit(inputs) * *sign);
            Ok((if *sign < 0.0 { format!("−{shown}") } else { (*shown).to_owned() }, program))
        };
        parts.iter().zip(&shown).map(part).collect()
    }

    /// The formula of residuals in units of their standard deviations, where the one column has errors: over the parameters, the column, y and the standard
    /// deviations of the column and of y.
    pub(crate) fn inexact(&self) -> Self {
        let count = self.parameters.len();
        let partial = self.program.with_gradient(&[count]);
        let program = Program::build(count + 4, |inputs| {
            let values = partial.emit_all(&inputs[..=count]);
            let [y, sigma_x, sigma] = [1, 2, 3].map(|at| inputs[count + at]);
            let across = values[1] * sigma_x;
            (values[0] - y) / sqrt(sigma * sigma + across * across)
        });
        let columns = self.columns.iter().cloned().chain(["y", "sigma_x", "sigma"].map(str::to_owned));
        Self { columns: columns.collect(), program, ..self.clone() }
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

    /// Columns for whose levels the parameter at a place has a value each; none for most parameters.
    pub fn levels(&self, parameter: usize) -> &[String] {
        &self.levels[parameter]
    }

    /// All columns for whose levels a parameter has a value each.
    pub fn level_columns(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for column in self.levels.iter().flatten() {
            if !all.contains(&column.as_str()) {
                all.push(column);
            }
        }
        all
    }

    /// The formula with a value of every parameter for each level of a column, so that the rows of each level are a fit of their own. Errors if it has
    /// other levels, or parameters that are computed from others.
    pub fn for_each(self, column: &str) -> Result<Self> {
        if !self.level_columns().is_empty() || !self.ties.is_empty() {
            return Err(Error::usage(
                "fitMany: every parameter has a value for each fit: expected no [levels] and no tie",
            ));
        }
        let levels = vec![vec![column.to_owned()]; self.parameters.len()];
        Ok(Self { levels, ..self })
    }

    /// The same with one value for every parameter.
    pub(crate) fn without_levels(&self) -> Self {
        Self { levels: vec![Vec::new(); self.parameters.len()], ..self.clone() }
    }

    /// The integrals whose values are inputs of the program.
    pub(crate) fn integrals(&self) -> &[Integral] {
        &self.integrals
    }

    /// Parameters that are computed from others.
    pub fn ties(&self) -> &[Tie] {
        &self.ties
    }

    /// Parameters of named models for which a negative value has no meaning.
    pub(crate) fn positive(&self) -> &[String] {
        &self.positive
    }

    /// Its program over the parameters, then the columns, then the values of the integrals in it.
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
