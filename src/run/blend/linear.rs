//! A linear model of some inputs, z = W x + b: the least sum of the rows' losses + ½ |W|², as a ridge or a logistic regression.

use super::goal::Goal;
use crate::error::Result;
use crate::model::Examples;
use crate::train::minimise::{Lbfgs, lbfgs};

/// The most values, rows · inputs · outputs, that a linear model is fitted to: a second of one core. A network of more rows does without.
pub(super) const MOST_VALUES: usize = 1 << 24;

/// More precision than this is lost on a share.
const SEARCH: Lbfgs = Lbfgs { history: 10, iterations: 200, gradient_tolerance: 1e-6, rounding: 1e-14 };

/// Weights, and which inputs they are of.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    /// Inputs of a row.
    pub width: usize,
    /// The inputs that are used.
    pub inputs: Vec<usize>,
    /// [outputs, inputs + 1]; the last column is the bias.
    pub weights: Vec<f64>,
}

impl Linear {
    /// Fits it to rows of `width` inputs, of which it uses some.
    pub(super) async fn fit(rows: &Examples, width: usize, inputs: Vec<usize>, goal: &Goal<'_>) -> Result<Self> {
        let columns = inputs.len() + 1;
        let mut linear = Self { width, inputs, weights: vec![0.0; columns * goal.outputs()] };
        let x = linear.gather(&rows.x);
        let loss = async |weights: &[f64]| Ok(value_and_gradient(weights, &x, &rows.y, goal));
        linear.weights = lbfgs(&linear.weights, &SEARCH, loss).await?.x;
        Ok(linear)
    }

    /// Its outputs [rows, outputs].
    pub(super) fn outputs(&self, x: &[f32]) -> Vec<f64> {
        let columns = self.inputs.len() + 1;
        let x = self.gather(x);
        let row = |x| self.weights.chunks_exact(columns).map(move |weights| dot(weights, x));
        x.chunks_exact(columns).flat_map(row).collect()
    }

    /// The weights of an output, and its bias.
    pub(super) fn of_output(&self, output: usize) -> (&[f64], f64) {
        let columns = self.inputs.len() + 1;
        let own = &self.weights[output * columns..][..columns];
        (&own[..columns - 1], own[columns - 1])
    }

    /// The inputs that are used of every row, and a 1.
    fn gather(&self, x: &[f32]) -> Vec<f32> {
        let row = |row: &[f32]| self.inputs.iter().map(|at| row[*at]).chain([1.0]).collect::<Vec<_>>();
        x.chunks_exact(self.width).flat_map(row).collect()
    }
}

fn value_and_gradient(weights: &[f64], x: &[f32], y: &[f32], goal: &Goal<'_>) -> (f64, Vec<f64>) {
    let columns = weights.len() / goal.outputs();
    let mut gradient = weights.to_vec();
    // The bias is free.
    gradient.iter_mut().skip(columns - 1).step_by(columns).for_each(|bias| *bias = 0.0);
    let mut value = 0.5 * gradient.iter().map(|weight| weight * weight).sum::<f64>();
    let mut z = vec![0.0; goal.outputs()];
    for (x, y) in x.chunks_exact(columns).zip(y) {
        z.iter_mut().zip(weights.chunks_exact(columns)).for_each(|(z, weights)| *z = dot(weights, x));
        value += goal.residuals(&mut z, *y);
        for (residual, gradient) in z.iter().zip(gradient.chunks_exact_mut(columns)) {
            gradient.iter_mut().zip(x).for_each(|(slope, x)| *slope += residual * f64::from(*x));
        }
    }
    (value, gradient)
}

fn dot(weights: &[f64], x: &[f32]) -> f64 {
    weights.iter().zip(x).map(|(weight, x)| weight * f64::from(*x)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pollster::block_on;

    fn assert_near(got: f64, expected: f64, within: f64) {
        assert!((got - expected).abs() <= within, "got {got}, expected {expected}");
    }

    #[test]
    fn linear_models_are_ridge_and_logistic_regressions() {
        // Of the second input: w = Σ x y / (Σ x² + 1) = 6 / 3, and the bias is the mean.
        let rows = Examples { x: vec![9.0, 1.0, 9.0, -1.0], y: vec![8.0, 2.0] };
        let line = block_on(Linear::fit(&rows, 2, vec![1], &Goal::Number)).unwrap();
        let (weights, bias) = line.of_output(0);
        assert_near(weights[0], 2.0, 1e-5);
        assert_near(bias, 5.0, 1e-5);
        assert_near(line.outputs(&[100.0, 3.0])[0], 11.0, 1e-4);
        // Three of four rows have class 1: without inputs ln 3 between the biases.
        let rows = Examples { x: vec![0.0; 4], y: vec![1.0, 1.0, 0.0, 1.0] };
        let goal = Goal::Classes { outputs: 2, weights: &[] };
        let odds = block_on(Linear::fit(&rows, 1, vec![0], &goal)).unwrap();
        assert_near(odds.of_output(1).1 - odds.of_output(0).1, 3.0_f64.ln(), 1e-5);
    }
}
