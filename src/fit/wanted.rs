//! What the options of a fit mean: the formula over a table, what is observed, which rows are used, the problem, and what is added to its solution.

use super::answer::check_derived;
use super::formula::quoted;
use super::observed::{error_column, looks_like_errors};
use super::{
    ColumnFormula, Fit, FitOptions, Formula, Method, Problem, RobustLoss, SolveOptions, add_bootstrap, add_derived,
    add_posterior, add_profiles, is_named, named, solve_inexact, with_errors_in_x,
};
use crate::error::{Error, Result, listed};
use crate::options::Naming;
use crate::program::parse::is_name;

impl FitOptions {
    /// The model with its ties, over columns called `names`. `model` is a formula, or a named model over the first column that is not observed.
    pub fn formula(&self, model: &str, names: &[&str]) -> Result<Formula> {
        let model = model.trim();
        let others = [self.y.as_deref(), self.sigma.as_deref()].map(|text| text.map(str::trim));
        let first = names.iter().find(|name| !others.contains(&Some(**name)) && !others.contains(&Some(&quoted(name))));
        let text = match first {
            // A column alone has no parameters, so a name that is both means the model.
            Some(first) if is_name(model) && (!names.contains(&model) || is_named(model)) => named(model, first)?,
            _ => model.to_owned(),
        };
        let mut formula = Formula::parse(&text, names).map_err(|error| explained(error, names))?;
        check_columns(&formula, names)?;
        for (name, text) in &self.ties {
            formula = formula.tied(name, text)?;
        }
        Ok(formula)
    }

    /// The observed values: those of the option y, or the last column that the model does not use and whose name is none of standard errors.
    pub fn target(&self, names: &[&str], formula: &Formula) -> Result<String> {
        if let Some(y) = &self.y {
            let y = ColumnFormula::parse("y", y, names)?;
            return Ok(y.column().unwrap_or(y.text()).to_owned());
        }
        let sigma = self.sigma(names)?;
        let is_used = |name: &str| {
            formula.columns().iter().any(|known| known == name)
                || formula.level_columns().contains(&name)
                || sigma.as_ref().is_some_and(|sigma| sigma.column() == Some(name))
        };
        let unused: Vec<&str> = names.iter().copied().filter(|name| !is_used(name)).collect();
        let values = unused.iter().rfind(|name| !looks_like_errors(name));
        values.or(unused.last()).map(|name| (*name).to_owned()).ok_or_else(|| {
            Error::usage("y: the model uses every column: expected the option y with the column of the observed values")
        })
    }

    /// What to know if y was chosen and a column looks like its standard errors.
    pub fn target_note(&self, names: &[&str], formula: &Formula, target: &str, naming: Naming) -> Option<String> {
        let is_chosen = self.y.is_none() && self.sigma.is_none();
        let is_free = |name: &&&str| **name != target && !formula.columns().iter().any(|known| known == **name);
        let errors = error_column(names.iter().filter(is_free).copied(), target).filter(|_| is_chosen)?;
        let option = match naming {
            Naming::Command => format!("--sigma \"{errors}\""),
            _ => format!("sigma=\"{errors}\""),
        };
        Some(format!(
            "y is \"{target}\"; \"{errors}\" looks like its standard deviations: {option} weights the rows by them"
        ))
    }

    /// The standard deviations of the observed values.
    pub fn sigma(&self, names: &[&str]) -> Result<Option<ColumnFormula>> {
        self.sigma.as_deref().map(|text| ColumnFormula::parse("sigma", text, names)).transpose()
    }

    /// The standard deviations of the column of the model.
    pub fn sigma_x(&self, names: &[&str]) -> Result<Option<ColumnFormula>> {
        self.sigma_x.as_deref().map(|text| ColumnFormula::parse("sigma-x", text, names)).transpose()
    }

    /// The condition on rows.
    pub fn condition(&self, names: &[&str]) -> Result<Option<ColumnFormula>> {
        self.condition.as_deref().map(|text| ColumnFormula::parse("where", text, names)).transpose()
    }

    /// Adds to a solved fit what the options want besides: intervals by profiles and by fits of drawn data, draws of the posterior, derived values.
    ///
    /// With standard deviations of the column of the model, the fit is first solved again with them.
    pub fn add_figures(&self, problem: &Problem<'_>, fit: &mut Fit, sigma_x: Option<&[f64]>) -> Result<()> {
        if let Some(sigma_x) = sigma_x {
            let inexact = with_errors_in_x(problem, fit, sigma_x)?;
            *fit = solve_inexact(&inexact, fit, &self.solve)?;
            return self.add_figures(&inexact, fit, None);
        }
        if self.profile {
            add_profiles(problem, fit, &self.solve)?;
        }
        if self.bootstrap > 0 {
            add_bootstrap(problem, fit, (self.bootstrap, self.resample), &self.solve)?;
        }
        if self.sample > 0 {
            add_posterior(problem, fit, self.sample, &self.solve)?;
        }
        add_derived(problem, fit, &self.derive)
    }

    /// How many fits are searched. With a robust loss each is solved on its own: the errors of a batch are those of least squares.
    pub fn for_many(&self, problem: &Problem<'_>) -> SolveOptions {
        let default = 500 * (problem.formula().parameters().len() as u64 + 1);
        let is_batched = matches!(self.loss, RobustLoss::Linear | RobustLoss::Poisson) || self.solve.evaluations > 0;
        let evaluations = if is_batched { self.solve.evaluations } else { default as usize };
        SolveOptions { evaluations, ..self.solve.clone() }
    }

    /// The problem with its loss, starts, bounds and fixed parameters.
    pub fn completed<'a>(&self, problem: Problem<'a>) -> Result<Problem<'a>> {
        check_derived(problem.formula(), &self.derive)?;
        let mut problem = problem.loss(self.loss, self.loss_scale)?;
        if self.solve.method == Method::TrustRegion {
            problem = problem.usual_bounds();
        }
        for (name, [low, high]) in &self.bounds {
            problem = problem.bounds(name, *low, *high)?;
        }
        if let Some((name, _)) = self.p0.iter().find(|(name, _)| self.fix.iter().any(|(other, _)| other == name)) {
            return Err(Error::usage(format!("p0: {name} is fixed: expected p0 or fix for it, not both")));
        }
        for (name, value) in &self.p0 {
            problem = problem.start(name, *value)?;
        }
        for (name, value) in &self.fix {
            problem = problem.fix(name, *value)?;
        }
        Ok(problem)
    }
}

/// Errors if the formula uses no column; perhaps a parameter is a mistyped one.
fn check_columns(formula: &Formula, names: &[&str]) -> Result<()> {
    if !formula.columns().is_empty() {
        return Ok(());
    }
    let like = |name: &String| names.iter().find(|column| column.eq_ignore_ascii_case(name));
    let near = formula.parameters().iter().find_map(like);
    let near = near.map_or(String::new(), |column| format!("; did you mean \"{column}\"?"));
    let columns = listed(names);
    Err(Error::usage(format!("model: it uses no column: expected at least one of {columns}{near}")))
}

/// An error of the formula with the columns of the table.
fn explained(error: Error, names: &[&str]) -> Error {
    let message = error.to_string();
    if message.starts_with("model: ") {
        return error;
    }
    let odd = names.iter().find(|name| quoted(name) != **name);
    let odd = odd.map_or(String::new(), |name| format!("; \"{name}\" is written {} in a formula", quoted(name)));
    Error::usage(format!("model: {message}; columns are {}{odd}", listed(names)))
}
