//! 1 / √(1 + e / period), which falls without an end (after Vaswani et al. 2017).

use super::kind::{Moment, NamedShape, ShapeKind, wrong};
use crate::error::Result;
use crate::record;

/// 1 / √(1 + e / period) after e epochs, at every update: it does not depend on when the run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseRoot {
    /// Epochs after which it is 1/√2.
    pub period: f64,
}

record! { InverseRoot { period } }

impl NamedShape for InverseRoot {
    const NAME: &str = "inverse-root";
    const DOC: &str = "1 / √ of the epochs, down to a quarter";

    fn standard(epochs: usize) -> Self {
        Self { period: epochs as f64 / 15.0 }
    }
}

impl ShapeKind for InverseRoot {
    fn check(&self) -> Result<()> {
        let is_fine = self.period.is_finite() && self.period > 0.0;
        if is_fine { Ok(()) } else { Err(wrong("period", self.period, "a finite number above 0")) }
    }

    fn factor(&self, at: &Moment) -> f64 {
        let epochs = at.update as f64 / at.updates.max(1) as f64;
        1.0 / (1.0 + epochs / self.period).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_falls_as_the_root_of_the_epochs() {
        let factor = |update| InverseRoot::standard(30).factor(&Moment { update, updates: 4, epochs: 30, drops: 0 });
        // A period of 2 epochs: 1 at the start, 1/√2 after 2 epochs, 1/2 after 6, 1/4 after all 30.
        for (update, expected) in [(0, 1.0), (8, 0.5_f64.sqrt()), (24, 0.5), (120, 0.25)] {
            assert!((factor(update) - expected).abs() < 1e-12, "{update}: {}", factor(update));
        }
        let error = InverseRoot { period: -1.0 }.check().unwrap_err().to_string();
        assert_eq!(error, "schedule: period: got -1, expected a finite number above 0");
    }
}
