//! Share of the ⊥ targets that are predicted as ⊥.

use super::Metric;

pub(super) const METRIC: Metric = Metric {
    label: "⊥ found",
    doc: "Share of the ⊥ targets that are predicted as ⊥",
    of: |scored| scored.pairs()?.share(|pair| pair.yd == 0.0, |pair| pair.value.is_none()),
};
