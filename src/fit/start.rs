//! Where the search starts. Parameters without a start are looked for on up to a thousand rows: those in which the model is linear are solved
//! for, the others are drawn from ranges that fit the data, and the best of the searches from the best draws is the start.

use nalgebra::{DMatrix, DVector};

use super::linear::linear;
use super::problem::Problem;
use super::solve::Found;
use super::sums::free_program;
use crate::error::{Error, Result};
use crate::host::splitmix::{STEP, mixed};
use crate::program::Program;

/// Rows that the draws are compared on, at most.
const ROWS: usize = 1_000;
/// Draws.
const DRAWS: usize = 3_000;
/// Draws from which a search starts.
const BEST: usize = 6;
/// More parameters than these are not found by drawing.
const MOST_DRAWN: usize = 8;

/// Where to start: the given start, or the end of the best of the searches on a sample of the rows. Errors if the model is finite at no draw.
pub(super) fn start(
    problem: &Problem<'_>,
    free: &[usize],
    seed: u64,
    search: impl Fn(&Problem<'_>, &DVector<f64>) -> Option<Found>,
) -> Result<DVector<f64>> {
    let given: Vec<Option<f64>> = free.iter().map(|&at| problem.parameters[at].start).collect();
    if let Some(start) = given.iter().copied().collect::<Option<Vec<f64>>>() {
        return Ok(DVector::from_vec(start));
    }
    let program = free_program(problem, free);
    let solved: Vec<usize> = linear(&program, free.len()).into_iter().filter(|&at| given[at].is_none()).collect();
    let drawn: Vec<usize> = (0..free.len()).filter(|at| given[*at].is_none() && !solved.contains(at)).collect();
    let names = |places: &[usize]| {
        let names: Vec<&str> = places.iter().map(|&at| problem.parameters[free[at]].name.as_str()).collect();
        let example: Vec<String> = names.iter().map(|name| format!("{name}=1")).collect();
        (names.join(", "), example.join(","))
    };
    if drawn.len() > MOST_DRAWN {
        let (names, example) = names(&drawn);
        return Err(Error::usage(format!(
            "p0: {} parameters have no start ({names}), and at most {MOST_DRAWN} are looked for: expected starts such as {example}",
            drawn.len()
        )));
    }
    let sample = Sample::of(problem, &program, free.len());
    let draws = if drawn.is_empty() { 1 } else { DRAWS };
    let mut random = Random(seed);
    let mut found: Vec<(f64, DVector<f64>)> = Vec::new();
    for _ in 0..draws {
        let mut x = DVector::from_fn(free.len(), |at, _| given[at].unwrap_or(0.0));
        for &at in &drawn {
            let parameter = &problem.parameters[free[at]];
            x[at] = sample.draw(parameter.low, parameter.high, &mut random);
        }
        sample.solve(&mut x, &solved);
        for &at in &solved {
            let parameter = &problem.parameters[free[at]];
            x[at] = x[at].clamp(parameter.low, parameter.high);
        }
        let cost = sample.cost(&x);
        if cost.is_finite() {
            found.push((cost, x));
        }
    }
    if found.is_empty() {
        let (names, example) = names(if drawn.is_empty() { &solved } else { &drawn });
        return Err(Error::usage(format!(
            "p0: no start was found at which the model is finite, for {names}: expected starts near the answer, such as {example}"
        )));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let best = found[0].1.clone();
    let sampled = sample.problem(problem);
    let ends = found.into_iter().take(BEST).filter_map(|(_, x)| search(&sampled, &x));
    let lowest = ends.min_by(|a, b| a.normal.cost.total_cmp(&b.normal.cost));
    Ok(lowest.map_or(best, |found| found.x))
}

/// Rows spread evenly over the data.
struct Sample<'a> {
    derivatives: &'a Program,
    value_and_slopes: Program,
    free: usize,
    columns: Vec<Vec<f64>>,
    y: Vec<f64>,
    sigma: Option<Vec<f64>>,
    weights: Vec<f64>,
}

impl<'a> Sample<'a> {
    fn of(problem: &Problem<'_>, program: &'a Program, free: usize) -> Self {
        let rows = problem.rows();
        let count = rows.min(ROWS);
        let picked: Vec<usize> = (0..count).map(|at| at * rows / count).collect();
        let pick = |values: &[f64]| picked.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let places: Vec<usize> = (0..free).collect();
        let sigma = problem.sigma.map(pick);
        Self {
            derivatives: program,
            value_and_slopes: program.with_gradient(&places),
            free,
            columns: problem.columns.iter().map(|values| pick(values)).collect(),
            y: pick(problem.y),
            weights: sigma.as_ref().map_or(vec![1.0; count], |sigma| sigma.iter().map(|sigma| sigma.recip()).collect()),
            sigma,
        }
    }

    /// The problem over these rows.
    fn problem(&self, problem: &Problem<'_>) -> Problem<'_> {
        Problem {
            formula: problem.formula.clone(),
            parameters: problem.parameters.clone(),
            columns: self.columns.iter().map(Vec::as_slice).collect(),
            y: &self.y,
            sigma: self.sigma.as_deref(),
            ..*problem
        }
    }

    fn run(&self, program: &Program, x: &DVector<f64>) -> Vec<Vec<f64>> {
        let scalars: Vec<[f64; 1]> = x.iter().map(|&value| [value]).collect();
        let inputs: Vec<&[f64]> =
            scalars.iter().map(|value| &value[..]).chain(self.columns.iter().map(Vec::as_slice)).collect();
        program.results(&inputs, self.y.len())
    }

    /// Half the weighted sum of squares.
    fn cost(&self, x: &DVector<f64>) -> f64 {
        let values = &self.run(self.derivatives, x)[0];
        let rows = values.iter().zip(&self.y).zip(&self.weights);
        rows.map(|((value, y), weight)| 0.5 * ((value - y) * weight).powi(2)).sum()
    }

    /// Sets the parameters in `solved`, in which the model is linear and which are 0, to their best values; leaves them if the model is not finite.
    fn solve(&self, x: &mut DVector<f64>, solved: &[usize]) {
        if solved.is_empty() {
            return;
        }
        debug_assert_eq!(self.free, x.len());
        let results = self.run(&self.value_and_slopes, x);
        let weighted = |row: usize, column: usize| results[1 + solved[column]][row] * self.weights[row];
        let matrix = DMatrix::from_fn(self.y.len(), solved.len(), weighted);
        let missing = DVector::from_fn(self.y.len(), |row, _| (self.y[row] - results[0][row]) * self.weights[row]);
        if !matrix.iter().chain(&missing).all(|entry| entry.is_finite()) {
            return;
        }
        let svd = matrix.svd(true, true);
        let limit = 1e-12 * svd.singular_values.max();
        if let Ok(values) = svd.solve(&missing, limit) {
            solved.iter().zip(&values).for_each(|(&at, value)| x[at] = *value);
        }
    }

    /// A value between the bounds; without two finite ones, one of the sizes that places, widths and rates have in the data.
    fn draw(&self, low: f64, high: f64, random: &mut Random) -> f64 {
        let is_closed = low.is_finite() && high.is_finite() && (high - low).is_finite();
        // Half of the draws between bounds are of the sizes in the data: bounds may be wide.
        if is_closed && random.unit() < 0.5 {
            let is_wide = low > 0.0 && high / low > 100.0;
            let share = random.unit();
            return if is_wide { low * (high / low).powf(share) } else { low + share * (high - low) };
        }
        let all = self.columns.len();
        let column = self.columns.get((random.unit() * all as f64) as usize).map_or(&self.y, |column| column);
        let [least, most] =
            [f64::min, f64::max].map(|pick: fn(f64, f64) -> f64| column.iter().copied().reduce(pick).unwrap_or(0.0));
        let range = if most > least { most - least } else { 1.0 };
        let sign = if random.unit() < 0.75 { 1.0 } else { -1.0 };
        let power = |low: f64, high: f64, random: &mut Random| 10_f64.powf(low + random.unit() * (high - low));
        let value = match (random.unit() * 4.0) as usize {
            0 => least + random.unit() * range,
            1 => sign * range * power(-2.0, 0.5, random),
            2 => sign * power(-1.0, 2.0, random) / range,
            _ => sign * power(-1.0, 1.0, random),
        };
        // Mirrored at a bound, if that helps.
        let mirrored = match value {
            _ if value < low => low + (low - value),
            _ if value > high => high - (value - high),
            _ => value,
        };
        mirrored.clamp(low, high)
    }
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    /// A number from 0 up to 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(STEP);
        (mixed(self.0) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
