//! Times `factor` every epoch.

use super::kind::{Moment, NamedShape, ShapeKind, least};
use crate::error::Result;
use crate::host;
use crate::record;

/// Times `factor` every epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponential {
    /// Factor of an epoch.
    pub factor: f64,
}

record! { Exponential { factor } }

impl NamedShape for Exponential {
    const NAME: &str = "exponential";
    const DOC: &str = "The same share less after each epoch, down to a hundredth";

    fn standard(epochs: usize) -> Self {
        Self { factor: host::pow(0.01, 1.0 / epochs as f64) }
    }
}

impl ShapeKind for Exponential {
    fn check(&self) -> Result<()> {
        least("factor", self.factor, 0.0)
    }

    fn factor(&self, at: &Moment) -> f64 {
        host::pow(self.factor, at.epoch() as f64)
    }
}
