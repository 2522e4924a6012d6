//! What Adafactor keeps and the update that follows from it; `adafactor.rs` has the formulas' source.

use super::Optimizer;
use crate::kernels::fold::LINE;
use crate::program::Expr;
use crate::program::constants::Values;
use crate::program::expr::{max, sqrt};

/// The formulas of an optimiser with [`Motion::Factored`](super::Motion).
pub struct Adafactor {
    constants: Values,
}

impl Adafactor {
    /// With the constants of an optimiser.
    pub fn of(optimizer: &Optimizer) -> Self {
        Self { constants: optimizer.constants.clone() }
    }

    /// Words of the state of a parameter of these sizes, those of rows and of columns or, for a vector, all together; each begins where it can be bound.
    pub fn words(sizes: &[usize]) -> [usize; 2] {
        let padded = |words: usize| words.next_multiple_of(LINE);
        match *sizes {
            [ref batch @ .., rows, columns] => {
                let batch: usize = batch.iter().product();
                [padded(batch * rows), padded(batch * columns)]
            }
            _ => [padded(sizes.iter().product()), 0],
        }
    }

    /// A value of the update of a matrix: from its gradient, the squares of its row and of its column, and the mean of those of all rows.
    pub fn of_matrix(&self, g: Expr, row: Expr, column: Expr, mean: Expr) -> Expr {
        self.of_vector(g, row / max(mean, self.constants.get("epsilon")) * column)
    }

    /// A value of the update of a vector: from its gradient and its squares.
    pub fn of_vector(&self, g: Expr, square: Expr) -> Expr {
        let epsilon = self.constants.get("epsilon");
        g / sqrt(max(square, epsilon * epsilon))
    }

    /// The factor of an update from the means of squares of the parameter and of the update.
    pub fn factor(&self, parameter: Expr, update: Expr) -> Expr {
        let [least, largest] = ["least_rms", "largest_rms"].map(|name| self.constants.get(name));
        max(sqrt(parameter), least) / max(sqrt(update) / largest, 1.0)
    }
}
