//! Mean over the classes of the share of their rows whose class was predicted.

use super::{Classes, Metric};

pub(super) const METRIC: Metric = Metric {
    label: "balanced",
    doc: "Mean over the classes of the share of their rows whose class was predicted",
    of: |scored| {
        let present = || scored.classes().into_iter().flat_map(Classes::counts).filter(|count| count.own > 0.0);
        let count = present().count() as f64;
        (count > 0.0).then(|| present().map(|count| count.right / count.own).sum::<f64>() / count)
    },
};
