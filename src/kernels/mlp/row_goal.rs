//! What a training step minimises, row by row.

use std::sync::Arc;

use super::pairs::rule::PairRule;
use crate::program::Curve;
use crate::program::slices::Registers;

/// What a row adds to the sum that a training step minimises.
#[derive(Clone, Debug, PartialEq)]
pub enum RowGoal {
    /// The mean over the outputs of a function of prediction and target.
    Pointwise(Arc<Curve>),
    /// Cross-entropy of logits against a class index, with label smoothing. Class weights come with the data; each multiplies the rows of its
    /// class, whatever the smoothing.
    CrossEntropy {
        /// Part of the target that is spread evenly over the classes, in [0, 1).
        smoothing: f32,
    },
    /// A sum over pairs (numerator, denominator) against target pairs.
    Pairs(PairRule),
}

impl RowGoal {
    /// Words of registers for its formula on the CPU.
    pub(super) fn register_words(&self) -> usize {
        if let Self::Pointwise(curve) = self { Registers::<f32>::words(&curve.sloped) } else { 0 }
    }

    pub(super) fn registers<'a>(&self, memory: &'a mut [f32]) -> Registers<'a, f32> {
        if let Self::Pointwise(curve) = self { Registers::new(&curve.sloped, memory) } else { Registers::none() }
    }
}
