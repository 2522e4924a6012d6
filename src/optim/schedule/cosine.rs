//! (1 + cos(π e / E)) / 2 over E epochs (Loshchilov and Hutter 2017), down to `floor`.

use super::kind::{Moment, NamedShape, ShapeKind, between, share};
use crate::error::Result;
use crate::record;

/// (1 + cos(π e / E)) / 2 over E epochs (Loshchilov and Hutter 2017), down to `floor`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cosine {
    /// Smallest factor.
    pub floor: f64,
}

record! { Cosine { floor } }

impl NamedShape for Cosine {
    const NAME: &str = "cosine";
    const DOC: &str = "Half a cosine down to zero";

    fn standard(_epochs: usize) -> Self {
        Self { floor: 0.0 }
    }
}

impl ShapeKind for Cosine {
    fn check(&self) -> Result<()> {
        share("floor", self.floor)
    }

    fn factor(&self, at: &Moment) -> f64 {
        between(1.0, self.floor, at.share())
    }
}
