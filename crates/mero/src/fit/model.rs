//! What `mero fit` is told of the model: formula, ties, starts, bounds and fixed values.

use super::args::Args;
use crate::options::pairs::{pairs, range, split, value};
use crate::terminal::console;
use crate::{Answer, Failure};
use meromorph::Error;
use meromorph::error::listed;
use meromorph::fit::{Formula, Problem, is_named, named};
use meromorph::program::parse::is_name;

impl Args {
    /// The formula with its ties, and what is observed.
    pub(super) fn model(&self, names: &[&str]) -> Answer<(Formula, String)> {
        let mut formula = self.formula(names)?;
        check_names(&formula, names)?;
        for tie in &self.tie {
            let (name, text) = split(tie, "tie", "d=2*a")?;
            formula = formula.tied(name, text)?;
        }
        let target = self.target(names, &formula)?;
        let is_euler = self.model.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "e");
        if is_euler && !names.contains(&"e") {
            console::complain("mero fit: e in the model is 2.718…, not a parameter; a parameter needs another name");
        }
        Ok((formula, target))
    }

    /// The model: a formula, or a named model over the first column that is not y.
    fn formula(&self, names: &[&str]) -> Answer<Formula> {
        let model = self.model.trim();
        let others = [self.y.as_deref(), self.sigma.as_deref()];
        let first = names.iter().find(|name| !others.contains(&Some(**name)));
        let text = match first {
            // A column alone has no parameters, so a name that is both means the model.
            Some(first) if is_name(model) && (!names.contains(&model) || is_named(model)) => named(model, first)?,
            _ => model.to_owned(),
        };
        Ok(Formula::parse(&text, names).map_err(|error| explained(error, names))?)
    }

    /// The observed values: those of `--y`, or the last column that the model does not use.
    fn target(&self, names: &[&str], formula: &Formula) -> Answer<String> {
        if let Some(y) = &self.y {
            return Ok(y.clone());
        }
        let is_used = |name: &str| {
            formula.columns().iter().any(|known| known == name)
                || formula.level_columns().contains(&name)
                || self.sigma.as_deref() == Some(name)
        };
        let unused = names.iter().rfind(|name| !is_used(name));
        let error =
            || Failure::usage("y: the model uses every column: expected --y with the column of the observed values");
        unused.map(|name| (*name).to_owned()).ok_or_else(error)
    }

    /// The problem with starts, bounds and fixed parameters.
    pub(super) fn known<'a>(&self, mut problem: Problem<'a>) -> Answer<Problem<'a>> {
        if self.method != "lm" {
            problem = problem.usual_bounds();
        }
        for (name, text) in pairs(&self.bounds, "bounds", "a=0:10")? {
            let [low, high] = range(name, text)?;
            problem = problem.bounds(name, low, high)?;
        }
        let (starts, fixed) = (pairs(&self.p0, "p0", "a=1,b=0.1")?, pairs(&self.fix, "fix", "c=0")?);
        if let Some((name, _)) = starts.iter().find(|(name, _)| fixed.iter().any(|(other, _)| other == name)) {
            return Err(Failure::usage(format!("p0: {name} is fixed: expected --p0 or --fix for it, not both")));
        }
        for (name, text) in starts {
            problem = problem.start(name, value("p0", name, text)?)?;
        }
        for (name, text) in fixed {
            problem = problem.fix(name, value("fix", name, text)?)?;
        }
        Ok(problem)
    }
}

/// Errors if the formula uses no column; perhaps a parameter is a mistyped one.
fn check_names(formula: &Formula, names: &[&str]) -> Answer {
    if !formula.columns().is_empty() {
        return Ok(());
    }
    let like = |name: &String| names.iter().find(|column| column.eq_ignore_ascii_case(name));
    let near = formula.parameters().iter().find_map(like);
    let near = near.map_or(String::new(), |column| format!("; did you mean \"{column}\"?"));
    let columns = listed(names);
    Err(Failure::usage(format!("model: it uses no column: expected at least one of {columns}{near}")))
}

/// An error of the formula with the columns of the table.
fn explained(error: Error, names: &[&str]) -> Error {
    let message = error.to_string();
    if message.starts_with("model: ") {
        return error;
    }
    let is_word = |name: &&&str| !is_name(name) || name.contains('-');
    let odd = names.iter().find(is_word).map_or(String::new(), |name| {
        format!("; to use \"{name}\", rename it: names in a formula have only letters, digits and _")
    });
    Error::usage(format!("model: {message}; columns are {}{odd}", listed(names)))
}
