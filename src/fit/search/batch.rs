//! Small fits in batches: the rows of several fits fill one tile, so that what an evaluation costs apart from its arithmetic is shared. The search is
//! Levenberg's and Marquardt's, as in `levenberg.rs`. A fit that does not converge soon, leaves its bounds or is ill-conditioned is left to the general
//! search.

use std::ops::Range;

use smallvec::SmallVec;

use super::factor::{Factor, MOST, Matrix, Vector};
use super::local::is_rounding;
use crate::fit::pass::normal::{add, size};
use crate::fit::pass::{Memory, Model};
use crate::fit::rows::Part;
use crate::fit::rows::pieces::TILE;

/// More rows of a fit are.
pub(crate) const ROWS: usize = TILE / 2;
/// Evaluations until a fit is left to the general search.
const EVALUATIONS: usize = 40;
/// The first damping, relative to the diagonal of JᵀJ.
const FIRST_DAMPING: f64 = 1e-3;
const MOST_DAMPING: f64 = 1e10;
/// The expected shift, in standard errors, from which the last step needs no evaluation after it: the cost would change by rounding errors.
const SHIFT: f64 = 1e-6;
/// The expected shift from which steps are not damped: costs differ by rounding errors there, so that they no longer decide.
const NEAR: f64 = 1e-4;
/// The least square of a diagonal entry of the factor of JᵀJ, with columns of length 1: below it the covariance loses digits.
const CONDITION: f64 = 1e-7;

/// As many as variables, without an allocation.
pub(crate) type Few<T> = SmallVec<[T; MOST]>;

/// A fit to be solved.
pub(crate) struct Job {
    /// All variables of the model, the free ones at their starts.
    pub variables: Few<f64>,
    /// Free ones among the variables.
    pub free: Few<usize>,
    /// Those among the free ones without a start of their own.
    pub open: Few<usize>,
    /// Starts of its own besides those of the choices.
    pub own: Vec<Vec<f64>>,
    pub rows: Range<usize>,
}

/// Starts that each fit chooses from.
pub(crate) struct Choices<'c> {
    /// Values of the variables.
    pub starts: &'c [Vec<f64>],
    /// Variables in which the model is linear: they start at their best values.
    pub linear: &'c [usize],
}

/// A solved fit.
pub(crate) struct Solved<'s> {
    /// The free variables.
    pub x: &'s [f64],
    /// The inverse of JᵀJ.
    pub inverse: &'s [[f64; MOST]],
    pub cost: f64,
    pub squares: f64,
    pub evaluations: usize,
}

struct State<'j> {
    job: &'j Job,
    choices: &'j Choices<'j>,
    /// Starts that were tried, and the best of them with its cost.
    tried: usize,
    best: (f64, Few<f64>),
    variables: Few<f64>,
    x: Vector,
    step: Vector,
    sums: SmallVec<[f64; SUMS]>,
    hessian: Matrix,
    gradient: Vector,
    /// The largest diagonal entries of JᵀJ so far.
    largest: Vector,
    damping: f64,
    growth: f64,
    /// Whether the step is not damped.
    is_last: bool,
    evaluations: usize,
    end: End,
}

/// Sums of the usual fit, with up to five variables.
const SUMS: usize = size(5);

/// Whether and how a fit ended.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Not,
    Solved,
    /// It is left to the general search.
    Left,
}

/// Solves what it can of some fits whose rows are in `part`, and hands each over with its place.
pub(crate) fn solve(
    model: &Model,
    part: &Part<'_>,
    jobs: &[Job],
    choices: &Choices<'_>,
    memory: &mut Memory<'_>,
    mut take: impl FnMut(usize, &Solved<'_>),
) {
    let count = size(model.variables.len());
    let mut states: Vec<State<'_>> = jobs.iter().map(|job| State::new(job, choices, count)).collect();
    let mut sums = vec![0.0; count * jobs.len()];
    loop {
        let active: Vec<usize> = (0..states.len()).filter(|&at| states[at].end == End::Not).collect();
        if active.is_empty() {
            break;
        }
        let mut first = 0;
        while first < active.len() {
            let mut rows = 0;
            let fits = |&&at: &&usize| {
                rows += jobs[at].rows.len();
                rows <= TILE
            };
            let packed = active[first..].iter().take_while(fits).count();
            let packed = &active[first..first + packed];
            first += packed.len();
            let runs: Vec<(&[f64], Range<usize>)> =
                packed.iter().map(|&at| (&states[at].variables[..], jobs[at].rows.clone())).collect();
            let sums = &mut sums[..count * packed.len()];
            sums.fill(0.0);
            let mut each = sums.chunks_exact_mut(count);
            model.run_packed(&runs, part, memory, |tile| {
                if let Some(sums) = each.next() {
                    add(sums, tile);
                }
            });
            packed.iter().zip(sums.chunks_exact(count)).for_each(|(&at, sums)| states[at].take(sums));
        }
    }
    for (at, state) in states.iter().enumerate().filter(|(_, state)| state.end == End::Solved) {
        let count = state.job.free.len();
        let Some(factor) = Factor::of(&state.hessian, count, |_| 0.0) else { continue };
        let (cost, squares) = (state.cost(), state.sums[state.sums.len() - 2]);
        let inverse = factor.inverse(count);
        let (x, inverse) = (&state.x[..count], &inverse[..count]);
        take(at, &Solved { x, inverse, cost, squares, evaluations: state.evaluations });
    }
}

impl<'j> State<'j> {
    fn new(job: &'j Job, choices: &'j Choices<'j>, count: usize) -> Self {
        let mut state = Self {
            variables: job.variables.clone(),
            choices,
            tried: 0,
            best: (f64::INFINITY, job.variables.clone()),
            x: [0.0; MOST],
            step: [0.0; MOST],
            sums: SmallVec::from_elem(f64::INFINITY, count),
            hessian: [[0.0; MOST]; MOST],
            gradient: [0.0; MOST],
            largest: [0.0; MOST],
            damping: FIRST_DAMPING,
            growth: 2.0,
            is_last: false,
            evaluations: 0,
            end: End::Not,
            job,
        };
        if job.open.is_empty() || state.starts() == 0 {
            state.begin();
        } else {
            state.choose();
        }
        state
    }

    /// How many starts there are to choose from.
    fn starts(&self) -> usize {
        self.choices.starts.len() + self.job.own.len()
    }

    /// Begins the search at the best start.
    fn begin(&mut self) {
        self.tried = self.starts();
        self.variables.copy_from_slice(&self.best.1);
        self.job.free.iter().zip(&mut self.x).for_each(|(&at, x)| *x = self.variables[at]);
    }

    /// The next start to try.
    fn choose(&mut self) {
        let shared = self.choices.starts.len();
        let start = self.choices.starts.get(self.tried).unwrap_or_else(|| &self.job.own[self.tried - shared]);
        self.job.open.iter().for_each(|&at| self.variables[at] = start[at]);
    }

    /// Keeps a start if it is the best so far, with linear parameters at their best values.
    fn weigh(&mut self, sums: &[f64]) {
        let mut cost = sums[sums.len() - 1];
        let linear: Few<usize> = self.job.open.iter().copied().filter(|at| self.choices.linear.contains(at)).collect();
        let (mut hessian, mut step) = ([[0.0; MOST]; MOST], [0.0; MOST]);
        for (row, &i) in linear.iter().enumerate() {
            for (column, &j) in linear.iter().enumerate().skip(row) {
                let sum = sums[self.place(i) + j - i];
                (hessian[row][column], hessian[column][row]) = (sum, sum);
            }
            step[row] = sums[self.place(i) + self.variables.len() - i];
        }
        if let (Some(factor), true) = (Factor::of(&hessian, linear.len(), |_| 0.0), cost.is_finite()) {
            let scale = &factor.scale;
            (0..linear.len()).for_each(|at| step[at] *= scale[at]);
            factor.forward(&mut step, linear.len());
            cost -= 0.5 * step[..linear.len()].iter().map(|turned| turned * turned).sum::<f64>();
            factor.backward(&mut step, linear.len());
            linear.iter().enumerate().for_each(|(place, &at)| self.variables[at] -= scale[place] * step[place]);
        }
        if cost < self.best.0 {
            self.best.0 = cost;
            self.best.1.copy_from_slice(&self.variables);
        }
        self.tried += 1;
    }

    /// Where the products of a variable begin in sums.
    fn place(&self, variable: usize) -> usize {
        variable * (2 * self.variables.len() + 3 - variable) / 2
    }

    fn cost(&self) -> f64 {
        self.sums[self.sums.len() - 1]
    }

    /// Takes the sums at the trial point, and goes on to the next.
    fn take(&mut self, sums: &[f64]) {
        self.evaluations += 1;
        if self.tried < self.starts() {
            self.weigh(sums);
            self.evaluations = 0;
            if self.tried < self.starts() {
                self.choose();
            } else {
                self.begin();
            }
            return;
        }
        let is_first = self.evaluations == 1;
        let is_finite = sums.iter().all(|sum| sum.is_finite());
        let next = sums[sums.len() - 1];
        if (is_first && !is_finite) || self.evaluations > EVALUATIONS {
            self.end = End::Left;
            return;
        }
        let most = if self.is_last { self.cost() * (1.0 + 1e-10) } else { self.cost() };
        if is_finite && (is_first || next <= most) {
            let count = self.job.free.len();
            if !is_first && !self.is_last {
                let gained = (0..count)
                    .map(|at| self.step[at] * (self.damping * self.largest[at] * self.step[at] - self.gradient[at]));
                let predicted = 0.5 * gained.sum::<f64>();
                let ratio = (self.cost() - next) / predicted;
                self.damping *= (1.0 - (2.0 * ratio - 1.0).powi(3)).max(1.0 / 3.0);
                self.growth = 2.0;
            }
            // A cost that was halved is not at its minimum yet.
            let is_near = next > 0.5 * self.cost();
            self.is_last &= is_near;
            (0..count).for_each(|at| self.x[at] += self.step[at]);
            self.sums.copy_from_slice(sums);
            self.unpack();
            if is_near && self.is_done() {
                return;
            }
        } else {
            self.damping *= self.growth;
            self.growth *= 2.0;
        }
        self.aim();
    }

    /// JᵀJ and Jᵀr of the free variables.
    fn unpack(&mut self) {
        for (row, &i) in self.job.free.iter().enumerate() {
            for (column, &j) in self.job.free.iter().enumerate().skip(row) {
                let sum = self.sums[self.place(i) + j - i];
                (self.hessian[row][column], self.hessian[column][row]) = (sum, sum);
            }
            self.gradient[row] = self.sums[self.place(i) + self.variables.len() - i];
            self.largest[row] = self.largest[row].max(self.hessian[row][row]);
        }
    }

    /// Ends the fit if it is not expected to move.
    fn is_done(&mut self) -> bool {
        let count = self.job.free.len();
        let dof = self.job.rows.len() - count;
        let Some(factor) = Factor::of(&self.hessian, count, |_| 0.0) else { return false };
        let mut turned = [0.0; MOST];
        (0..count).for_each(|at| turned[at] = factor.scale[at] * self.gradient[at]);
        factor.forward(&mut turned, count);
        let decrement: f64 = turned[..count].iter().map(|turned| turned * turned).sum();
        let cost = self.cost();
        let is_within = |shift: f64| dof > 0 && decrement * dof as f64 <= shift * shift * 2.0 * cost;
        self.is_last = is_within(NEAR);
        let effects = (0..count).map(|at| self.x[at] * self.x[at] * self.hessian[at][at]);
        if !(is_within(SHIFT) || is_rounding(decrement, effects)) {
            return false;
        }
        factor.backward(&mut turned, count);
        (0..count).for_each(|at| self.x[at] -= factor.scale[at] * turned[at]);
        let is_sound = (0..count).all(|at| factor.lower[at][at] * factor.lower[at][at] > CONDITION);
        self.end = if is_sound { End::Solved } else { End::Left };
        true
    }

    /// The next trial point: a damped step.
    fn aim(&mut self) {
        let count = self.job.free.len();
        let damping = |at: usize| self.damping * if self.largest[at] == 0.0 { 1.0 } else { self.largest[at] };
        let Some(factor) = Factor::of(&self.hessian, count, damping).filter(|_| self.damping < MOST_DAMPING) else {
            self.end = End::Left;
            return;
        };
        let mut step = [0.0; MOST];
        (0..count).for_each(|at| step[at] = -factor.scale[at] * self.gradient[at]);
        factor.forward(&mut step, count);
        factor.backward(&mut step, count);
        for (at, &variable) in self.job.free.iter().enumerate() {
            self.step[at] = factor.scale[at] * step[at];
            self.variables[variable] = self.x[at] + self.step[at];
        }
    }
}
