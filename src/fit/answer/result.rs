//! What a fit returns: parameters with standard errors and intervals, covariance, statistics, how it was found.

use nalgebra::{DMatrix, DVector};

use super::bootstrap::Bootstrap;
use super::covariance::{Covariance, variance_along};
use super::posterior::Posterior;
use super::statistics::{Freedom, Statistics};
use crate::fit::rows::Problem;
use crate::fit::search::{Bounds, Found, Searched, Stop};

/// A parameter's value and how well the data determine it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its standard error; `None` if it is fixed or the data do not determine it.
    pub stderr: Option<f64>,
    /// The interval of the fit's level; `None` as for `stderr`.
    pub interval: Option<[f64; 2]>,
    /// The interval from the profile of the cost, whose ends may be infinite; see [`add_profiles`](super::add_profiles()).
    pub profile: Option<[f64; 2]>,
    /// The interval from fits of data that are drawn again; see [`add_bootstrap`](super::add_bootstrap()).
    pub bootstrap: Option<[f64; 2]>,
    /// Whether it was fixed.
    pub is_fixed: bool,
    /// Whether it is at one of its bounds; its standard error then takes no account of the bound.
    pub is_at_bound: bool,
}

/// A solved fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The parameters, in the formula's order, then those tied to them.
    pub parameters: Vec<Fitted>,
    /// Values that are computed from parameters; see [`add_derived`](super::add_derived()).
    pub derived: Vec<Fitted>,
    /// How many fits of drawn data there were, if any.
    pub bootstrap: Option<Bootstrap>,
    /// Draws of the posterior, if there are any; see [`add_posterior`](super::add_posterior()).
    pub posterior: Option<Posterior>,
    /// Names of the free parameters, in the order of the covariance.
    pub free: Vec<String>,
    /// The covariance of the free parameters [free, free]; infinite along directions that the data do not determine.
    pub covariance: Vec<Vec<f64>>,
    /// ½ Σ ρ; with the linear loss half the weighted sum of squares.
    pub cost: f64,
    /// Number of rows.
    pub rows: usize,
    /// Rows less free parameters.
    pub dof: usize,
    /// Why the search ended.
    pub stop: Stop,
    /// Whether the minimum was compared with others: not if the search began at given starts alone, of a model with more than one minimum.
    pub is_compared: bool,
    /// What was tried after a search that got stuck, or a start at which the model is not finite.
    pub recovery: Vec<String>,
    /// Where and in which precision the minimum was searched.
    pub searched: Searched,
    /// Evaluations of the model over all rows in double precision, in the search that found the answer.
    pub evaluations: usize,
    /// The cost at the start and after each step of the search.
    pub history: Vec<f64>,
    /// How far the parameters would move in one more step, in standard errors; `None` if that is not determined.
    pub expected_shift: Option<f64>,
    /// Derivatives that were not finite at the solution in rows where the model is; they count as 0.
    pub flat_derivatives: usize,
    /// What the data do not determine: a parameter, or several "separately".
    pub undetermined: Vec<String>,
    /// What a reader of the parameters has to know besides: a model that explains little, a lower minimum elsewhere, frequencies that are the same.
    pub cautions: Vec<String>,
    /// Probability of the intervals.
    pub level: f64,
    /// Measures of the whole fit.
    pub statistics: Statistics,
}

impl Fit {
    /// The value of a parameter, if there is one of that name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.parameters.iter().find(|parameter| parameter.name == name).map(|parameter| parameter.value)
    }

    /// The correlations of the free parameters [free, free]; NaN where a variance is infinite or 0.
    pub fn correlation(&self) -> Vec<Vec<f64>> {
        let covariance = &self.covariance;
        let entry = |i: usize, j: usize| covariance[i][j] / (covariance[i][i] * covariance[j][j]).sqrt();
        (0..covariance.len()).map(|i| (0..covariance.len()).map(|j| entry(i, j)).collect()).collect()
    }
}

/// The result of a search.
pub(crate) fn reported(
    problem: &Problem<'_>,
    (free, bounds): (&[usize], &Bounds),
    found: &Found,
    covariance: Covariance,
    expected_shift: Option<f64>,
    spread: f64,
    level: f64,
) -> Fit {
    let Covariance { matrix, undetermined: directions } = covariance;
    let names: Vec<String> = free.iter().map(|&at| problem.parameters[at].name.clone()).collect();
    let dof = problem.rows() - free.len();
    let reach = Freedom::of(problem.is_absolute, dof).reach(level);
    let fitted = |name: &str, value: f64, variance: f64, is_fixed: bool, is_at_bound: bool| {
        let stderr = Some(variance.sqrt()).filter(|stderr| stderr.is_finite() && !is_fixed);
        let interval = stderr.map(|stderr| [value - reach * stderr, value + reach * stderr]);
        let interval = interval.filter(|interval| interval.iter().all(|end| end.is_finite()));
        Fitted { name: name.to_owned(), value, stderr, interval, profile: None, bootstrap: None, is_fixed, is_at_bound }
    };
    let values: Vec<f64> = (0..problem.parameters.len())
        .map(|at| match free.iter().position(|&place| place == at) {
            Some(place) => found.x[place],
            None => problem.parameters[at].start.unwrap_or_default(),
        })
        .collect();
    let mut parameters: Vec<Fitted> = Vec::new();
    for (at, parameter) in problem.parameters.iter().enumerate() {
        let place = free.iter().position(|&place| place == at);
        let variance = place.map_or(0.0, |place| matrix[(place, place)]);
        let is_at_bound =
            place.is_some_and(|place| values[at] == bounds.low[place] || values[at] == bounds.high[place]);
        parameters.push(fitted(&parameter.name, values[at], variance, place.is_none(), is_at_bound));
    }
    for tie in problem.formula.ties() {
        // Of parameters without levels, which are the same in all groups.
        let places = &problem.places[0];
        let own: Vec<f64> = places.iter().map(|&place| values[place]).collect();
        let all: Vec<usize> = (0..own.len()).collect();
        let with_slopes = tie.program.with_gradient(&all).at(&own);
        let slope =
            |&place: &usize| places.iter().position(|&known| known == place).map_or(0.0, |at| with_slopes[1 + at]);
        let slopes = DVector::from_iterator(free.len(), free.iter().map(slope));
        let is_fixed = slopes.iter().all(|slope| *slope == 0.0);
        parameters.push(fitted(&tie.name, with_slopes[0], variance_along(&matrix, &slopes), is_fixed, false));
    }
    let rows = |matrix: &DMatrix<f64>| matrix.row_iter().map(|row| row.iter().copied().collect()).collect();
    Fit {
        parameters,
        derived: Vec::new(),
        bootstrap: None,
        posterior: None,
        covariance: rows(&matrix),
        cost: found.normal.cost,
        rows: problem.rows(),
        dof,
        stop: found.stop,
        is_compared: true,
        recovery: Vec::new(),
        searched: Searched::default(),
        evaluations: found.evaluations,
        history: found.history.clone(),
        expected_shift,
        flat_derivatives: found.normal.mended,
        // Without a degree of freedom left and with slopes that were not finite, nothing is known of what is determined.
        undetermined: directions
            .iter()
            .filter(|_| dof > 0 || found.normal.mended == 0)
            .map(|direction| undetermined(direction, &names))
            .collect(),
        free: names,
        cautions: Vec::new(),
        level,
        statistics: Statistics::of(problem, [found.normal.cost, found.normal.squares], spread, free.len()),
    }
}

/// A direction that the data do not determine, by the parameters with a share in it: `c and d separately`.
fn undetermined(direction: &DVector<f64>, names: &[String]) -> String {
    let largest = direction.amax();
    let shares = direction.iter().zip(names).filter(|(share, _)| share.abs() > 1e-3 * largest);
    let names: Vec<&str> = shares.map(|(_, name)| name.as_str()).collect();
    match &names[..] {
        [name] => (*name).to_owned(),
        [first @ .., last] => format!("{} and {last} separately", first.join(", ")),
        [] => String::new(),
    }
}
