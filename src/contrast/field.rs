//! A complex field T on a grid, [N_x, N_y, D, D], that moves while windows run. The mean of |T| is the weight R of their distances. It moves on the device:
//! its state is part of that of the rule, and a window records its steps. Both phases of a window see the same path.

mod phases;
mod symplectic;

use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::model::{Initial, StateBlock};
use crate::ops;
use crate::program::expr::sqrt;
use crate::record;
use crate::tensor::Tensor;

pub use phases::{PhaseForm, Phases};
pub use symplectic::Symplectic;

/// Sites of an axis at most: the differences along it are a product with a matrix.
const LONGEST: usize = 1024;
/// Complex numbers of a field at most.
const MOST: usize = 1 << 24;

/// A field at its start, and how it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// N_x and N_y.
    pub grid: [usize; 2],
    /// D: a site holds a matrix of D x D complex numbers.
    pub width: usize,
    /// How it moves.
    pub dynamics: Dynamics,
    /// Seed of the first values, complex Gaussian numbers of variance 1.
    pub seed: u64,
}

record! { Field { grid, width, dynamics, seed } }

/// How a field moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dynamics {
    /// A wave with momentum, by velocity Verlet; beyond the grid the field is 0.
    Symplectic(Symplectic),
    /// A Schrödinger equation on a periodic grid, in steps that keep the sum of |T|².
    Phases(Phases),
}

record! { enum Dynamics { Symplectic(_), Phases(_) } }

impl Field {
    /// Errors if the grid is empty, a constant is out of range, or the steps are not stable.
    pub fn check(&self) -> Result<()> {
        let [x, y] = self.grid;
        if x == 0 || y == 0 || self.width == 0 {
            let width = self.width;
            return Err(Error::usage(format!(
                "field: got a grid of {x} x {y} with matrices of {width}, expected at least 1 of each"
            )));
        }
        let all = x.checked_mul(y).and_then(|sites| sites.checked_mul(self.width.checked_pow(2)?));
        if x.max(y) > LONGEST || all.is_none_or(|all| all > MOST) {
            let width = self.width;
            return Err(Error::usage(format!(
                "field: got a grid of {x} x {y} with matrices of {width}, expected at most {LONGEST} sites an axis and {MOST} numbers"
            )));
        }
        match &self.dynamics {
            Dynamics::Symplectic(symplectic) => symplectic.check(),
            Dynamics::Phases(phases) => phases.check(self.grid),
        }
    }

    /// Numbers of the field, real and imaginary.
    fn numbers(&self) -> usize {
        2 * self.grid[0] * self.grid[1] * self.width * self.width
    }

    /// Its blocks at the start, [2, N_x, N_y, D, D], real parts first: `field`, and of a wave `momentum` and `rest`, to which it is pulled.
    pub fn state(&self) -> Vec<StateBlock> {
        let count = self.numbers();
        let mut values = vec![0.0; count];
        Initial::normal([count], 0.5_f64.sqrt()).fill(&mut values, self.seed, 0);
        let block = |name: &str, values: Vec<f32>| StateBlock { name: name.to_owned(), values };
        match self.dynamics {
            Dynamics::Symplectic(_) => {
                vec![block("field", values.clone()), block("momentum", vec![0.0; count]), block("rest", values)]
            }
            Dynamics::Phases(_) => vec![block("field", values)],
        }
    }

    /// The blocks after so many steps. `each` sees the field before every step, in the shape of [`Field::mean_modulus`].
    pub(super) fn advanced(&self, blocks: &[Var], steps: usize, each: &mut dyn FnMut(&Var)) -> Vec<Var> {
        match &self.dynamics {
            Dynamics::Symplectic(symplectic) => symplectic.advanced(self, blocks, steps, each),
            Dynamics::Phases(phases) => vec![phases.advanced(self, &blocks[0], steps, each)],
        }
    }

    /// R: the mean of |T| over all entries, [1, 1].
    pub(super) fn mean_modulus(&self, field: &Var) -> Var {
        let half = self.numbers() / 2;
        let field = ops::reshape(field, [2, half]);
        let [real, imaginary] = [0, 1].map(|part| ops::slice(&field, 0, part..part + 1));
        ops::mean(&ops::fused(&[&real, &imaginary], |v| sqrt(v[0] * v[0] + v[1] * v[1])), 0..2)
    }
}

/// A matrix [rows, columns] of constants on the device of a value.
fn matrix(like: &Var, shape: [usize; 2], values: &[f64]) -> Var {
    let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
    Var::constant(Tensor::constant(like.value().device(), shape, &values))
}

/// Errors for a constant that is not above 0.
fn positive(name: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::usage(format!("field: {name}: got {value}, expected a finite number above 0")))
}
