//! Share of values of a model with poles that are decoded to a number; the errors are over these.

use super::Metric;

pub(super) const METRIC: Metric = Metric {
    label: "coverage",
    doc: "Share of values of a model with poles that are decoded to a number; the errors are over these",
    of: |scored| scored.pairs()?.share(|_| true, |pair| pair.value.is_some()),
};
