//! How the outputs of a model become predictions, by the loss that it was trained with.

use std::fmt;

use super::mean;
use crate::autograd::Var;

/// How the outputs of a row become its prediction, in the units of the loss's targets.
#[derive(Clone, Copy)]
pub struct Link {
    /// Number of outputs that predict so many values (numbers, or classes).
    pub outputs: fn(usize) -> usize,
    /// Number of values that so many outputs predict.
    pub values: fn(usize) -> usize,
    /// The number that an output predicts; of outputs for a mean and a deviation, the mean's.
    pub number: fn(f32) -> f64,
    /// The standard deviation that a second output predicts, if predictions have one.
    pub deviation: Option<fn(f32) -> f64>,
    /// Appends the probability of every class, from a row's outputs; `None` if they predict numbers.
    pub probabilities: Option<PushProbabilities>,
    /// The class that a row's outputs predict.
    pub class: fn(&[f32]) -> usize,
    /// Outputs whose predictions are these: one number, or the probability of every class.
    pub inverse: fn(&[f64]) -> Vec<f32>,
    /// The outputs whose predictions are the mean of those of several models, each [rows, outputs].
    pub mean: fn(&[Var]) -> Var,
    /// Whether training starts from the mean of the targets, because the optimiser's steps would be long in reaching it. The last bias does not decay then.
    pub starts_at_mean: bool,
    /// What an exported model computes from the outputs [rows, outputs].
    pub exported: &'static [Exported],
    /// What an exported output is, in words.
    pub doc: &'static str,
}

/// Appends the probability of every class, from a row's outputs.
pub type PushProbabilities = fn(&[f32], &mut Vec<f64>);

/// An output of an exported model: its name, and its ops; the model's own outputs if absent.
pub type Exported = (&'static str, Option<fn(&Var) -> Var>);

impl Link {
    /// The output itself.
    pub const IDENTITY: Self = Self {
        outputs: |values| values,
        values: |outputs| outputs,
        number: |z| f64::from(z),
        deviation: None,
        probabilities: None,
        class: crate::math::largest,
        inverse: |values| values.iter().map(|value| *value as f32).collect(),
        mean: mean::of_numbers,
        starts_at_mean: false,
        exported: &[("output", None)],
        doc: "value = mean + scale * output",
    };

    /// A rate or an amount, e^p.
    pub const LOG: Self = Self {
        number: |z| f64::from(z).exp(),
        inverse: |values| values.iter().map(|value| value.max(f64::from(f32::MIN_POSITIVE)).ln() as f32).collect(),
        mean: mean::of_logarithms,
        starts_at_mean: true,
        exported: &[("output", Some(crate::ops::exp))],
        doc: "value = output",
        ..Self::IDENTITY
    };

    /// The probability of each class against the rest, σ(p).
    pub const SIGMOID: Self = Self {
        probabilities: Some(|row, all| all.extend(row.iter().map(|&z| 1.0 / (1.0 + (-f64::from(z)).exp())))),
        inverse: |shares| shares.iter().map(|share| ((share / (1.0 - share)).ln() as f32).clamp(-30.0, 30.0)).collect(),
        mean: mean::of_logits,
        doc: SCORES,
        ..Self::IDENTITY
    };

    /// The probabilities of all classes, softmax.
    pub const SOFTMAX: Self = Self {
        probabilities: Some(softmax),
        inverse: Self::LOG.inverse,
        mean: |models| mean::of_logarithms(&models.iter().map(crate::ops::log_softmax).collect::<Vec<_>>()),
        doc: SCORES,
        ..Self::IDENTITY
    };

    /// Appends the probability of every class; nothing if the outputs predict numbers.
    pub fn push_probabilities(&self, row: &[f32], all: &mut Vec<f64>) {
        if let Some(probabilities) = self.probabilities {
            probabilities(row, all);
        }
    }

    /// The probability of every class, [rows, classes], from outputs `z` [rows, outputs].
    pub fn each_probability(&self, z: &[f32], outputs: usize) -> Vec<f64> {
        let mut all = Vec::with_capacity(z.len());
        z.chunks_exact(outputs).for_each(|row| self.push_probabilities(row, &mut all));
        all
    }

    /// The number that a row's outputs predict.
    pub fn number(&self, output: f32) -> f64 {
        (self.number)(output)
    }
}

const SCORES: &str = "one score per level; the largest wins";

fn softmax(row: &[f32], all: &mut Vec<f64>) {
    let (start, most) = (all.len(), row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    all.extend(row.iter().map(|&z| f64::from(z - most).exp()));
    let mass: f64 = all[start..].iter().sum();
    all[start..].iter_mut().for_each(|p| *p /= mass);
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({})", self.doc)
    }
}
