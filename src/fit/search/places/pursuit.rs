//! A start for models with several terms, or with terms that have a place or a frequency: the terms are placed one after another where they explain the
//! most of what those before leave, and are then taken off and placed again one by one as long as the cost falls. Coefficients are solved for, phases too.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use nalgebra::DVector;

use super::roles::{Role, Shape, quarter};
use super::rows::{Basis, Rows};
use super::spacing::Spacing;
use super::terms::{Term, Terms};
use crate::fit::pass::{Objective, Sums};
use crate::fit::rows::Problem;
use crate::fit::search::SolveOptions;
use crate::fit::search::draws::{Draws, Random};
use crate::fit::search::local::Search;
use crate::fit::search::start::distinct;
use crate::fit::search::tries::solve;
use crate::host::ThreadPool;

/// Draws of a term.
const DRAWS: usize = 800;
/// Frequencies for each that the length of the data tells apart.
const FREQUENCIES: f64 = 4.0;
/// Most frequencies that are tried.
const MOST_FREQUENCIES: usize = 20_000;
/// Places of a term from which a brief search starts.
const BEST: usize = 4;
/// Evaluations of the model in it.
const BRIEF: usize = 15;
/// Times that every term is placed again, at most.
const ROUNDS: usize = 3;
/// A cost must fall by this share of itself to be lower.
const LOWER: f64 = 1e-3;

/// The widest that terms with a place are drawn, as shares of the range of the column.
const WIDTHS: [f64; 3] = [1.0, 0.1, 0.03];

/// Where draws come from.
struct Chance<'c> {
    draws: &'c Draws,
    random: &'c mut Random,
    widest: f64,
}

/// Cost and free parameters.
type Point = (f64, DVector<f64>);

/// The problem of a search for places, on a sample of the rows.
pub(crate) struct Pursuit<'p> {
    pub problem: &'p Problem<'p>,
    pub terms: &'p Terms,
    /// Of each column in the data.
    pub spacings: &'p [Spacing],
    pub options: &'p SolveOptions,
    pub pool: &'p ThreadPool,
}

impl Pursuit<'_> {
    /// The lowest point that is found; `given` free parameters keep their values until all terms are placed. One term may be laid over the places of
    /// several, from where no search leads away: all is done again with terms that are narrow at first.
    pub(crate) fn run(&self, given: &[Option<f64>]) -> Option<Point> {
        let rows = Rows::of(self.problem, self.terms)?;
        let draws = Draws::over(self.problem).ok()?;
        let is_several = self.terms.terms.iter().filter(|term| term.has_place()).count() > 1;
        let widths = if is_several { &WIDTHS[..] } else { &WIDTHS[..1] };
        let points = widths.iter().filter_map(|&widest| self.within(&rows, &draws, given, widest));
        points.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The same with terms that are drawn with widths up to a share of the range of a column.
    fn within(&self, rows: &Rows, draws: &Draws, given: &[Option<f64>], widest: f64) -> Option<Point> {
        let mut random = Random(self.options.seed);
        let mut point = (f64::INFINITY, DVector::from_fn(given.len(), |at, _| given[at].unwrap_or(0.0)));
        let mut placed = vec![false; self.terms.terms.len()];
        let mut known: Vec<bool> = given.iter().map(Option::is_some).collect();
        while placed.contains(&false) {
            let mut best: Option<(usize, Point)> = None;
            // Terms of one kind are placed in their order.
            let mut kinds: Vec<&Term> = Vec::new();
            for (at, term) in self.terms.terms.iter().enumerate().filter(|(at, _)| !placed[*at]) {
                if kinds.iter().any(|kind| self.is_alike(kind, term)) {
                    continue;
                }
                kinds.push(term);
                let found = self.placed(
                    rows,
                    (&point.1, &placed, &known),
                    at,
                    &mut Chance { draws, random: &mut random, widest },
                );
                best =
                    [best, found.map(|found| (at, found))].into_iter().flatten().min_by(|a, b| a.1.0.total_cmp(&b.1.0));
            }
            let (at, found) = best?;
            point = found;
            placed[at] = true;
            self.terms.terms[at].shapes.iter().for_each(|shape| known[shape.at] = true);
        }
        point = self.searched(&point.1, &placed, 0).unwrap_or(point);
        for _ in 0..ROUNDS {
            let before = point.0;
            for at in 0..placed.len() {
                if self.terms.terms.len() == 1 {
                    break;
                }
                placed[at] = false;
                let is_shared = |shape: &Shape| {
                    self.terms.terms.iter().enumerate().any(|(other, term)| other != at && term.has(shape.at))
                };
                let known: Vec<bool> = (0..given.len())
                    .map(|free| !self.terms.terms[at].shapes.iter().any(|shape| shape.at == free && !is_shared(shape)))
                    .collect();
                let chance = &mut Chance { draws, random: &mut random, widest };
                let found = self.placed(rows, (&point.1, &placed, &known), at, chance);
                placed[at] = true;
                let found = found.filter(|found| found.0 < point.0 * (1.0 - LOWER));
                point = found
                    .and_then(|found| self.searched(&found.1, &placed, 0))
                    .filter(|found| found.0 < point.0)
                    .unwrap_or(point);
            }
            if point.0 > before * (1.0 - LOWER) {
                break;
            }
        }
        Some(point)
    }

    /// The cost of the best constant coefficients alone, with every term left out.
    pub(crate) fn spread(&self) -> f64 {
        Rows::of(self.problem, self.terms).map_or(f64::INFINITY, |rows| {
            let mut basis = Basis::of(&rows);
            let none = vec![0.0; self.problem.free().len()];
            self.terms.plain.iter().for_each(|&at| basis.add(rows.factor(at, &none)));
            basis.cost()
        })
    }

    /// Whether two terms are of one kind: their parameters have the same roles, and what they multiply are the same at the same values.
    fn is_alike(&self, one: &Term, other: &Term) -> bool {
        if !one.is_like(other) {
            return false;
        }
        let free = self.problem.free();
        let is_open = |shape: &Shape| {
            let parameter = &self.problem.parameters[free[shape.at]];
            (parameter.low, parameter.high, parameter.start)
        };
        if !one.shapes.iter().zip(&other.shapes).all(|(a, b)| is_open(a) == is_open(b)) {
            return false;
        }
        let value = |term: &Term, seed: usize| {
            let inputs = self.terms.rest.inputs;
            let mut point: Vec<f64> = (0..inputs).map(|at| 0.37 + 0.211 * ((at + seed) % 5) as f64).collect();
            term.shapes
                .iter()
                .enumerate()
                .for_each(|(at, shape)| point[shape.at] = 0.61 + 0.173 * ((at + seed) % 7) as f64);
            term.coefficients.iter().map(|&at| self.terms.factors[at].at(&point)[0]).collect::<Vec<f64>>()
        };
        (0..4).all(|seed| {
            let (a, b) = (value(one, seed), value(other, seed));
            a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()))
        })
    }

    /// The best point with one more term, and those in `placed` where they are.
    fn placed(
        &self,
        rows: &Rows,
        (x, placed, known): (&DVector<f64>, &[bool], &[bool]),
        at: usize,
        chance: &mut Chance<'_>,
    ) -> Option<Point> {
        let term = &self.terms.terms[at];
        let mut basis = Basis::of(rows);
        let others = self.terms.terms.iter().zip(placed).filter(|(_, is_placed)| **is_placed);
        for &coefficient in self.terms.plain.iter().chain(others.flat_map(|(term, _)| &term.coefficients)) {
            basis.add(rows.factor(coefficient, x.as_slice()));
        }
        let mut scan = Scan { pursuit: self, rows, basis: &basis, term, known, best: Vec::new() };
        scan.run(x, chance);
        let mut found = scan.best;
        if found.is_empty() {
            return None;
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let open: Vec<usize> = term.shapes.iter().map(|shape| shape.at).filter(|&at| !known[at]).collect();
        let begun = distinct(found, &open, BEST);
        let mut with_it = placed.to_vec();
        with_it[at] = true;
        let ends = begun.into_iter().filter_map(|(_, x)| self.searched(&x, &with_it, BRIEF));
        ends.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Where a search over the parameters of some terms leads; the coefficients of the others are 0.
    fn searched(&self, x: &DVector<f64>, placed: &[bool], evaluations: usize) -> Option<Point> {
        let free = self.problem.free();
        let mut is_open = vec![false; free.len()];
        self.terms.plain.iter().for_each(|&at| is_open[self.terms.coefficients[at]] = true);
        for (term, _) in self.terms.terms.iter().zip(placed).filter(|(_, is_placed)| **is_placed) {
            term.shapes.iter().for_each(|shape| is_open[shape.at] = true);
            term.coefficients.iter().for_each(|&at| is_open[self.terms.coefficients[at]] = true);
        }
        let mut x = x.clone();
        let mut problem = self.problem.clone();
        for (place, &at) in free.iter().enumerate().filter(|(place, _)| !is_open[*place]) {
            if self.terms.coefficients.contains(&place) {
                x[place] = 0.0;
            }
            let parameter = &mut problem.parameters[at];
            (parameter.is_fixed, parameter.start) = (true, Some(x[place]));
        }
        let open: Vec<usize> = (0..free.len()).filter(|&place| is_open[place]).collect();
        let places: Vec<usize> = open.iter().map(|&place| free[place]).collect();
        let sums = Sums::new(&problem, self.pool);
        let options = SolveOptions { evaluations, ..self.options.clone() };
        let search = Search::of(&problem, &places, &options).ok()?;
        let mut own = DVector::from_iterator(open.len(), open.iter().map(|&place| x[place]));
        let solved: Vec<usize> = (0..open.len()).filter(|&at| self.terms.coefficients.contains(&open[at])).collect();
        solve(&sums.normal(own.as_slice()).ok()?, &mut own, &solved);
        for (at, &place) in places.iter().enumerate() {
            own[at] = own[at].clamp(problem.parameters[place].low, problem.parameters[place].high);
        }
        let found = search.run(&sums, &own).ok()?;
        open.iter().zip(&found.x).for_each(|(&place, value)| x[place] = *value);
        found.normal.cost.is_finite().then_some((found.normal.cost, x))
    }
}

/// A search for the place of one term.
struct Scan<'s> {
    pursuit: &'s Pursuit<'s>,
    rows: &'s Rows,
    /// What is placed, and what it leaves.
    basis: &'s Basis,
    term: &'s Term,
    /// Free parameters that keep their values.
    known: &'s [bool],
    best: Vec<Point>,
}

impl Scan<'_> {
    fn run(&mut self, x: &DVector<f64>, chance: &mut Chance<'_>) {
        let is_open = |shape: &&Shape| !self.known[shape.at];
        let open: Vec<Shape> = self.term.shapes.iter().filter(is_open).copied().collect();
        let turning = open.iter().find(|shape| matches!(shape.role, Role::Frequency { .. } | Role::Period { .. }));
        let frequencies = turning.map(|shape| self.frequencies(shape));
        let count = match &frequencies {
            Some(frequencies) => frequencies.len(),
            None if open.iter().all(|shape| shape.role == Role::Angle) => 1,
            None => DRAWS,
        };
        let shares = self.basis.shares();
        for number in 0..count {
            let mut x = x.clone();
            for shape in &open {
                x[shape.at] = match (shape.role, &frequencies) {
                    (Role::Frequency { .. } | Role::Period { .. }, Some(all)) if Some(shape) == turning => all[number],
                    _ => self.drawn(shape, &open, &shares, chance),
                };
            }
            self.try_at(x);
        }
    }

    /// A value of a parameter.
    fn drawn(&self, shape: &Shape, all: &[Shape], shares: &[f64], chance: &mut Chance<'_>) -> f64 {
        let Chance { draws, random, widest } = chance;
        let problem = self.pursuit.problem;
        let parameter = &problem.parameters[problem.free()[shape.at]];
        let (low, high) = (parameter.low, parameter.high);
        let place = all.iter().find_map(|shape| match shape.role {
            Role::Place { column } => Some(column),
            _ => None,
        });
        match (shape.role, place) {
            (Role::Angle, _) => 0.0_f64.clamp(low, high),
            (Role::Place { column }, _) => {
                // A row, one that much is left of in half of the draws.
                let at = random.unit();
                let row = if random.unit() < 0.5 {
                    shares.partition_point(|&share| share < at)
                } else {
                    (at * shares.len() as f64) as usize
                };
                let values = &self.rows.columns[column];
                values[row.min(values.len() - 1)].clamp(low, high)
            }
            (_, Some(column)) if random.unit() < 0.7 => {
                let [least, most] = draws.ranges()[column];
                let smallest = self.pursuit.spacings[column].mean.max(1e-4 * (most - least));
                let width = smallest * (*widest * (most - least) / smallest).max(2.0).powf(random.unit());
                let value = if random.unit() < 0.85 { width } else { -width };
                if value < low || value > high { (-value).clamp(low, high) } else { value }
            }
            (_, Some(column)) if *widest < 1.0 => {
                let [least, most] = draws.ranges()[column];
                let value = draws.draw(low, high, random);
                if value.abs() > *widest * (most - least) { (0.1 * value).clamp(low, high) } else { value }
            }
            _ => draws.draw(low, high, random),
        }
    }

    /// Values of a frequency or a period, from less than one turn over the data to a turn for two rows, or within its bounds.
    fn frequencies(&self, shape: &Shape) -> Vec<f64> {
        let (Role::Frequency { column, factor } | Role::Period { column, factor }) = shape.role else {
            return Vec::new();
        };
        let values = &self.rows.columns[column];
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let turn = TAU / (most - least);
        let is_period = matches!(shape.role, Role::Period { .. });
        // The parameter is positive here: a sinusoid of a negative one is another with a positive one.
        let value = |radians: f64| if is_period { factor / radians } else { radians / factor };
        let problem = self.pursuit.problem;
        let parameter = &problem.parameters[problem.free()[shape.at]];
        let top = PI / self.pursuit.spacings[column].mean;
        let mut ends = [0.25 * turn, top];
        if parameter.low > 0.0 || (parameter.low == 0.0 && parameter.high.is_finite()) {
            let bounds =
                [parameter.low, parameter.high].map(|bound| if is_period { factor / bound } else { bound * factor });
            let (low, high) = (bounds[0].min(bounds[1]), bounds[0].max(bounds[1]));
            ends = [low.max(0.25 * turn), if high.is_finite() { high } else { top.max(low) }];
        }
        let count = ((ends[1] - ends[0]) / turn * FREQUENCIES).ceil().clamp(1.0, MOST_FREQUENCIES as f64) as usize;
        (0..=count)
            .map(|at| value(ends[0] + (ends[1] - ends[0]) * at as f64 / count as f64))
            .filter(|value| parameter.admits(*value))
            .collect()
    }

    /// Keeps a point with the coefficients and phases of the term at their best values.
    fn try_at(&mut self, mut x: DVector<f64>) {
        let terms = self.pursuit.terms;
        let angle = self.term.shapes.iter().find(|shape| shape.role == Role::Angle && !self.known[shape.at]);
        let mut columns: Vec<Vec<f64>> =
            self.term.coefficients.iter().map(|&at| self.rows.factor(at, x.as_slice())).collect();
        let mut turn = None;
        if let Some(angle) = angle {
            let point: Vec<f64> =
                x.iter().copied().chain(self.rows.columns.iter().map(|column| column[column.len() / 3])).collect();
            let factor = &terms.factors[self.term.coefficients[0]];
            let Some(quarter) = quarter(factor, angle.at, &point) else { return };
            let start = x[angle.at];
            x[angle.at] = start + quarter;
            columns.push(self.rows.factor(self.term.coefficients[0], x.as_slice()));
            x[angle.at] = start;
            turn = Some((angle.at, quarter));
        }
        let Some((gain, values)) = self.basis.gain(columns) else { return };
        if let (Some((at, quarter)), &[cosine, sine]) = (turn, &values[..]) {
            // a φ(c + δ) = a cos(δ) φ(c) + a sin(δ) φ(c + a quarter of a turn)
            x[terms.coefficients[self.term.coefficients[0]]] = cosine.hypot(sine);
            x[at] += sine.atan2(cosine) * quarter / FRAC_PI_2;
        } else {
            let own = self.term.coefficients.iter().zip(&values);
            own.for_each(|(&at, value)| x[terms.coefficients[at]] = *value);
        }
        let problem = self.pursuit.problem;
        let free = problem.free();
        let mut is_within = true;
        for (place, &at) in free.iter().enumerate() {
            let parameter = &problem.parameters[at];
            if !parameter.admits(x[place]) {
                x[place] = x[place].clamp(parameter.low, parameter.high);
                is_within = false;
            }
        }
        // A point that had to be moved explains less; how much less, the search from it shows.
        self.best.push((self.basis.cost() - if is_within { gain } else { 0.0 }, x));
    }
}
