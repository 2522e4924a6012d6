//! How the outputs of a model become predictions, by the loss that it was trained with.

use super::{Loss, Pointwise, Target, gaussian};

/// How the outputs of a row become its prediction, in the units of the loss's targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The output itself.
    Identity,
    /// A rate, e^p.
    Exp,
    /// The probability of each class against the rest, σ(p).
    Sigmoid,
    /// The probabilities of all classes, softmax.
    Softmax,
    /// A mean and a standard deviation, as [`gaussian`] says.
    Normal,
}

impl Loss {
    /// How outputs become predictions. Pairs of a projective head are decoded before: their values are predictions.
    pub fn link(&self) -> Link {
        match self {
            Self::Pointwise(loss) => loss.link(),
            Self::CrossEntropy { .. } | Self::KullbackLeibler => Link::Softmax,
            Self::Gaussian => Link::Normal,
            Self::Pairs(_) => Link::Identity,
        }
    }
}

impl Pointwise {
    /// How outputs become predictions.
    pub fn link(&self) -> Link {
        match self.target() {
            Target::Numbers => Link::Identity,
            Target::Counts => Link::Exp,
            Target::Classes | Target::Shares => Link::Sigmoid,
        }
    }
}

impl Link {
    /// The number that an output predicts; of a row for a mean and a deviation, the first one.
    pub fn number(self, output: f32) -> f64 {
        match self {
            Self::Exp => f64::from(output).exp(),
            Self::Identity | Self::Sigmoid | Self::Softmax | Self::Normal => f64::from(output),
        }
    }

    /// The standard deviation that a row of one target predicts, if the loss is about one.
    pub fn deviation(self, row: &[f32]) -> Option<f64> {
        (self == Self::Normal).then(|| gaussian::deviation(row[1]))
    }

    /// Appends the probability of every class to `all`, from a row's outputs.
    pub fn push_probabilities(self, row: &[f32], all: &mut Vec<f64>) {
        if self != Self::Softmax {
            return all.extend(row.iter().map(|&z| 1.0 / (1.0 + (-f64::from(z)).exp())));
        }
        let (start, most) = (all.len(), row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        all.extend(row.iter().map(|&z| f64::from(z - most).exp()));
        let mass: f64 = all[start..].iter().sum();
        all[start..].iter_mut().for_each(|p| *p /= mass);
    }
}
