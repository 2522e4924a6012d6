//! What both parts of a blend are to minimise: ½ (z - y)² of a number, or -ln softmax(z)[y] of a class.

use crate::loss::Loss;

/// The loss of a row, and how many outputs it takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal<'a> {
    Number,
    Classes { outputs: usize, weights: &'a [f32] },
}

impl<'a> Goal<'a> {
    /// The goal of a loss; `None` for one that no linear model is fitted by. `weights` has one per class, or is empty.
    pub(super) fn of(loss: &Loss, outputs: usize, weights: &'a [f32]) -> Option<Self> {
        if loss.is("cross-entropy") {
            return Some(Self::Classes { outputs, weights });
        }
        (loss.is("mse") && outputs == 1).then_some(Self::Number)
    }

    pub(super) fn outputs(&self) -> usize {
        if let Self::Classes { outputs, .. } = self { *outputs } else { 1 }
    }

    pub(super) fn is_numbers(&self) -> bool {
        matches!(self, Self::Number)
    }

    /// The mean squared error of numbers, by which losses are divided to be free of units; 1 for classes.
    pub(super) fn unit(&self, z: &[f64], y: &[f32]) -> f64 {
        let squares = || z.iter().zip(y).map(|(z, y)| (z - f64::from(*y)).powi(2)).sum::<f64>();
        let mean = if self.is_numbers() { squares() / y.len() as f64 } else { 1.0 };
        mean.max(f64::MIN_POSITIVE)
    }

    /// Replaces the outputs of a row by the derivatives of its loss, and returns the loss.
    pub(super) fn residuals(&self, z: &mut [f64], y: f32) -> f64 {
        let Self::Classes { weights, .. } = self else {
            z[0] -= f64::from(y);
            return 0.5 * z[0] * z[0];
        };
        let own = y as usize;
        let weight = weights.get(own).map_or(1.0, |weight| f64::from(*weight));
        let most = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mass: f64 = z.iter().map(|z| (z - most).exp()).sum();
        let loss = weight * (mass.ln() + most - z[own]);
        for z in z.iter_mut() {
            *z = weight * (*z - most).exp() / mass;
        }
        z[own] -= weight;
        loss
    }
}
