//! Adafactor (Shazeer and Stern 2018), as in torch.optim: of a matrix's squared gradients only the means R of the rows and C of the columns are kept, and
//! u = g / √(R C / mean R); of a vector's, all are. With w = t^-0.8, R += w (mean of g² - R), and C alike; then p *= 1 - lr wd and
//! p -= min(lr, 1/√t) max(ε₂, rms p) u / max(1, rms u / d). A tensor of more axes is several matrices, over its last two.

use super::{Method, Motion, Optimizer, State};
use crate::host;
use crate::kernels::fold::LINE;
use crate::program::Expr;
use crate::program::constants::{Constant, Values};
use crate::program::expr::{max, sqrt};

pub(super) static OPTIMIZER: Method = Method {
    name: "adafactor",
    doc: "Steps in proportion to the weights, with rows + columns words of state for a matrix (Shazeer and Stern 2018)",
    constants: &[
        Constant {
            name: "beta2_decay",
            doc: "The power of the step that is the weight of its squared gradients",
            default: -0.8,
            is_valid: |x| x.is_finite() && x < 0.0,
            expected: "a finite number below 0",
        },
        Constant::positive("epsilon", f32::EPSILON, "The least root of the second moment"),
        Constant::positive("least_rms", 1e-3, "The least root mean square of a parameter that steps are in proportion to"),
        Constant::positive("largest_rms", 1.0, "The largest root mean square of an update, before the rate"),
        Constant::at_least_zero("weight_decay", 0.0, "Weight decay"),
    ],
    rates: |constants, lr, step| {
        let step = step as f64;
        let weight = host::pow(step, constants.get("beta2_decay"));
        [lr, weight, lr.min(1.0 / step.sqrt()), 1.0 - lr * constants.get("weight_decay")]
    },
    update: |&State { g, m, v, a, .. }, _| [g, m, v, a],
    by_hand: None,
    motion: Motion::Factored,
    oracle: |&State { g, m, v, a, .. }, _| [g, m, v, a],
};

/// The formulas of an optimiser with [`Motion::Factored`].
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
