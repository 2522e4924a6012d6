//! Sums over all rows in double precision: the cost, JᵀJ and Jᵀr at given parameters, where J holds the derivatives of the residuals r. Rows are
//! summed in pieces of fixed size and the pieces in order, so that the number of threads changes no bit.

use std::ops::Range;

use nalgebra::DMatrix;

use super::model::{Memory, Model};
use super::moments::Moments;
use super::normal::{Bad, Normal, Objective, Partial, add, size};
use super::tile::{Tile, Triangle};
use crate::error::Result as Outcome;
use crate::fit::formula::Running;
use crate::fit::rows::pieces::{self, WAVE};
use crate::fit::rows::{Part, Problem};
use crate::host::ThreadPool;

/// The sums over the rows of a problem.
pub(crate) struct Sums<'a> {
    problem: &'a Problem<'a>,
    model: Model,
    /// For each group and each variable of the model, its place among the free parameters; `None` if it is fixed.
    places: Vec<Vec<Option<usize>>>,
    /// Whether an integral depends on parameters that differ between groups.
    has_own_integrals: bool,
    pool: &'a ThreadPool,
}

impl<'a> Sums<'a> {
    pub(crate) fn new(problem: &'a Problem<'a>, pool: &'a ThreadPool) -> Self {
        let model = Model::new(problem);
        let mut of_parameter = vec![None; problem.parameters.len()];
        let free = problem.free();
        free.iter().enumerate().for_each(|(place, &at)| of_parameter[at] = Some(place));
        let of_group = |places: &Vec<usize>| model.variables.iter().map(|&at| of_parameter[places[at]]).collect();
        let places = problem.places.iter().map(of_group).collect();
        let has_levels = |at: &usize| !problem.formula.levels(*at).is_empty();
        let own: Vec<usize> = (0..problem.formula.parameters().len()).filter(has_levels).collect();
        let has_own_integrals = model.integrals.iter().any(|integral| own.iter().any(|&at| integral.program.uses(at)));
        Self { problem, model, places, has_own_integrals, pool }
    }

    /// The triangle R of J = QR of each group's rows, merged from those of pieces: it has the digits that JᵀJ loses. With a robust loss it is scaled so
    /// that (RᵀR)⁻¹ times the variance of the residuals is the covariance of an M-estimator.
    pub(crate) fn triangles(&self, x: &[f64]) -> Result<Vec<Triangle>, Bad> {
        self.triangles_of(x, self.model.variables.len())
    }

    /// The triangle of J with the residuals as one more column, for a problem of one group.
    pub(crate) fn triangle_with_residuals(&self, x: &[f64]) -> Result<DMatrix<f64>, Bad> {
        let count = self.model.variables.len() + 1;
        let triangles = self.triangles_of(x, count)?;
        Ok(DMatrix::from_row_slice(count, count, &triangles[0].entries))
    }

    fn triangles_of(&self, x: &[f64], count: usize) -> Result<Vec<Triangle>, Bad> {
        let running = self.running(x);
        let mut merged: Vec<Triangle> = self.places.iter().map(|_| Triangle::new(count)).collect();
        let make = |piece| {
            self.piece(
                x,
                &running,
                piece,
                || Triangle::new(count),
                |triangle, tile| tile.merge_into(triangle),
                |triangle| triangle.entries.iter().all(|entry| entry.is_finite()),
            )
        };
        pieces::each(self.pool, 0..self.pieces(), make, |parts| {
            for (group, part) in &parts {
                merged[*group].merge(part);
            }
        })?;
        let mut moments = Moments::default();
        for triangle in &merged {
            moments.merge(&triangle.moments);
        }
        let free = self.problem.free().len();
        if let Some(factor) = moments.factor(free, self.problem.is_absolute) {
            merged.iter_mut().flat_map(|triangle| &mut triangle.entries).for_each(|entry| *entry *= factor);
        }
        Ok(merged)
    }

    /// The weighted residuals of all rows, in the order of the groups, with the linear loss.
    pub(crate) fn residuals(&self, x: &[f64]) -> Result<Vec<f64>, Bad> {
        let running = self.running(x);
        let mut all = Vec::with_capacity(self.problem.data.rows());
        let make = |piece| {
            let add = |residuals: &mut Vec<f64>, tile: &Tile<'_>| residuals.extend_from_slice(tile.residuals());
            self.piece(x, &running, piece, Vec::new, add, |residuals| residuals.iter().all(|one| one.is_finite()))
        };
        pieces::each(self.pool, 0..self.pieces(), make, |parts| {
            for (_, part) in parts {
                all.extend(part);
            }
        })?;
        Ok(all)
    }

    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// Number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.places.len()
    }

    /// For each group and each variable of the model, its place among the free parameters.
    pub(crate) fn places(&self) -> &[Vec<Option<usize>>] {
        &self.places
    }

    /// The model's variables in a group, then the values that depend on them only.
    pub(crate) fn scalars(&self, group: usize, x: &[f64]) -> Vec<f64> {
        let all = self.parameters(group, x);
        let variables: Vec<f64> = self.model.variables.iter().map(|&at| all[at]).collect();
        self.model.scalars(&variables)
    }

    fn pieces(&self) -> usize {
        self.problem.data.rows().div_ceil(pieces::PIECE)
    }

    /// The integrals in each group; once if they are the same in all.
    fn running(&self, x: &[f64]) -> Vec<Vec<Running>> {
        let groups = match &self.model.integrals[..] {
            [] => 0,
            _ if self.has_own_integrals => self.places.len(),
            _ => 1,
        };
        (0..groups).map(|group| self.model.running(&self.problem.data.grids, &self.parameters(group, x))).collect()
    }

    /// All parameters of the formula in a group.
    fn parameters(&self, group: usize, x: &[f64]) -> Vec<f64> {
        let mut values: Vec<f64> = self.problem.places[group]
            .iter()
            .map(|&place| self.problem.parameters[place].start.unwrap_or_default())
            .collect();
        for (&at, place) in self.model.variables.iter().zip(&self.places[group]) {
            if let Some(place) = place {
                values[at] = x[*place];
            }
        }
        values
    }

    /// Something of each group's rows in a piece: computed from the tiles, and a second time with mended derivatives if it is not right the first.
    fn piece<T>(
        &self,
        x: &[f64],
        running: &[Vec<Running>],
        piece: usize,
        new: impl Fn() -> T,
        add: impl Fn(&mut T, &Tile<'_>),
        is_right: impl Fn(&T) -> bool,
    ) -> Result<Vec<(usize, T)>, Bad> {
        let range = pieces::range(piece, self.problem.data.rows());
        let mut words = vec![0.0; self.model.words()];
        let mut memory = self.model.memory(&mut words);
        self.problem.data.with(range, |part| {
            let mut made = Vec::with_capacity(part.runs.len());
            for (group, rows) in part.runs {
                let mut once = |is_mended| {
                    let mut one = new();
                    self.run(x, running, (part, *group, rows), is_mended, &mut memory, |tile, _| add(&mut one, tile));
                    is_right(&one).then_some(one)
                };
                match once(false).or_else(|| once(true)) {
                    Some(one) => made.push((*group, one)),
                    None => return Err(self.bad(x, running, (part, *group, rows), &mut memory)),
                }
            }
            Ok(made)
        })?
    }

    fn run(
        &self,
        x: &[f64],
        running: &[Vec<Running>],
        (part, group, rows): (&Part<'_>, usize, &Range<usize>),
        is_mended: bool,
        memory: &mut Memory<'_>,
        take: impl FnMut(&Tile<'_>, usize),
    ) {
        let all = self.parameters(group, x);
        let variables: Vec<f64> = self.model.variables.iter().map(|&at| all[at]).collect();
        let own = if self.has_own_integrals { group } else { 0 };
        let running = running.get(own).map_or(&[][..], Vec::as_slice);
        self.model.run(&variables, running, (part, rows), is_mended, memory, take);
    }

    /// The rows that are not finite; if only sums are, the first.
    fn bad(
        &self,
        x: &[f64],
        running: &[Vec<Running>],
        (part, group, rows): (&Part<'_>, usize, &Range<usize>),
        memory: &mut Memory<'_>,
    ) -> Bad {
        let mut bad: Option<(usize, usize)> = None;
        self.run(x, running, (part, group, rows), true, memory, |tile, start| {
            let places = tile.bad();
            if let Some(&first) = places.first() {
                let (count, first) = bad.unwrap_or((0, start + first));
                bad = Some((count + places.len(), first));
            }
        });
        let (count, first) = bad.unwrap_or((1, rows.start));
        Bad::Rows { count, first: part.numbers.of(first) }
    }

    /// The sums over the rows that are not in `partial` yet and those that are; `watch` sees the sums now and then and may end the pass with an error.
    pub(crate) fn summed(
        &self,
        mut partial: Partial,
        watch: &mut dyn FnMut(&Partial) -> Outcome<()>,
    ) -> Result<Normal, Bad> {
        let count = size(self.model.variables.len());
        let x = partial.x.clone();
        let running = self.running(&x);
        let make = |piece| {
            let new = || (vec![0.0; count], 0);
            let add = |(sums, mended): &mut (Vec<f64>, usize), tile: &Tile<'_>| {
                add(sums, tile);
                *mended += tile.mended;
            };
            // The sums are finite if all rows are, unless they overflow.
            self.piece(&x, &running, piece, new, add, |(sums, _)| sums.iter().all(|sum| sum.is_finite()))
        };
        let pieces = self.pieces();
        while partial.pieces < pieces {
            let next = pieces.min(partial.pieces + WAVE);
            let Partial { normal, open, pieces: first, .. } = &mut partial;
            pieces::each(self.pool, *first..next, make, |parts| {
                for (group, (sums, mended)) in parts {
                    normal.mended += mended;
                    match open {
                        Some((last, total)) if *last == group => {
                            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
                        }
                        _ => {
                            if let Some((group, sums)) = open.replace((group, sums)) {
                                normal.add(&sums, &self.places[group]);
                            }
                        }
                    }
                }
            })?;
            partial.pieces = next;
            if next < pieces {
                watch(&partial)?;
            }
        }
        let Partial { mut normal, open, .. } = partial;
        if let Some((group, sums)) = open {
            normal.add(&sums, &self.places[group]);
        }
        Ok(normal)
    }
}

impl Objective for Sums<'_> {
    fn normal(&self, x: &[f64]) -> Result<Normal, Bad> {
        self.summed(Partial::new(x), &mut |_| Ok(()))
    }
}
