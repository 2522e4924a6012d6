//! Predictions with what they are compared with, as metrics take them.

use std::cell::OnceCell;

use crate::math::largest;

/// Predictions of some rows and their targets.
pub struct Scored<'a> {
    /// Number of rows.
    pub rows: usize,
    /// Mean loss, in the loss's units.
    pub loss: f64,
    /// Factor from the loss's units to those of the target.
    pub scale: f64,
    /// The predictions.
    pub predicted: Predicted<'a>,
}

/// Predictions by their kind.
pub enum Predicted<'a> {
    /// Numbers.
    Numbers(Numbers),
    /// Probabilities of classes.
    Classes(Classes<'a>),
    /// Shares of classes.
    Shares(Shares<'a>),
    /// Pairs of a projective head.
    Pairs(Pairs),
}

/// Predicted numbers.
pub struct Numbers {
    /// Each prediction and its target, in the loss's units.
    pub pairs: Vec<[f64; 2]>,
    /// Whether each has a standard deviation.
    pub has_deviation: bool,
}

/// Predicted probabilities of classes.
pub struct Classes<'a> {
    probabilities: &'a [f64],
    /// The class index of each row.
    pub own: &'a [f32],
    /// Number of classes.
    pub count: usize,
    counts: OnceCell<Vec<ClassCount>>,
}

/// Rows of a class.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassCount {
    /// Rows of the class.
    pub own: f64,
    /// Rows that are predicted as it.
    pub said: f64,
    /// Rows of the class that are predicted as it.
    pub right: f64,
}

/// Predicted shares of classes.
pub struct Shares<'a> {
    /// [rows, classes].
    pub shares: &'a [f64],
    /// The targets, [rows, classes].
    pub targets: &'a [f32],
    /// Number of classes.
    pub classes: usize,
}

/// Predicted pairs of a projective head.
pub struct Pairs {
    /// Each pair and its target.
    pub all: Vec<Pair>,
    /// The decoded value and the target of each pair that has both, in the loss's units.
    pub numbers: Vec<[f64; 2]>,
}

/// A predicted pair (P, Q) and its target.
pub struct Pair {
    /// P.
    pub p: f64,
    /// Q.
    pub q: f64,
    /// Numerator of the target.
    pub yn: f64,
    /// Denominator of the target, 0 for ⊥.
    pub yd: f64,
    /// The decoded value and whether it is near a pole; `None` for ⊥.
    pub value: Option<(f64, bool)>,
}

impl Scored<'_> {
    /// Predicted numbers and their targets, in the loss's units; of pairs the decoded values.
    pub fn numbers(&self) -> Option<&[[f64; 2]]> {
        match &self.predicted {
            Predicted::Numbers(numbers) => Some(&numbers.pairs),
            Predicted::Pairs(pairs) => Some(&pairs.numbers),
            Predicted::Classes(_) | Predicted::Shares(_) => None,
        }
    }

    /// Probabilities of classes.
    pub fn classes(&self) -> Option<&Classes<'_>> {
        if let Predicted::Classes(classes) = &self.predicted { Some(classes) } else { None }
    }

    /// Pairs of a projective head.
    pub fn pairs(&self) -> Option<&Pairs> {
        if let Predicted::Pairs(pairs) = &self.predicted { Some(pairs) } else { None }
    }
}

impl<'a> Classes<'a> {
    /// Of probabilities [rows, classes], which need not sum to 1, and class indices [rows], at least one.
    pub fn new(probabilities: &'a [f64], own: &'a [f32], count: usize) -> Self {
        Self { probabilities, own, count, counts: OnceCell::new() }
    }

    /// Number of rows.
    pub fn rows(&self) -> f64 {
        self.own.len() as f64
    }

    /// The probabilities and the class of each row.
    pub fn each(&self) -> impl Iterator<Item = (&[f64], usize)> {
        self.probabilities.chunks_exact(self.count).zip(self.own.iter().map(|own| *own as usize))
    }

    /// The rows of each class.
    pub fn counts(&self) -> &[ClassCount] {
        self.counts.get_or_init(|| {
            let mut counts = vec![ClassCount::default(); self.count];
            for (p, own) in self.each() {
                let said = largest(p);
                counts[own].own += 1.0;
                counts[said].said += 1.0;
                counts[own].right += f64::from(u8::from(said == own));
            }
            counts
        })
    }
}

impl Shares<'_> {
    /// The mean distance of a share from its target.
    pub fn distance(&self) -> f64 {
        let apart = self.shares.iter().zip(self.targets).map(|(share, y)| (share - f64::from(*y)).abs());
        apart.sum::<f64>() / self.targets.len() as f64
    }

    /// The share of rows whose largest share is predicted as the largest.
    pub fn right(&self) -> f64 {
        let rows = self.shares.chunks_exact(self.classes).zip(self.targets.chunks_exact(self.classes));
        let right = rows.filter(|(shares, targets)| largest(shares) == largest(targets)).count();
        right as f64 / (self.targets.len() / self.classes) as f64
    }
}

impl Pairs {
    /// The share of the pairs that `is_counted` for which `is_so`; `None` if none is counted.
    pub fn share(&self, is_counted: fn(&Pair) -> bool, is_so: fn(&Pair) -> bool) -> Option<f64> {
        let counted = || self.all.iter().filter(|pair| is_counted(pair));
        let count = counted().count();
        (count > 0).then(|| counted().filter(|pair| is_so(pair)).count() as f64 / count as f64)
    }
}

/// The mean of a function of predictions and targets; `None` without any.
pub(super) fn mean_of(pairs: &[[f64; 2]], of: impl Fn(&[f64; 2]) -> f64) -> Option<f64> {
    (!pairs.is_empty()).then(|| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64)
}
