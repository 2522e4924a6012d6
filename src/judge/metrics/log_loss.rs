//! Mean of -ln p of the rows' own classes.

use super::Metric;

pub(super) const METRIC: Metric = Metric {
    label: "log loss",
    doc: "Mean of -ln p of the rows' own classes",
    of: |scored| {
        let classes = scored.classes()?;
        // A probability of 0 would make the loss infinite (as scikit-learn's log_loss clips).
        let own = |(p, own): (&[f64], usize)| p[own].max(f64::from(f32::EPSILON)).ln();
        Some(-classes.each().map(own).sum::<f64>() / classes.rows())
    },
};
