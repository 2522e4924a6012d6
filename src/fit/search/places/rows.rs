//! Rows on which terms are placed: what each coefficient multiplies there, and what the terms that are placed leave of the observed values.

use std::cell::RefCell;

use super::terms::Terms;
use crate::fit::rows::Problem;
use crate::program::Program;
use crate::program::slices::Registers;

/// Columns that are nearly a combination of others explain nothing more.
const DEPENDENT: f64 = 1e-9;

/// The rows of a problem in memory.
pub(crate) struct Rows {
    /// The formula's columns.
    pub columns: Vec<Vec<f64>>,
    /// Observed values less what has no coefficient, divided by sigma.
    y: Vec<f64>,
    /// 1 / sigma.
    weights: Option<Vec<f64>>,
    factors: Vec<Program>,
    /// Registers of the programs.
    memory: RefCell<Vec<f64>>,
}

impl Rows {
    /// All rows of a problem without levels; `None` if they cannot be read.
    pub(crate) fn of(problem: &Problem<'_>, terms: &Terms) -> Option<Self> {
        let read = problem.data.with(0..problem.data.rows(), |part| {
            let columns: Vec<Vec<f64>> = part.columns.iter().map(|column| column.to_vec()).collect();
            let weights = part.sigma.map(|sigma| sigma.iter().map(|sigma| sigma.recip()).collect::<Vec<f64>>());
            (columns, part.y.to_vec(), weights)
        });
        let (columns, mut y, weights) = read.ok()?;
        let zeros = vec![0.0; terms.rest.inputs - columns.len()];
        let inputs: Vec<&[f64]> = zeros.chunks(1).chain(columns.iter().map(Vec::as_slice)).collect();
        let rest = terms.rest.results(&inputs, y.len()).pop()?;
        y.iter_mut().zip(rest).for_each(|(y, rest)| *y -= if rest.is_finite() { rest } else { 0.0 });
        if let Some(weights) = &weights {
            y.iter_mut().zip(weights).for_each(|(y, weight)| *y *= weight);
        }
        let words = terms.factors.iter().map(Registers::<f64>::words).max().unwrap_or(0);
        Some(Self { columns, y, weights, factors: terms.factors.clone(), memory: RefCell::new(vec![0.0; words]) })
    }

    /// What a coefficient multiplies at values of the free parameters, divided by sigma.
    pub(crate) fn factor(&self, coefficient: usize, x: &[f64]) -> Vec<f64> {
        let program = &self.factors[coefficient];
        let inputs: Vec<&[f64]> = x.chunks(1).chain(self.columns.iter().map(Vec::as_slice)).collect();
        let mut memory = self.memory.borrow_mut();
        let mut values = vec![0.0; self.y.len()];
        program.run(&inputs, &mut Registers::new(program, &mut memory), &mut [&mut values]);
        if let Some(weights) = &self.weights {
            values.iter_mut().zip(weights).for_each(|(value, weight)| *value *= weight);
        }
        values
    }
}

/// Orthonormal columns, and what a combination of them leaves.
pub(crate) struct Basis {
    columns: Vec<Vec<f64>>,
    left: Vec<f64>,
}

impl Basis {
    pub(crate) fn of(rows: &Rows) -> Self {
        Self { columns: Vec::new(), left: rows.y.clone() }
    }

    /// ½ Σ r² of what is left.
    pub(crate) fn cost(&self) -> f64 {
        0.5 * dot(&self.left, &self.left)
    }

    /// Adds a column, unless it is a combination of those before or not finite.
    pub(crate) fn add(&mut self, column: Vec<f64>) {
        if let Some((column, _)) = self.apart(column) {
            let share = dot(&column, &self.left);
            subtract(&mut self.left, share, &column);
            self.columns.push(column);
        }
    }

    /// By how much one or two more columns lower the cost, and with which coefficients; `None` if they are combinations of others.
    pub(crate) fn gain(&self, columns: Vec<Vec<f64>>) -> Option<(f64, Vec<f64>)> {
        // r₁₁ of the first, then r₁₂ and r₂₂ of the second, and so on: the triangle of their QR decomposition.
        let mut own: Vec<Vec<f64>> = Vec::new();
        let mut triangle: Vec<Vec<f64>> = Vec::new();
        for column in columns {
            let (mut column, length) = self.apart(column)?;
            let shares: Vec<f64> = own.iter().map(|other| dot(other, &column)).collect();
            own.iter().zip(&shares).for_each(|(other, share)| subtract(&mut column, *share, other));
            let rest = dot(&column, &column).sqrt();
            if rest < DEPENDENT {
                return None;
            }
            divide(&mut column, rest);
            triangle.push(shares.iter().chain([&rest]).map(|share| share * length).collect());
            own.push(column);
        }
        let shares: Vec<f64> = own.iter().map(|column| dot(column, &self.left)).collect();
        let mut values = shares.clone();
        for at in (0..own.len()).rev() {
            values[at] /= triangle[at][at];
            for before in 0..at {
                values[before] -= triangle[at][before] * values[at];
            }
        }
        let gain = 0.5 * dot(&shares, &shares);
        (gain.is_finite() && values.iter().all(|value| value.is_finite())).then_some((gain, values))
    }

    /// The part of a column that is no combination of the others, with length 1, and its length.
    fn apart(&self, mut column: Vec<f64>) -> Option<(Vec<f64>, f64)> {
        let whole = dot(&column, &column).sqrt();
        if !(whole.is_finite() && whole > 0.0) {
            return None;
        }
        // Twice: the first time leaves rounding errors.
        for _ in 0..2 {
            for other in &self.columns {
                let share = dot(other, &column);
                subtract(&mut column, share, other);
            }
        }
        let length = dot(&column, &column).sqrt();
        if length < DEPENDENT * whole {
            return None;
        }
        divide(&mut column, length);
        Some((column, length))
    }

    /// For each row, the share of what is left up to it.
    pub(crate) fn shares(&self) -> Vec<f64> {
        let total = 2.0 * self.cost();
        let mut sum = 0.0;
        let add = |left: &f64| {
            sum += left * left / total;
            sum
        };
        self.left.iter().map(add).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (mut heads, mut others) = (a.chunks_exact(8), b.chunks_exact(8));
    for (a, b) in heads.by_ref().zip(others.by_ref()) {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(lane, (a, b))| *lane += a * b);
    }
    let rest: f64 = heads.remainder().iter().zip(others.remainder()).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + rest
}

fn divide(column: &mut [f64], length: f64) {
    for value in column {
        *value /= length;
    }
}

/// Subtracts a multiple of another column.
fn subtract(column: &mut [f64], share: f64, other: &[f64]) {
    column.iter_mut().zip(other).for_each(|(value, other)| *value -= share * other);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_lowers_the_cost_by_what_it_explains() {
        // y = 1 + 2 x - 3 x², with 1 placed: the other columns give 2 and -3, and nothing is left.
        let x: Vec<f64> = (0..9).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x - 3.0 * x * x).collect();
        let mut basis = Basis { columns: Vec::new(), left: y };
        basis.add(vec![1.0; 9]);
        let squares: Vec<f64> = x.iter().map(|x| x * x).collect();
        let (gain, values) = basis.gain(vec![x.clone(), squares]).unwrap();
        assert!((values[0] - 2.0).abs() < 1e-10 && (values[1] + 3.0).abs() < 1e-10, "{values:?}");
        assert!((gain / basis.cost() - 1.0).abs() < 1e-12);
        assert!(basis.gain(vec![vec![2.0; 9]]).is_none(), "a multiple of a column that is placed");
        assert!(basis.gain(vec![vec![f64::NAN; 9]]).is_none());
    }
}
