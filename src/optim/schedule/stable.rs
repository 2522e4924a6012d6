//! 1, and over the last `decay` of the updates 1 - √x down to 0 (Hägele et al. 2024): with a warm-up, the schedule warm-up–stable–decay.

use super::kind::{Moment, NamedShape, ShapeKind, share};
use crate::error::Result;
use crate::record;

/// 1, and over the last `decay` of the updates 1 - √x down to 0 (Hägele et al. 2024): with a warm-up, the schedule warm-up–stable–decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stable {
    /// Share of the updates over which the rate falls.
    pub decay: f64,
}

record! { Stable { decay } }

impl NamedShape for Stable {
    const NAME: &str = "stable";
    const DOC: &str = "No change, but down to zero over the last fifth of the updates";

    fn standard(_epochs: usize) -> Self {
        Self { decay: 0.2 }
    }
}

impl ShapeKind for Stable {
    fn check(&self) -> Result<()> {
        share("decay", self.decay)
    }

    fn factor(&self, at: &Moment) -> f64 {
        let gone = (at.update as f64 / (at.last() + 1.0) - (1.0 - self.decay)) / self.decay.max(f64::MIN_POSITIVE);
        if gone > 0.0 { 1.0 - gone.min(1.0).sqrt() } else { 1.0 }
    }
}
