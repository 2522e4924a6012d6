//! Share of all values that are decoded in the gap near a pole.

use super::Metric;

pub(super) const METRIC: Metric = Metric {
    label: "gap",
    doc: "Share of all values that are decoded in the gap near a pole",
    of: |scored| scored.pairs()?.share(|_| true, |pair| matches!(pair.value, Some((_, true)))),
};
