//! Mean over the classes of F1, the harmonic mean of precision and recall.

use super::{Classes, Metric};

pub(super) const METRIC: Metric = Metric {
    label: "F1",
    doc: "Mean over the classes of F1, the harmonic mean of precision and recall",
    of: |scored| {
        // As scikit-learn's macro average, also over classes that were only predicted.
        let named =
            || scored.classes().into_iter().flat_map(Classes::counts).filter(|count| count.own + count.said > 0.0);
        let count = named().count() as f64;
        (count > 0.0).then(|| named().map(|count| 2.0 * count.right / (count.own + count.said)).sum::<f64>() / count)
    },
};
