//! Values that are computed from the parameters, such as a width at half height from a standard deviation, with standard errors to first order (the
//! delta method).

use nalgebra::{DMatrix, DVector};

use super::covariance::variance_along;
use super::many::Fits;
use super::result::{Fit, Fitted};
use super::statistics::Freedom;
use crate::error::{Error, Result, hint, listed};
use crate::fit::formula::Formula;
use crate::fit::rows::Problem;
use crate::program::parse::{free_names, parse};
use crate::program::{Expr, Program};

/// A value that is computed from the parameters of a formula.
struct Derived {
    /// Over the formula's parameters: the value, then its derivatives.
    program: Program,
    /// Places of the parameters that it uses.
    used: Vec<usize>,
}

impl Derived {
    /// From `name = text`. Errors if the text uses other names than those of parameters.
    fn of(formula: &Formula, name: &str, text: &str) -> Result<Self> {
        let parameters: Vec<&str> = formula.parameters().iter().map(String::as_str).collect();
        let all: Vec<&str> =
            parameters.iter().copied().chain(formula.ties().iter().map(|tie| tie.name.as_str())).collect();
        let wrong = |what: String| Err(Error::usage(format!("derive: {what}")));
        if all.contains(&name) {
            return wrong(format!("\"{name}\" is a parameter: expected another name"));
        }
        let within = |error: Error| error.within(&format!("derive: {name}"));
        if let Some(unknown) = free_names(text, &all, &[]).map_err(within)?.first() {
            let (known, near) = (listed(&all), hint(unknown, all.iter().copied()));
            return wrong(format!("{name}: got \"{unknown}\", expected a parameter, one of {known}{near}"));
        }
        let program = parse(text, &all, &[]).map_err(within)?;
        if program.results.len() != 1 {
            let got = program.results.len();
            return wrong(format!("{name}: got {got} formulas separated by commas, expected one"));
        }
        let program = Program::build(parameters.len(), |inputs| {
            let ties = formula.ties().iter().map(|tie| tie.program.emit(inputs));
            program.emit(&inputs.iter().copied().chain(ties).collect::<Vec<Expr>>())
        });
        let used = (0..parameters.len()).filter(|&at| program.uses(at)).collect();
        let places: Vec<usize> = (0..parameters.len()).collect();
        Ok(Self { program: program.with_gradient(&places), used })
    }
}

/// Errors as [`add_derived`] does, before a fit is solved.
pub(crate) fn check_derived(formula: &Formula, derived: &[(String, String)]) -> Result<()> {
    derived.iter().try_for_each(|(name, text)| Derived::of(formula, name, text).map(drop))
}

/// Adds values that are computed from the parameters, as pairs of a name and a formula: `("fwhm", "2.3548*sigma")`. One that uses parameters with levels
/// has a value for each. Errors if a formula uses other names than those of parameters.
pub fn add_derived(problem: &Problem<'_>, fit: &mut Fit, derived: &[(String, String)]) -> Result<()> {
    let formula = &problem.formula;
    let free = problem.free();
    let matrix = DMatrix::from_fn(free.len(), free.len(), |i, j| fit.covariance[i][j]);
    let reach = Freedom::of(problem.is_absolute, fit.dof).reach(fit.level);
    for (name, text) in derived {
        let one = Derived::of(formula, name, text)?;
        let levels: Vec<String> = formula.level_columns().into_iter().map(str::to_owned).collect();
        let levels: Vec<String> = levels
            .into_iter()
            .filter(|column| one.used.iter().any(|&at| formula.levels(at).contains(column)))
            .collect();
        let mut known: Vec<Vec<usize>> = Vec::new();
        for (group, places) in problem.places.iter().enumerate() {
            let own: Vec<usize> = one.used.iter().map(|&at| places[at]).collect();
            if known.contains(&own) {
                continue;
            }
            known.push(own);
            let values: Vec<f64> = places.iter().map(|&place| fit.parameters[place].value).collect();
            let results = one.program.at(&values);
            let slope = |&place: &usize| {
                let at = places.iter().position(|known| *known == place);
                at.map_or(0.0, |at| results[1 + at])
            };
            let slopes = DVector::from_iterator(free.len(), free.iter().map(slope));
            let label = problem.groups.label(group, &levels);
            let name = if label.is_empty() { name.clone() } else { format!("{name}[{label}]") };
            let is_fixed = slopes.iter().all(|slope| *slope == 0.0);
            let stderr = Some(variance_along(&matrix, &slopes).sqrt()).filter(|stderr| stderr.is_finite() && !is_fixed);
            let value = results[0];
            let interval = stderr.map(|stderr| [value - reach * stderr, value + reach * stderr]);
            let interval = interval.filter(|ends| ends.iter().all(|end| end.is_finite()));
            let (profile, bootstrap, is_at_bound) = (None, None, false);
            fit.derived.push(Fitted { name, value, stderr, interval, profile, bootstrap, is_fixed, is_at_bound });
        }
    }
    Ok(())
}

impl Fits {
    /// A value that is computed from the parameters of each fit, by a formula of the same problem, and its standard error: infinite if the data do not
    /// determine it, NaN without a fit.
    pub fn derived(&self, formula: &Formula, name: &str, text: &str) -> Result<Vec<[f64; 2]>> {
        let one = Derived::of(formula, name, text)?;
        let count = self.free.len();
        let values = self.fits.iter().map(|fit| {
            let Ok(fit) = fit else { return [f64::NAN; 2] };
            let results = one.program.at(&fit.values);
            // A parameter that is fixed in this fit has no error there.
            let entry =
                |i: usize, j: usize| Some(fit.covariance[i * count + j]).filter(|one| !one.is_nan()).unwrap_or(0.0);
            let matrix = DMatrix::from_fn(count, count, entry);
            let slopes = DVector::from_iterator(count, self.free.iter().map(|&at| results[1 + at]));
            [results[0], variance_along(&matrix, &slopes).sqrt()]
        });
        Ok(values.collect())
    }
}
