//! Half a cosine down over `period` epochs, again and again, each `growth` times as long as the one before (Loshchilov and Hutter 2017).

use super::kind::{Moment, NamedShape, ShapeKind, between, least, share};
use crate::error::Result;
use crate::record;

/// Half a cosine down over `period` epochs, again and again, each `growth` times as long as the one before (Loshchilov and Hutter 2017).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Restarts {
    /// Epochs of the first cosine.
    pub period: usize,
    /// By how much each is longer than the one before: 1 or more.
    pub growth: f64,
    /// Smallest factor.
    pub floor: f64,
}

record! { Restarts { period, growth, floor } }

impl NamedShape for Restarts {
    const NAME: &str = "restarts";
    const DOC: &str = "Cosines down to zero over a seventh, two sevenths and four sevenths of the epochs";

    fn standard(epochs: usize) -> Self {
        Self { period: epochs.div_ceil(7), growth: 2.0, floor: 0.0 }
    }
}

impl ShapeKind for Restarts {
    fn check(&self) -> Result<()> {
        least("growth", self.growth, 1.0)?;
        share("floor", self.floor)
    }

    fn factor(&self, at: &Moment) -> f64 {
        let mut length = self.period.max(1) as f64;
        let mut since = at.update as f64 / at.updates.max(1) as f64;
        while since >= length {
            since -= length;
            length *= self.growth.max(1.0);
        }
        between(1.0, self.floor, since / length)
    }
}
