//! Times `factor` every `every` epochs.

use super::kind::{Moment, NamedShape, ShapeKind, least};
use crate::error::Result;
use crate::host;
use crate::record;

/// Times `factor` every `every` epochs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Epochs between drops.
    pub every: usize,
    /// Factor of a drop.
    pub factor: f64,
}

record! { Step { every, factor } }

impl NamedShape for Step {
    const NAME: &str = "step";
    const DOC: &str = "A tenth after each third of the epochs";

    fn standard(epochs: usize) -> Self {
        Self { every: epochs.div_ceil(3), factor: 0.1 }
    }
}

impl ShapeKind for Step {
    fn check(&self) -> Result<()> {
        least("factor", self.factor, 0.0)
    }

    fn factor(&self, at: &Moment) -> f64 {
        host::pow(self.factor, (at.epoch() / self.every.max(1) as u64) as f64)
    }
}
