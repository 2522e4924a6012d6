//! What a search sees of the rows: the sums at a point, or why there are none; and how sums over rows with derivatives by their own variables become
//! those over the free parameters.

use nalgebra::{DMatrix, DVector};

use super::tile::Tile;
use crate::error::{Error, Result as Outcome};
use crate::fit::rows::Problem;
use crate::host::number;

/// What a search minimises: it sees only sums.
pub(crate) trait Objective {
    /// The sums at the free parameters `x`.
    fn normal(&self, x: &[f64]) -> Result<Normal, Bad>;
}

/// The sums at one point.
#[derive(Clone, Debug)]
pub(crate) struct Normal {
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

impl Normal {
    pub(crate) fn zeros(free: usize) -> Self {
        let (gradient, hessian) = (DVector::zeros(free), DMatrix::zeros(free, free));
        Self { cost: 0.0, squares: 0.0, mended: 0, gradient, hessian }
    }

    /// Adds sums whose variables are at these places.
    pub(crate) fn add(&mut self, sums: &[f64], places: &[Option<usize>]) {
        let mut each = sums.iter().copied();
        for (i, row) in places.iter().enumerate() {
            for other in places[i..].iter().chain([&None]).zip(i..) {
                let sum = each.next().unwrap_or_default();
                match (row, other) {
                    (Some(row), (_, at)) if at == places.len() => self.gradient[*row] += sum,
                    (Some(row), (Some(other), at)) => {
                        self.hessian[(*row, *other)] += sum;
                        if at != i {
                            self.hessian[(*other, *row)] += sum;
                        }
                    }
                    _ => {}
                }
            }
        }
        self.squares += sums[sums.len() - 2];
        self.cost += sums[sums.len() - 1];
    }
}

/// The number of sums over rows with so many derivatives.
pub(crate) const fn size(variables: usize) -> usize {
    // The products but the residuals' own, then the squares and the cost.
    (variables + 1) * (variables + 2) / 2 + 1
}

/// Adds the sums over a tile.
pub(crate) fn add(sums: &mut [f64], tile: &Tile<'_>) {
    let (products, rest) = sums.split_at_mut(sums.len() - 2);
    tile.add_products(products);
    rest[0] += tile.squares;
    rest[1] += tile.cost;
}

/// A pass over some of the rows.
#[derive(Clone, Debug)]
pub(crate) struct Partial {
    pub x: Vec<f64>,
    /// Pieces of rows that are summed.
    pub pieces: usize,
    pub normal: Normal,
    /// The group of the last rows, with its sums, which are not in the normal sums yet.
    pub open: Option<(usize, Vec<f64>)>,
}

impl Partial {
    pub(crate) fn new(x: &[f64]) -> Self {
        Self { x: x.to_vec(), pieces: 0, normal: Normal::zeros(x.len()), open: None }
    }
}

/// Why there are no sums at a point.
#[derive(Clone, Debug)]
pub(crate) enum Bad {
    /// Rows where the model is not finite: how many there are in the piece with the first, and the given number of the first, from 0.
    Rows { count: usize, first: usize },
    /// The rows could not be read.
    Unread(Error),
}

impl From<Error> for Bad {
    fn from(error: Error) -> Self {
        Self::Unread(error)
    }
}

impl Bad {
    /// The error of a start without sums.
    pub(crate) fn explained(self, problem: &Problem<'_>) -> Error {
        let (count, first) = match self {
            Self::Rows { count, first } => (count, first),
            Self::Unread(error) => return error,
        };
        let at: Vec<String> = problem
            .formula
            .columns()
            .iter()
            .zip(problem.data.row(first))
            .map(|(name, value)| format!("{name} = {}", number(value)))
            .collect();
        let at = if at.is_empty() { String::new() } else { format!(" ({})", at.join(", ")) };
        let (row, more) =
            (first + 1, if count > 1 { format!(", nor in {} rows after it", count - 1) } else { String::new() });
        Error::new(format!(
            "fit: the model is not finite at the start in row {row}{at}{more}: expected a start at which it is, or no such rows"
        ))
    }
}

/// Errors that end a search rather than a step.
pub(crate) fn unread(bad: Bad) -> Outcome<()> {
    match bad {
        Bad::Rows { .. } => Ok(()),
        Bad::Unread(error) => Err(error),
    }
}

/// An error of the derivatives at a solution.
pub(crate) fn overflow(bad: Bad) -> Error {
    match bad {
        Bad::Unread(error) => error,
        Bad::Rows { .. } => {
            Error::new("fit: the derivatives at the solution are too large for their squares: scale the columns")
        }
    }
}
