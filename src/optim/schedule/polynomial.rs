//! (1 - e / E)^power over E epochs, down to `floor`.

use super::kind::{Moment, NamedShape, ShapeKind, least, share};
use crate::error::Result;
use crate::host;
use crate::record;

/// (1 - e / E)^power over E epochs, down to `floor`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polynomial {
    /// 1 for a straight line.
    pub power: f64,
    /// Smallest factor.
    pub floor: f64,
}

record! { Polynomial { power, floor } }

impl NamedShape for Polynomial {
    const NAME: &str = "linear";
    const DOC: &str = "A straight line down to zero";

    fn standard(_epochs: usize) -> Self {
        Self { power: 1.0, floor: 0.0 }
    }
}

impl ShapeKind for Polynomial {
    fn check(&self) -> Result<()> {
        least("power", self.power, 0.0)?;
        share("floor", self.floor)
    }

    fn factor(&self, at: &Moment) -> f64 {
        self.floor + (1.0 - self.floor) * host::pow((1.0 - at.share()).max(0.0), self.power)
    }
}
