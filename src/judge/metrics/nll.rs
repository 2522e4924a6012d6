//! Mean of -ln of the predicted normal density at the targets, whose unit is that of the target.

use std::f64::consts::TAU;

use super::{Metric, Predicted};

pub(super) const METRIC: Metric = Metric {
    label: "nll",
    doc: "Mean of -ln of the predicted normal density at the targets, whose unit is that of the target",
    of: |scored| match &scored.predicted {
        // The loss leaves out a constant, and is in standard deviations of the target.
        Predicted::Numbers(numbers) if numbers.has_deviation => Some(scored.loss + scored.scale.ln() + 0.5 * TAU.ln()),
        _ => None,
    },
};
