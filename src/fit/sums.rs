//! Sums over all rows in double precision: the cost, JᵀJ and Jᵀr at given parameters, where J holds the derivatives of the residuals r. Rows are
//! summed in pieces of fixed size and the pieces in order, so that the number of threads changes no bit.

use std::ops::Range;
use std::sync::Mutex;

use nalgebra::{DMatrix, DVector};

use super::loss::RobustLoss;
use super::problem::Problem;
use crate::host::ThreadPool;
use crate::program::Program;
use crate::program::slices::{Registers, Source};
use crate::simd::widened;

/// Rows computed at a time.
const TILE: usize = 512;
/// Rows of a piece.
const PIECE: usize = 64 * TILE;
/// Pieces whose sums are held at a time.
const WAVE: usize = 256;
/// Rows of J whose triangle is computed at a time.
const BLOCK: usize = 256;

/// The sums at one point.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    /// ½ Σ ρ.
    pub cost: f64,
    /// Jᵀr, with robust losses the exact gradient of the cost.
    pub gradient: DVector<f64>,
    /// JᵀJ, with robust losses of the rescaled rows.
    pub hessian: DMatrix<f64>,
}

/// Rows where the model or a derivative is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bad {
    /// How many there are, in the piece with the first.
    pub count: usize,
    /// The first, from 0.
    pub first: usize,
}

/// The model and its derivatives over the rows of a problem.
pub(super) struct Sums<'a> {
    problem: &'a Problem<'a>,
    /// Values that depend on the parameters only.
    outer: Program,
    /// The model's value and its derivatives; inputs: the free parameters, the columns, the outer values.
    rows: Program,
    free: usize,
    pool: &'a ThreadPool,
}

impl<'a> Sums<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, pool: &'a ThreadPool) -> Self {
        let free = problem.free();
        let columns = problem.columns.len();
        let program = free_program(problem, &free);
        let places: Vec<usize> = (0..free.len()).collect();
        let (outer, rows) = program.with_gradient(&places).split(|at| at < free.len());
        debug_assert_eq!(rows.inputs, free.len() + columns + outer.results.len());
        Self { problem, outer, rows, free: free.len(), pool }
    }

    /// The sums at the free parameters `x`.
    pub(super) fn normal(&self, x: &[f64]) -> Result<Normal, Bad> {
        let width = self.free + 1;
        let mut total = vec![0.0; width * (width + 1) / 2 + 1];
        self.each_piece(x, &mut total, |piece, sums| {
            let (products, cost) = sums.split_at_mut(sums.len() - 1);
            piece.products(products);
            cost[0] += piece.cost();
        })?;
        let (hessian, gradient) = unpacked(&total, self.free);
        Ok(Normal { cost: total[total.len() - 1], gradient, hessian })
    }

    /// The triangle R of J = QR, merged from the triangles of blocks of rows: it has the digits that JᵀJ loses.
    pub(super) fn triangle(&self, x: &[f64]) -> Result<DMatrix<f64>, Bad> {
        let free = self.free;
        let mut all = DMatrix::zeros(0, free);
        // A triangle per piece, merged in order.
        let mut merge = |part: &[f64]| all = stacked(&all, part, free);
        let pieces = self.problem.rows().div_ceil(PIECE);
        for first in (0..pieces).step_by(WAVE) {
            let count = WAVE.min(pieces - first);
            let parts: Vec<Mutex<Result<DMatrix<f64>, Bad>>> =
                (0..count).map(|_| Mutex::new(Ok(DMatrix::zeros(0, free)))).collect();
            self.pool.parallel(count, &|at| {
                let mut own = DMatrix::zeros(0, free);
                let done = self.piece(x, first + at, |tile| {
                    for start in (0..tile.count).step_by(BLOCK) {
                        own = tile.stacked(&own, start..tile.count.min(start + BLOCK));
                    }
                });
                *parts[at].lock().expect("no thread panicked") = done.map(|()| own);
            });
            for part in parts {
                let part = part.into_inner().expect("no thread panicked")?;
                merge(part.transpose().as_slice());
            }
        }
        Ok(all)
    }

    /// Runs `add` over all tiles of each piece with the piece's sums, and adds the pieces' sums to `total` in order.
    fn each_piece(&self, x: &[f64], total: &mut [f64], add: impl Fn(&Tile, &mut [f64]) + Sync) -> Result<(), Bad> {
        let pieces = self.problem.rows().div_ceil(PIECE);
        for first in (0..pieces).step_by(WAVE) {
            let count = WAVE.min(pieces - first);
            let parts: Vec<Mutex<Result<Vec<f64>, Bad>>> = (0..count).map(|_| Mutex::new(Ok(Vec::new()))).collect();
            self.pool.parallel(count, &|at| {
                let mut sums = vec![0.0; total.len()];
                let done = self.piece(x, first + at, |tile| add(tile, &mut sums));
                *parts[at].lock().expect("no thread panicked") = done.map(|()| sums);
            });
            for part in parts {
                let part = part.into_inner().expect("no thread panicked")?;
                total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
            }
        }
        Ok(())
    }

    /// Runs `add` over the tiles of one piece.
    fn piece(&self, x: &[f64], piece: usize, mut add: impl FnMut(&Tile)) -> Result<(), Bad> {
        let rows = piece * PIECE..self.problem.rows().min((piece + 1) * PIECE);
        let columns = self.problem.columns.len();
        let inputs = [x, &vec![0.0; columns]].concat();
        let outer = self.outer.at(&inputs);
        // Columns are slices: their places here are not used.
        let scalars = [x, &vec![0.0; columns], &outer].concat();
        let fills: Vec<_> = scalars.iter().map(|&scalar| move |target: &mut [f64]| target.fill(scalar)).collect();
        let mut memory = vec![0.0; Registers::<f64>::words(&self.rows)];
        let mut registers = Registers::new(&self.rows, &mut memory);
        let mut tile = Tile::new(self.free);
        for start in rows.clone().step_by(TILE) {
            let range = start..rows.end.min(start + TILE);
            let source = |at: usize| match at.checked_sub(self.free) {
                Some(column) if column < columns => Source::Slice(&self.problem.columns[column][range.clone()]),
                _ => Source::Fill(&fills[at]),
            };
            self.rows.evaluate(range.len(), &mut registers, &source);
            let value = |result: usize| self.rows.value(result, range.len(), &registers, &source);
            tile.fill(self.problem, &range, value);
            if tile.is_finite() {
                add(&tile);
            } else {
                return Err(tile.bad(range.start));
            }
        }
        Ok(())
    }
}

/// The model over the free parameters, then the columns: fixed parameters are constants.
pub(super) fn free_program(problem: &Problem<'_>, free: &[usize]) -> Program {
    let (all, columns) = (problem.parameters.len(), problem.columns.len());
    Program::build(free.len() + columns, |inputs| {
        let parameter = |at: usize| match free.iter().position(|&place| place == at) {
            Some(place) => inputs[place],
            None => problem.parameters[at].start.unwrap_or_default().into(),
        };
        let taken: Vec<_> = (0..all).map(parameter).chain(inputs[free.len()..].iter().copied()).collect();
        problem.formula.program().emit(&taken)
    })
}

/// Weighted derivatives and residuals of up to `TILE` rows.
struct Tile {
    free: usize,
    count: usize,
    /// [free + 1, TILE]: a row for each derivative, then the residuals; with robust losses rescaled so that their products are those of the cost.
    rows: Vec<f64>,
    /// ½ Σ ρ.
    cost: f64,
}

impl Tile {
    fn new(free: usize) -> Self {
        Self { free, count: 0, rows: vec![0.0; (free + 1) * TILE], cost: 0.0 }
    }

    fn cost(&self) -> f64 {
        self.cost
    }

    /// Sets the tile from the model's values and derivatives, by result.
    fn fill<'v>(&mut self, problem: &Problem<'_>, range: &Range<usize>, value: impl Fn(usize) -> &'v [f64]) {
        let (count, free) = (range.len(), self.free);
        self.count = count;
        let (derivatives, residuals) = self.rows.split_at_mut(free * TILE);
        let residuals = &mut residuals[..count];
        let y = &problem.y[range.clone()];
        widened(|| residuals.iter_mut().zip(value(0)).zip(y).for_each(|((r, f), y)| *r = f - y));
        for (at, row) in derivatives.chunks_exact_mut(TILE).enumerate() {
            row[..count].copy_from_slice(value(1 + at));
        }
        if let Some(sigma) = problem.sigma {
            let sigma = &sigma[range.clone()];
            let divide = |row: &mut [f64]| row.iter_mut().zip(sigma).for_each(|(x, sigma)| *x /= sigma);
            widened(|| {
                divide(residuals);
                derivatives.chunks_exact_mut(TILE).for_each(|row| divide(&mut row[..count]));
            });
        }
        if problem.loss == RobustLoss::Linear {
            self.cost = 0.5 * dot(residuals, residuals);
            return;
        }
        let square = problem.scale * problem.scale;
        let mut cost = 0.0;
        for at in 0..count {
            let residual = residuals[at];
            let [rho, slope, curvature] = problem.loss.at(residual * residual / square);
            cost += 0.5 * square * rho;
            // Triggs' correction, as in SciPy and Ceres.
            let factor = (slope + 2.0 * curvature * residual * residual / square).max(f64::EPSILON).sqrt();
            residuals[at] = residual * slope / factor;
            derivatives.chunks_exact_mut(TILE).for_each(|row| row[at] *= factor);
        }
        self.cost = cost;
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.rows[at * TILE..][..self.count]
    }

    fn is_finite(&self) -> bool {
        // A sum of numbers that are all finite may only overflow if they are larger than any use.
        let sum = |row: &[f64]| row.iter().map(|x| x.abs()).sum::<f64>();
        self.cost.is_finite() && (0..=self.free).all(|at| widened(|| sum(self.row(at))).is_finite())
    }

    fn bad(&self, first: usize) -> Bad {
        let is_bad = |&at: &usize| (0..=self.free).any(|row| !self.row(row)[at].is_finite());
        let bad: Vec<usize> = (0..self.count).filter(is_bad).collect();
        Bad { count: bad.len().max(1), first: first + bad.first().copied().unwrap_or(0) }
    }

    /// Adds the products of all pairs of rows but the residuals' own: (0, 0), (0, 1), …, (0, free), (1, 1), …
    fn products(&self, sums: &mut [f64]) {
        let mut at = 0;
        for i in 0..self.free {
            for j in i..=self.free {
                sums[at] += dot(self.row(i), self.row(j));
                at += 1;
            }
        }
    }

    /// The triangle of the rows of `triangle` followed by those of J in `range`.
    fn stacked(&self, triangle: &DMatrix<f64>, range: Range<usize>) -> DMatrix<f64> {
        let mut part = Vec::with_capacity(range.len() * self.free);
        for row in range {
            part.extend((0..self.free).map(|at| self.rows[at * TILE + row]));
        }
        stacked(triangle, &part, self.free)
    }
}

/// The triangle of the rows of `triangle` followed by more rows [_, columns].
fn stacked(triangle: &DMatrix<f64>, more: &[f64], columns: usize) -> DMatrix<f64> {
    let rows = triangle.nrows() + more.len() / columns;
    let all = DMatrix::from_fn(rows, columns, |row, column| match row.checked_sub(triangle.nrows()) {
        None => triangle[(row, column)],
        Some(row) => more[row * columns + column],
    });
    all.qr().r()
}

/// JᵀJ and Jᵀr from the products of a tile.
fn unpacked(sums: &[f64], free: usize) -> (DMatrix<f64>, DVector<f64>) {
    let (mut hessian, mut gradient) = (DMatrix::zeros(free, free), DVector::zeros(free));
    let mut each = sums.iter();
    for i in 0..free {
        for j in i..=free {
            let sum = each.next().copied().unwrap_or_default();
            if j == free {
                gradient[i] = sum;
            } else {
                (hessian[(i, j)], hessian[(j, i)]) = (sum, sum);
            }
        }
    }
    (hessian, gradient)
}

/// Σ a b in sixteen lanes, in the same order on every machine.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    widened(|| {
        let mut lanes = [0.0; 16];
        let ((a, rest), (b, more)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
        for (a, b) in a.iter().zip(b) {
            for lane in 0..16 {
                lanes[lane] += a[lane] * b[lane];
            }
        }
        for (lane, (a, b)) in rest.iter().zip(more).enumerate() {
            lanes[lane] += a * b;
        }
        for apart in [8, 4, 2, 1] {
            for lane in 0..apart {
                lanes[lane] += lanes[lane + apart];
            }
        }
        lanes[0]
    })
}
