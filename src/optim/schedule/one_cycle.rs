//! Half a cosine up over the first `rise` of the updates, then one down (Smith and Topin 2018).

use super::kind::{Moment, NamedShape, ShapeKind, between, share};
use crate::error::Result;
use crate::record;

/// Half a cosine up over the first `rise` of the updates, then one down (Smith and Topin 2018).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneCycle {
    /// Share of the updates over which the rate rises.
    pub rise: f64,
    /// Factor at the start.
    pub first: f64,
    /// Factor at the end.
    pub last: f64,
}

record! { OneCycle { rise, first, last } }

impl NamedShape for OneCycle {
    const NAME: &str = "one-cycle";
    const DOC: &str = "Up from a 25th over three tenths of the updates, then down to nearly zero";

    fn standard(_epochs: usize) -> Self {
        Self { rise: 0.3, first: 0.04, last: 4e-6 }
    }
}

impl ShapeKind for OneCycle {
    fn check(&self) -> Result<()> {
        share("rise", self.rise)?;
        share("first", self.first)?;
        share("last", self.last)
    }

    fn factor(&self, at: &Moment) -> f64 {
        let last = at.last();
        let (update, top) = (at.update as f64, self.rise * (last + 1.0) - 1.0);
        // A rise of less than one update counts as no rise.
        if update <= top && top > 0.0 {
            between(self.first, 1.0, update / top)
        } else {
            between(1.0, self.last, (update - top) / (last - top))
        }
    }
}
