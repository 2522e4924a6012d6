//! Times `factor` after `patience` epochs without improvement.

use super::kind::{Moment, NamedShape, ShapeKind, least};
use crate::error::Result;
use crate::host;
use crate::record;

/// Times `factor` after `patience` epochs without improvement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Epochs without improvement before a drop.
    pub patience: usize,
    /// Factor of a drop.
    pub factor: f64,
}

record! { Plateau { patience, factor } }

impl NamedShape for Plateau {
    const NAME: &str = "plateau";
    const DOC: &str = "Half after 5 epochs without improvement";

    fn standard(_epochs: usize) -> Self {
        Self { patience: 5, factor: 0.5 }
    }
}

impl ShapeKind for Plateau {
    fn check(&self) -> Result<()> {
        least("factor", self.factor, 0.0)
    }

    fn factor(&self, at: &Moment) -> f64 {
        host::pow(self.factor, f64::from(at.drops))
    }

    fn patience(&self) -> Option<usize> {
        Some(self.patience)
    }
}
