//! Fits where the one column of the model has errors too: the residual of a row is divided by √(σ² + (∂f/∂x σx)²), the effective variance, and the weights
//! depend on the parameters as the residuals do. For a straight line that is the exact minimum of all distances (York 1966).

use super::result::Fit;
use super::solve::solve;
use crate::error::{Error, Result};
use crate::fit::rows::Problem;
use crate::fit::search::SolveOptions;
use crate::host::number;

/// The problem whose model is the weighted residual of another one with standard deviations of its column, in the given order of rows, started at a solution
/// without them. Errors unless the formula has one column, no integrals, and standard deviations of y.
pub fn with_errors_in_x<'a>(problem: &Problem<'a>, fit: &Fit, sigma_x: &[f64]) -> Result<Problem<'a>> {
    let wrong = |what: String| Err(Error::usage(format!("sigma-x: {what}")));
    let columns = problem.formula.columns().len();
    if columns != 1 || !problem.formula.integrals().is_empty() {
        return wrong(format!("the model has {columns} columns: expected one, and no integrals"));
    }
    if !problem.data.has_sigma {
        return wrong("expected the standard deviations of y too, by sigma".to_owned());
    }
    if problem.data.source().is_some() {
        return wrong("rows are read in parts: expected them in memory".to_owned());
    }
    if let Some(row) = sigma_x.iter().position(|sigma| !(*sigma >= 0.0 && sigma.is_finite())) {
        let (value, row) = (number(sigma_x[row]), row + 1);
        return wrong(format!("row {row}: got {value}, expected a number of at least 0"));
    }
    let mut parameters = problem.parameters.clone();
    for parameter in parameters.iter_mut().filter(|parameter| !parameter.is_fixed) {
        parameter.start = fit.value(&parameter.name).or(parameter.start);
    }
    let (formula, data) = (problem.formula.inexact(), problem.data.inexact(sigma_x));
    Ok(Problem { formula, parameters, data, ..problem.clone() })
}

/// The solution of [`with_errors_in_x`], with what is known of the search without errors in x.
pub fn solve_inexact(inexact: &Problem<'_>, fit: &Fit, options: &SolveOptions) -> Result<Fit> {
    // It starts where the search without errors in x ended, which was compared with others.
    let mut solved = solve(inexact, &SolveOptions { compares: false, ..options.clone() })?;
    solved.cautions.clone_from(&fit.cautions);
    solved.is_compared = fit.is_compared;
    // The spread of the observed values is not that of residuals.
    solved.statistics.r_squared = f64::NAN;
    solved.evaluations += fit.evaluations;
    solved.searched = fit.searched.clone();
    Ok(solved)
}
