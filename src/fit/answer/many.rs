//! Many independent fits of one formula: every free parameter has a value for each group of rows, so that each group is a fit of its own.

mod apart;

use std::cell::RefCell;
use std::ops::Range;

use nalgebra::DVector;

use super::covariance::{ArrowTriangle, Covariance, covariance};
use crate::error::{Error, Result};
use crate::fit::formula::{Parameter, linear};
use crate::fit::pass::model::varying;
use crate::fit::pass::normal::overflow;
use crate::fit::pass::{GroupSums, Memory, Model, Normal, Objective};
use crate::fit::rows::problem::too_few;
use crate::fit::rows::{Part, Problem, pieces};
use crate::fit::search::factor::MOST;
use crate::fit::search::places::Collapsed;
use crate::fit::search::places::spacings;
use crate::fit::search::start::{found, picked, sampled};
use crate::fit::search::tries::solve;
use crate::fit::search::{Choices, Few, Job, Search, SolveOptions, Solved, Stop, batch};
use crate::host::ThreadPool;

/// Fits that one thread makes at a time.
const BATCH: usize = 64;
/// Groups whose solutions the fits start from where no start is given.
const SCOUTS: usize = 12;

/// Independent fits, one for each group of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Fits {
    /// Columns whose levels tell the groups apart.
    pub columns: Vec<String>,
    /// The levels of each group.
    pub levels: Vec<Vec<String>>,
    /// Names of the formula's parameters.
    pub parameters: Vec<String>,
    /// Places of those that are free in one group at least.
    pub free: Vec<usize>,
    /// For each group its fit, or why there is none.
    pub fits: Vec<Result<SmallFit>>,
}

/// One of many fits.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallFit {
    /// Values of all parameters of the formula.
    pub values: Vec<f64>,
    /// The covariance of the parameters at [`Fits::free`], row by row: infinite along directions that the data do not determine, NaN for a parameter that
    /// is fixed in this group.
    pub covariance: Vec<f64>,
    /// ½ Σ ρ.
    pub cost: f64,
    /// Root mean square of the weighted residuals.
    pub rmse: f64,
    /// Number of rows.
    pub rows: usize,
    /// Why the search ended.
    pub stop: Stop,
    /// Evaluations of the model.
    pub evaluations: usize,
}

impl SmallFit {
    /// The standard error of a parameter, by its place in [`Fits::free`]: infinite if the data do not determine it, NaN if it is fixed in this group.
    pub fn stderr(&self, free: usize) -> f64 {
        let count = self.covariance.len().isqrt();
        self.covariance[free * count + free].sqrt()
    }
}

impl Problem<'_> {
    /// Whether every free parameter has a value for each group of rows, so that the groups are independent fits: see [`solve_each`].
    pub fn is_many(&self) -> bool {
        let mut owner = vec![None; self.parameters.len()];
        let mut is_own =
            |group: usize, place: usize| self.parameters[place].is_fixed || *owner[place].get_or_insert(group) == group;
        self.groups() > 1
            && self.places.iter().enumerate().all(|(group, places)| places.iter().all(|&place| is_own(group, place)))
    }
}

/// Solves the groups of a problem one by one, on all threads. Without starts, solutions of a few groups are the starts that each fit chooses from.
///
/// Errors if the groups share a free parameter, if rows are read from a source, or as [`solve`](super::solve()) does whatever the data are. A group
/// whose fit fails does not end the others.
///
/// ```
/// use meromorph::fit::{Formula, Problem, SolveOptions, solve_each};
/// let pixel: Vec<f64> = (0..40).map(|row| f64::from(row / 10)).collect();
/// let t: Vec<f64> = (0..40).map(|row| f64::from(row % 10)).collect();
/// let y: Vec<f64> = pixel.iter().zip(&t).map(|(pixel, t)| (pixel + 1.0) * (-0.2 * t).exp()).collect();
/// let formula = Formula::parse("a[pixel] * exp(-b[pixel] * t)", &["pixel", "t"])?;
/// let fits = solve_each(&Problem::new(formula, &[("pixel", &pixel), ("t", &t)], &y)?, &SolveOptions::default())?;
/// assert!((fits.fits[3].as_ref().unwrap().values[0] - 4.0).abs() < 1e-9);
/// # Ok::<(), meromorph::Error>(())
/// ```
pub fn solve_each(problem: &Problem<'_>, options: &SolveOptions) -> Result<Fits> {
    if !problem.is_many() {
        return Err(Error::usage(
            "fit: groups of rows share a free parameter: expected a value for each level for all of them",
        ));
    }
    if problem.data.source().is_some() {
        return Err(Error::usage("fit: rows are read from a source: expected them in memory for many fits"));
    }
    problem.check_values()?;
    problem.check_sizes()?;
    let pool = options.pool()?;
    let solver = Solver::new(problem, options, &pool)?;
    let mut fits = Vec::with_capacity(problem.groups());
    let make = |batch: usize| {
        let groups = batch * BATCH..problem.groups().min((batch + 1) * BATCH);
        let mut words = vec![0.0; solver.model.words()];
        let memory = RefCell::new(solver.model.memory(&mut words));
        let mut fast = solver.fast(groups.clone(), &memory)?.into_iter();
        let mut fit = |group| match fast.next().flatten() {
            Some(fit) => Ok(fit),
            None => solver.fit(group, &memory),
        };
        Ok::<_, Error>(groups.map(&mut fit).collect::<Vec<Result<SmallFit>>>())
    };
    pieces::each(&pool, 0..problem.groups().div_ceil(BATCH), make, |batch| fits.extend(batch))?;
    solver.look_again(&mut fits, &pool)?;
    let columns: Vec<String> = problem.groups.columns.iter().map(|(name, _)| name.clone()).collect();
    let level =
        |group: usize, at: usize| problem.groups.columns[at].1[problem.groups.codes[group][at] as usize].clone();
    let levels = (0..fits.len()).map(|group| (0..columns.len()).map(|at| level(group, at)).collect()).collect();
    let free = solver.free.iter().map(|&at| solver.model.variables[at]).collect();
    Ok(Fits { columns, levels, parameters: problem.formula.parameters().to_vec(), free, fits })
}

/// What all fits share.
struct Solver<'a> {
    problem: &'a Problem<'a>,
    options: &'a SolveOptions,
    model: Model,
    /// Places among the variables of parameters that are free in one group at least.
    free: Vec<usize>,
    /// Places among the variables of parameters in which the model is linear.
    linear: Vec<usize>,
    /// Solutions of some groups; none if starts are given.
    scouts: Vec<DVector<f64>>,
    /// The groups of these.
    scouted: Vec<usize>,
    /// Terms with places, which may be elsewhere in each group, and the problem with one value for all.
    places: Option<(Problem<'static>, Collapsed)>,
}

impl<'a> Solver<'a> {
    fn new(problem: &'a Problem<'a>, options: &'a SolveOptions, pool: &ThreadPool) -> Result<Self> {
        let model = Model::new(problem);
        let linear = linear(&varying(problem).1, model.variables.len());
        let is_free =
            |&at: &usize| problem.places.iter().any(|places| !problem.parameters[places[model.variables[at]]].is_fixed);
        let free = (0..model.variables.len()).filter(is_free).collect();
        let (scouts, scouted) = (Vec::new(), Vec::new());
        let whole = sampled(problem, 0..problem.data.rows())?;
        let places = Collapsed::of(problem)?.filter(|collapsed| collapsed.terms.have_places());
        let places = places.map(|collapsed| (whole, collapsed));
        let mut solver = Self { problem, options, model, free, linear, scouts, scouted, places };
        let has_starts = problem
            .places
            .iter()
            .all(|places| solver.model.variables.iter().all(|&at| problem.parameters[places[at]].start.is_some()));
        if !has_starts {
            let mut failure = None;
            // Groups with too few rows have no solution of their own.
            let is_enough = |group: &usize| problem.data.group(*group).len() >= solver.free.len();
            let enough: Vec<usize> = (0..problem.groups()).filter(is_enough).collect();
            let scouts = if enough.is_empty() { vec![0] } else { enough };
            for group in picked(0..scouts.len(), SCOUTS).into_iter().map(|at| scouts[at]) {
                match solver.scout(group, pool) {
                    Ok(scout) => {
                        solver.scouts.push(scout);
                        solver.scouted.push(group);
                    }
                    Err(error) => failure = Some(error),
                }
            }
            if let (true, Some(failure)) = (solver.scouts.is_empty(), failure) {
                return Err(failure);
            }
        }
        Ok(solver)
    }

    /// The best start for one group, found without knowledge of others.
    fn scout(&self, group: usize, pool: &ThreadPool) -> Result<DVector<f64>> {
        let sampled = sampled(self.problem, self.problem.data.group(group))?;
        let (rows, free) = (sampled.rows(), sampled.free().len());
        if rows < free {
            return Err(too_few(rows, free));
        }
        let spaced = spacings(self.problem, self.problem.data.group(group))?;
        let found = found(&sampled, &spaced, self.options, pool)?;
        // Fixed parameters are not among the variables of the sample, but may be among those of all groups.
        let places = sampled.free();
        let value = |&at: &usize| match places.iter().position(|&place| place == at) {
            Some(place) => found[place],
            None => sampled.parameters[at].start.unwrap_or_default(),
        };
        Ok(DVector::from_iterator(self.model.variables.len(), self.model.variables.iter().map(value)))
    }

    /// Small fits that start at given values, as far as they are simple.
    fn fast(&self, groups: Range<usize>, memory: &RefCell<Memory<'_>>) -> Result<Vec<Option<SmallFit>>> {
        let data = &self.problem.data;
        let count = self.model.variables.len();
        let is_fast = self.model.integrals.is_empty() && count <= MOST;
        let is_fast = is_fast && self.options.evaluations == 0;
        let rows = data.group(groups.start).start..data.group(groups.end - 1).end;
        let starts: Vec<Vec<f64>> = self.scouts.iter().map(|scout| scout.as_slice().to_vec()).collect();
        let choices = Choices { starts: &starts, linear: &self.linear };
        let mut jobs: Vec<Job> = Vec::new();
        let mut owners: Vec<usize> = Vec::new();
        for group in groups.clone() {
            let own = &self.problem.places[group];
            let parameter = |at: usize| &self.problem.parameters[own[self.model.variables[at]]];
            let range = data.group(group);
            let free: Few<usize> = (0..count).filter(|&at| !parameter(at).is_fixed).collect();
            if !is_fast || range.len() > batch::ROWS || range.len() <= free.len() {
                continue;
            }
            let variables = (0..count).map(|at| parameter(at).start.unwrap_or_default()).collect();
            let open = free.iter().copied().filter(|&at| parameter(at).start.is_none()).collect();
            let own = self.own_starts(range.clone())?;
            jobs.push(Job { variables, free, open, own, rows: range.start - rows.start..range.end - rows.start });
            owners.push(group);
        }
        let mut fits = vec![None; groups.len()];
        let take = |at: usize, solved: &Solved<'_>| {
            fits[owners[at] - groups.start] = self.small(owners[at], &jobs[at], solved);
        };
        data.with(rows, |part| batch::solve(&self.model, part, &jobs, &choices, &mut memory.borrow_mut(), take))?;
        Ok(fits)
    }

    /// A fit of a batch, unless it left its bounds.
    fn small(&self, group: usize, job: &Job, solved: &Solved<'_>) -> Option<SmallFit> {
        let own = &self.problem.places[group];
        let mut values: Vec<f64> =
            own.iter().map(|&place| self.problem.parameters[place].start.unwrap_or_default()).collect();
        for (&at, &value) in job.free.iter().zip(solved.x) {
            let place = self.model.variables[at];
            let Parameter { low, high, .. } = self.problem.parameters[own[place]];
            if value <= low || value >= high {
                return None;
            }
            values[place] = value;
        }
        let (free, rows) = (job.free.len(), job.rows.len());
        let variance = if self.problem.is_absolute { 1.0 } else { 2.0 * solved.cost / (rows - free) as f64 };
        Some(SmallFit {
            values,
            covariance: self.among_free(&job.free, |i, j| variance * solved.inverse[i][j]),
            cost: solved.cost,
            rmse: (solved.squares / rows as f64).sqrt(),
            rows,
            stop: Stop::Shift,
            evaluations: solved.evaluations,
        })
    }

    /// A matrix of the variables `own` that are free in one group as one of all free ones: NaN where a parameter is fixed in this group.
    fn among_free(&self, own: &[usize], entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let places: Few<Option<usize>> = self.free.iter().map(|at| own.binary_search(at).ok()).collect();
        let mut entries = Vec::with_capacity(places.len() * places.len());
        for i in &places {
            entries.extend(places.iter().map(|j| i.zip(*j).map_or(f64::NAN, |(i, j)| entry(i, j))));
        }
        entries
    }

    fn fit(&self, group: usize, memory: &RefCell<Memory<'_>>) -> Result<SmallFit> {
        let range = self.problem.data.group(group);
        self.problem.data.with(range.clone(), |part| self.fit_part(group, part, memory, None))?
    }

    /// The fit of a group from a start of all variables, or from the best of the scouts' solutions.
    fn fit_part(
        &self,
        group: usize,
        part: &Part<'_>,
        memory: &RefCell<Memory<'_>>,
        start: Option<&DVector<f64>>,
    ) -> Result<SmallFit> {
        let own = &self.problem.places[group];
        let parameter = |at: usize| &self.problem.parameters[own[at]];
        let is_free = |&at: &usize| !parameter(self.model.variables[at]).is_fixed;
        let free: Vec<usize> = (0..self.model.variables.len()).filter(is_free).collect();
        let rows = part.y.len();
        if rows < free.len() {
            return Err(too_few(rows, free.len()));
        }
        let places: Vec<usize> = free.iter().map(|&at| own[self.model.variables[at]]).collect();
        let search = Search::over(self.problem, &places, rows, self.options)?;
        let values: Vec<f64> = (0..own.len()).map(|at| parameter(at).start.unwrap_or_default()).collect();
        let objective = GroupSums::new(&self.model, part, free, values, memory);
        if objective.free.is_empty() {
            // There is nothing to search.
            let Normal { cost, squares, .. } = objective.normal(&[]).map_err(|bad| bad.explained(self.problem))?;
            let values = objective.values.into_inner();
            let (covariance, rmse) = (self.among_free(&[], |_, _| f64::NAN), (squares / rows as f64).sqrt());
            return Ok(SmallFit { values, covariance, cost, rmse, rows, stop: Stop::Gradient, evaluations: 1 });
        }
        let start = match start {
            Some(start) => {
                let own = |&at: &usize| parameter(self.model.variables[at]).start.unwrap_or(start[at]);
                let (low, high) = (&search.bounds.low, &search.bounds.high);
                let own = objective.free.iter().map(own).zip(low.iter().zip(high));
                DVector::from_iterator(objective.free.len(), own.map(|(x, (low, high))| x.clamp(*low, *high)))
            }
            None => self.start(&objective, &search, &|at| parameter(at).start)?,
        };
        let (found, _) = search.solve(&objective, &start).map_err(|bad| bad.explained(self.problem))?;
        let triangle = objective.triangle(&found.x).map_err(overflow)?;
        let triangle = ArrowTriangle::dense(&search.pattern, triangle);
        let Covariance { matrix, .. } = covariance(&triangle, &found.x, rows, search.variance(&found));
        let mut values = objective.values.borrow().clone();
        let free = objective.free.iter().zip(&found.x);
        free.for_each(|(&at, value)| values[self.model.variables[at]] = *value);
        Ok(SmallFit {
            values,
            covariance: self.among_free(&objective.free, |i, j| matrix[(i, j)]),
            cost: found.normal.cost,
            rmse: (found.normal.squares / rows as f64).sqrt(),
            rows,
            stop: found.stop,
            evaluations: found.evaluations,
        })
    }

    /// The given start, or the best of the scouts' solutions with linear parameters at their best values.
    fn start(
        &self,
        objective: &GroupSums<'_, '_>,
        search: &Search,
        given: &dyn Fn(usize) -> Option<f64>,
    ) -> Result<DVector<f64>> {
        let free = &objective.free[..];
        let known: Vec<Option<f64>> = free.iter().map(|&at| given(self.model.variables[at])).collect();
        if let Some(start) = known.iter().copied().collect::<Option<Vec<f64>>>() {
            return Ok(DVector::from_vec(start));
        }
        let solved: Vec<usize> =
            (0..free.len()).filter(|&place| known[place].is_none() && self.linear.contains(&free[place])).collect();
        let mut best: Option<(f64, DVector<f64>)> = None;
        for scout in &self.scouts {
            let mut x = DVector::from_fn(free.len(), |place, _| known[place].unwrap_or(scout[free[place]]));
            let Ok(normal) = objective.normal(x.as_slice()) else { continue };
            let cost = if solved.is_empty() { normal.cost } else { solve(&normal, &mut x, &solved) };
            if cost.is_finite() && best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, x));
            }
        }
        let (_, x) = best.ok_or_else(|| Error::new("the model is not finite at any start: expected --p0"))?;
        let (low, high) = (&search.bounds.low, &search.bounds.high);
        Ok(DVector::from_fn(x.len(), |at, _| x[at].clamp(low[at], high[at])))
    }
}
