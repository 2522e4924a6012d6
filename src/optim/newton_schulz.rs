//! How directions of matrices are made orthogonal, by Newton–Schulz steps; `muon.rs` has their source.

use super::Optimizer;
use crate::program::Expr;
use crate::program::constants::Values;
use crate::program::expr::{max, sqrt};

/// Coefficients of a Newton–Schulz step: steepest at 0 such that singular values end between 0.7 and 1.2 (Jordan et al. 2024).
const STEP: [f64; 3] = [3.4445, -4.7750, 2.0315];

/// How directions are made orthogonal.
pub struct NewtonSchulz {
    constants: Values,
}

impl NewtonSchulz {
    /// As an optimiser with [`Motion::Orthogonal`](super::Motion) does it.
    pub fn of(optimizer: &Optimizer) -> Self {
        Self { constants: optimizer.constants.clone() }
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.constants.get("newton_schulz_steps") as usize
    }

    /// A value of the first X, from a value of the direction and the direction's sum of squares.
    pub fn first(&self, value: Expr, squares: Expr) -> Expr {
        let least = self.constants.get("newton_schulz_epsilon");
        value / max(sqrt(squares), least)
    }

    /// A value of b G + c G², from values of G = X Xᵀ and of G².
    pub fn polynomial(gram: Expr, square: Expr) -> Expr {
        STEP[1] * gram + STEP[2] * square
    }

    /// A value of the next X, from a value of X and one of the product of the polynomial and X.
    pub fn next(value: Expr, product: Expr) -> Expr {
        STEP[0] * value + product
    }

    /// The factor of an orthogonal direction of this many rows and columns.
    pub fn scale(&self, rows: usize, columns: usize) -> f64 {
        let [rows, columns] = [rows, columns].map(|size| size as f64);
        if self.constants.get("match_rms") == 1.0 {
            0.2 * rows.max(columns).sqrt()
        } else {
            (rows / columns).max(1.0).sqrt()
        }
    }
}
