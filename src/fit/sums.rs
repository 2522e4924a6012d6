//! Sums over all rows in double precision: the cost, JᵀJ and Jᵀr at given parameters, where J holds the derivatives of the residuals r. Rows are
//! summed in pieces of fixed size and the pieces in order, so that the number of threads changes no bit.

use std::sync::Mutex;

use nalgebra::{DMatrix, DVector};

use super::problem::Problem;
use super::tile::{TILE, Tile, TileMemory, Triangle};
use crate::host::ThreadPool;
use crate::program::Program;
use crate::program::slices::{Registers, Source};

/// Rows of a piece.
const PIECE: usize = 128 * TILE;
/// Pieces whose sums are held at a time.
const WAVE: usize = 256;

/// The sums at one point.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    /// ½ Σ ρ.
    pub cost: f64,
    /// Σ r² of the weighted residuals.
    pub squares: f64,
    /// Derivatives that were not finite where the model was, and counted as 0.
    pub mended: usize,
    /// Jᵀr, with robust losses the exact gradient of the cost.
    pub gradient: DVector<f64>,
    /// JᵀJ, with robust losses of the rescaled rows.
    pub hessian: DMatrix<f64>,
}

/// Rows where the model is not finite.
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
        // The products but the residuals' own, then the squares and the cost.
        let count = width * (width + 1) / 2 + 1;
        let (mut total, mut mended) = (vec![0.0; count], 0);
        let make = |piece, is_mended| {
            let (mut sums, mut mended) = (vec![0.0; count], 0);
            self.piece(x, piece, is_mended, |tile, _| {
                tile.add_products(&mut sums[..count - 2]);
                sums[count - 2] += tile.squares;
                sums[count - 1] += tile.cost;
                mended += tile.mended;
            });
            // The sums are finite if all rows are, unless they overflow.
            sums.iter().all(|sum| sum.is_finite()).then_some((sums, mended))
        };
        let make = |piece| make(piece, false).or_else(|| make(piece, true)).ok_or_else(|| self.bad(x, piece));
        self.each_piece(make, |(sums, more)| {
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            mended += more;
        })?;
        let (hessian, gradient) = unpacked(&total, self.free);
        Ok(Normal { cost: total[count - 1], squares: total[count - 2], mended, gradient, hessian })
    }

    /// The triangle R of J = QR, merged from the triangles of pieces: it has the digits that JᵀJ loses.
    pub(super) fn triangle(&self, x: &[f64]) -> Result<DMatrix<f64>, Bad> {
        let mut merged = Triangle::new(self.free);
        let make = |piece, is_mended| {
            let mut triangle = Triangle::new(self.free);
            self.piece(x, piece, is_mended, |tile, _| tile.merge_into(&mut triangle));
            triangle.entries.iter().all(|entry| entry.is_finite()).then_some(triangle)
        };
        let make = |piece| make(piece, false).or_else(|| make(piece, true)).ok_or_else(|| self.bad(x, piece));
        self.each_piece(make, |triangle| merged.merge(&triangle))?;
        Ok(DMatrix::from_row_slice(self.free, self.free, &merged.entries))
    }

    /// Computes something of every piece, on all threads, and hands the results over in order.
    fn each_piece<T: Send>(
        &self,
        make: impl Fn(usize) -> Result<T, Bad> + Sync,
        mut take: impl FnMut(T),
    ) -> Result<(), Bad> {
        let pieces = self.problem.rows().div_ceil(PIECE);
        for first in (0..pieces).step_by(WAVE) {
            let parts: Vec<Mutex<Option<Result<T, Bad>>>> =
                (0..WAVE.min(pieces - first)).map(|_| Mutex::new(None)).collect();
            self.pool.parallel(parts.len(), &|at| {
                let made = make(first + at);
                *parts[at].lock().expect("no thread panicked") = Some(made);
            });
            for part in parts {
                take(part.into_inner().expect("no thread panicked").expect("every piece was computed")?);
            }
        }
        Ok(())
    }

    /// Hands over the tiles of one piece, each with its first row.
    fn piece(&self, x: &[f64], piece: usize, is_mended: bool, mut take: impl FnMut(&Tile<'_>, usize)) {
        let rows = piece * PIECE..self.problem.rows().min((piece + 1) * PIECE);
        let columns = self.problem.columns.len();
        let none = vec![0.0; columns];
        let outer = self.outer.at(&[x, &none].concat());
        // Columns are slices: their places here are not used.
        let scalars = [x, &none, &outer].concat();
        let fills: Vec<_> = scalars.iter().map(|&scalar| move |target: &mut [f64]| target.fill(scalar)).collect();
        let mut memory = vec![0.0; Registers::<f64>::words(&self.rows)];
        let mut registers = Registers::new(&self.rows, &mut memory);
        let mut tile = TileMemory::new(self.free);
        for start in rows.clone().step_by(TILE) {
            let range = start..rows.end.min(start + TILE);
            let source = |at: usize| match at.checked_sub(self.free) {
                Some(column) if column < columns => Source::Slice(&self.problem.columns[column][range.clone()]),
                _ => Source::Fill(&fills[at]),
            };
            self.rows.evaluate(range.len(), &mut registers, &source);
            let value = |result: usize| self.rows.value(result, range.len(), &registers, &source);
            take(&tile.tile(self.problem, &range, is_mended, value), start);
        }
    }

    /// The rows of a piece that are not finite; if only sums are, its first row.
    fn bad(&self, x: &[f64], piece: usize) -> Bad {
        let mut bad: Option<Bad> = None;
        self.piece(x, piece, true, |tile, start| {
            let places = tile.bad();
            if let Some(&first) = places.first() {
                let before = bad.unwrap_or(Bad { count: 0, first: start + first });
                bad = Some(Bad { count: before.count + places.len(), ..before });
            }
        });
        bad.unwrap_or(Bad { count: 1, first: piece * PIECE })
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
